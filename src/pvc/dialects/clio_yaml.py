"""The front matter of a fragment: a strict, small YAML. Pure.

Rule 1: scalars are those of YAML 1.2's core schema, whatever the library's own version thinks:
`yes` and a date are texts, `0x1` and `1.0` are numbers.
Rule 2: a repeated key is refused, and so are aliases, anchors and tags. Front matter needs none of
them, and each of them makes two readers see two things.
Rule 3: nearly every front matter is lines of a key and a word, a number or a quoted text in ASCII.
Those are read here, and mean the same to the library, which a launch without a cache then need not
load.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

Value = dict[str, "Value"] | list["Value"] | str | int | float | bool | None

_NULLS = ("", "~", "null", "Null", "NULL")
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o([0-7]+)|0x([0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = {".inf": math.inf, ".Inf": math.inf, ".INF": math.inf}
_SPECIAL |= {f"{sign}{word}": math.inf for sign in "+" for word in (".inf", ".Inf", ".INF")}
_SPECIAL |= {f"-{word}": -math.inf for word in (".inf", ".Inf", ".INF")}
_SPECIAL |= {".nan": math.nan, ".NaN": math.nan, ".NAN": math.nan}
_LINE = re.compile(
    r"(?P<key>[A-Za-z][A-Za-z0-9_-]{0,63}): "
    r'(?:"(?P<quoted>[ !#-\[\]-~]*)"'  # neither a quote nor an escape in it
    r"|(?P<bare>[A-Za-z0-9](?:[A-Za-z0-9 ,.;!?()/_-]*[A-Za-z0-9.!?)])?))"
)
_MAX_DEPTH = 20
_LONGEST_INT = 300  # beyond the largest float, and no version


class YamlError(Exception):
    """Not the YAML of a front matter; `line` counts from 1 within it, 0 when nobody knows."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def parse_yaml(text: str) -> Value:
    """Read one document. Raises `YamlError` when it is none, or uses what rule 2 refuses."""
    return plain_lines(text) or whole_document(text)


def plain_lines(text: str) -> dict[str, Value]:
    """Read the plainest form of front matter; empty for anything else."""
    found: dict[str, Value] = {}
    for line in text.removesuffix("\n").split("\n"):
        match = _LINE.fullmatch(line)
        if match is None or match["key"] in found:
            return {}
        quoted = match["quoted"]
        found[match["key"]] = _scalar(match["bare"], quoted=False) if quoted is None else quoted
    return found


def whole_document(text: str) -> Value:
    """Read any document, with the library."""
    from yaml import MarkedYAMLError
    from yaml import YAMLError as AnyYamlError
    from yaml.reader import ReaderError

    try:
        loader = _loader()(text)
        node = loader.get_single_node()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or str(error), mark.line + 1 if mark else 0) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 0
        raise YamlError("a character that YAML does not allow", line) from None
    except AnyYamlError as error:
        raise YamlError(str(error)) from None
    except RecursionError:
        raise YamlError("nested too deep") from None
    return None if node is None else _value(node, 0)


@cache
def _loader() -> type[SafeLoader]:
    """Make the loader once; the library is imported by the first fragment that is read."""
    from yaml import SafeLoader
    from yaml.events import AliasEvent, NodeEvent

    class Strict(SafeLoader):
        """Composes nodes and refuses what rule 2 refuses, where it stands."""

        yaml_implicit_resolvers = {}  # noqa: RUF012 - the library's own name and shape

        def compose_node(self, parent: Node | None, index: int) -> Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]  # its stubs have no types
            line = event.start_mark.line + 1
            if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
                raise YamlError("anchors and aliases are not read here", line)
            if isinstance(event, NodeEvent) and getattr(event, "tag", None):
                raise YamlError("tags are not read here", line)
            return super().compose_node(parent, index)

    return Strict


def _value(node: Node, depth: int) -> Value:
    from yaml import MappingNode, ScalarNode

    if depth > _MAX_DEPTH:
        raise YamlError("nested too deep", node.start_mark.line + 1)
    if isinstance(node, MappingNode):
        return _mapping(node.value, depth)
    if isinstance(node, ScalarNode):
        return _scalar(node.value, quoted=node.style is not None)
    return [_value(item, depth + 1) for item in node.value]


def _mapping(pairs: list[tuple[Node, Node]], depth: int) -> Value:
    found: dict[str, Value] = {}
    for key, value in pairs:
        if not isinstance(key.value, str):
            raise YamlError("a key is a scalar", key.start_mark.line + 1)
        if key.value in found:
            raise YamlError(f"the key `{key.value}` stands twice", key.start_mark.line + 1)
        found[key.value] = _value(value, depth + 1)
    return found


def _scalar(text: str, *, quoted: bool) -> Value:
    """Resolve a scalar; a quoted or block one is a text whatever it says."""
    if quoted:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) < _LONGEST_INT else float(text)
    if other := _OTHER_BASE.fullmatch(text):
        return int(other[1], 8) if other[1] else int(other[2], 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    return _SPECIAL.get(text, text)
