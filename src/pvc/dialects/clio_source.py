"""The grammar of one Clio fragment: front matter, then the body. Pure.

    ---                            nothing may stand before it, not even a byte order mark
    id: operating.contract         two or more dotted parts of a-z 0-9 -
    version: 1                     the number
    description: One line.         a text that is not blank
    dynamic: false                 absent or a truth value
    ---
    The body, byte for byte, to the end of the file.

Rule 1: a fence is `---` and a line end at once, LF or CRLF; a space after it makes it none. The
first line that begins with `---` behind the front matter closes it, and text glued to it is body.
Rule 2: a file is decoded as UTF-8, and a byte that is none becomes U+FFFD, in the body and in the
digest. Those characters are in no file, so they get an origin of their own.
Rule 3: keys are checked in the order above and other keys are ignored; the first fault is reported
with the file's path. A fault in one fragment refuses the whole table.
Rule 4: files are taken in the root collation of their paths, so that of two fragments with one id
the same one is named first on every machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pvc.dialects.clio_js import collation_key
from pvc.dialects.clio_json import digest
from pvc.dialects.clio_yaml import YamlError, parse_yaml
from pvc.errors import DecodeError
from pvc.model.javascript import trim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.dialects.clio_yaml import Value
    from pvc.model.source import Source

SUFFIX = ".md"
BOUNDARY = "fragment-loader"
FRONT_MATTER = re.compile(rb"---\r?\n(.*?)\r?\n---\r?\n?", re.DOTALL)
FRAGMENT_ID = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")

_KEPT = 1024

FAULTS = {
    "frontmatter-missing": "missing or malformed YAML frontmatter",
    "frontmatter-not-object": "the frontmatter is no mapping",
    "id": "`id` is two or more parts of a-z 0-9 - with dots between them",
    "version": "`version` is the number 1",
    "description": "`description` is a text that is not blank",
    "dynamic": "`dynamic` is true or false, or absent",
}


NOT_A_FRAGMENT = (
    'if it is not a fragment, leave it out: files = ["identity/**/*.md", ...], or --files'
)


class FragmentError(DecodeError):
    """A fault in a fragment.

    `error_code` names the fault, `path` the file, and `report` is the line that Clio's own loader
    would give where that line is part of its contract.
    """

    def __init__(self, code: str, path: str, message: str = "", line: int = 0) -> None:
        self.error_code = code
        self.path = path
        self.report = f"{BOUNDARY}: {path}: {message or FAULTS[code]}"
        super().__init__(
            message or FAULTS[code],
            at=f"{path}:{line}" if line else path,
            hint=NOT_A_FRAGMENT,
        )

    @classmethod
    def duplicate(cls, name: str, first: str, second: str) -> FragmentError:
        """Say that an id stands in two files; the second is at fault."""
        error = cls("duplicate-id", second, f"fragment id `{name}` stands in `{first}` too")
        error.report = f'{BOUNDARY}: duplicate fragment id "{name}" in {first} and {second}'
        error.hint = "give one of them another id, or leave its file out of `files`"
        return error


@dataclass(frozen=True, slots=True)
class Fragment:
    """A loaded fragment. `path` is relative to the fragments' root; the body begins at `offset`.

    `hash` is the SHA-256 of the whole file as decoded, fences and all.
    """

    path: str
    id: str
    version: int
    description: str
    dynamic: bool
    body: str
    hash: str
    offset: int = 0


def read_fragment(source: Source, path: str = "") -> Fragment:
    """Read one file; `path` names it in the table. Raises `FragmentError`."""
    return _read(source.data, path or source.path)


@lru_cache(maxsize=_KEPT)
def _read(data: bytes, path: str) -> Fragment:
    """Read a file once: the versions of a tree share most of their files, and YAML is slow."""
    match = FRONT_MATTER.match(data)
    if match is None:
        raise FragmentError("frontmatter-missing", path)
    keys = _front_matter(match[1].decode(errors="replace"), path)
    if fault := _fault(keys):
        raise FragmentError(fault, path)
    return Fragment(
        path=path,
        id=str(keys["id"]),
        version=1,
        description=str(keys["description"]),
        dynamic=keys.get("dynamic") is True,
        body=data[match.end() :].decode(errors="replace"),
        hash=digest(data.decode(errors="replace")),
        offset=match.end(),
    )


def _front_matter(text: str, path: str) -> dict[str, Value]:
    try:
        value = parse_yaml(text)
    except YamlError as error:
        line = error.line + 1 if error.line else 0  # the fence is the file's first line
        message = f"invalid YAML frontmatter: {error.reason}"
        raise FragmentError("frontmatter-yaml", path, message, line) from None
    if not isinstance(value, dict):
        raise FragmentError("frontmatter-not-object", path)
    return value


def _fault(keys: dict[str, Value]) -> str:
    identity, description = keys.get("id"), keys.get("description")
    if not isinstance(identity, str) or not FRAGMENT_ID.fullmatch(identity):
        return "id"
    version = keys.get("version")
    if isinstance(version, bool) or not isinstance(version, (int, float)) or version != 1:
        return "version"
    if not isinstance(description, str) or not trim(description):
        return "description"
    return "" if "dynamic" not in keys or isinstance(keys["dynamic"], bool) else "dynamic"


def in_order(sources: Iterable[tuple[str, Source]]) -> list[tuple[str, Source]]:
    """Keep the files that are fragments, in the order in which Clio walks them."""
    kept = [(path, source) for path, source in sources if path.endswith(SUFFIX)]
    return sorted(kept, key=lambda pair: collation_key(pair[0]))


def load(sources: Iterable[tuple[str, Source]]) -> tuple[Fragment, ...]:
    """Read a folder of fragments, each with its path below the folder.

    Raises `FragmentError` at the first fault, or when an id stands twice.
    """
    table: dict[str, Fragment] = {}
    for path, source in in_order(sources):
        fragment = read_fragment(source, path)
        if other := table.get(fragment.id):
            raise FragmentError.duplicate(fragment.id, other.path, fragment.path)
        table[fragment.id] = fragment
    return tuple(table.values())
