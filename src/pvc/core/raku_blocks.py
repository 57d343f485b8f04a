"""Two blocks of the form `raku` that are written from values: the environment, the tools.

    ## Environment              ## Tools

    - platform: …               ### read
    - os: …                     Read a file.
    - date: …
    - cwd: …                    Parameters:
                                - path (string, required) - What to read.

Each gives a rope of `core.program`: `(bytes, origin, offset, section)` pieces. Headings, bullets
and fixed sentences are the form's own and have the origin `glue`.

Rule 1: the first three bullets are platform, os and date, in this order; a value of one of those
names takes their place. The others follow by code point, whatever order they were given in.
Rule 2: null is no value. What is empty, zero or false is one.
Rule 3: tools that are no function tool are passed over; a tool without a usable schema takes no
arguments. A launch must not fail over a definition that the provider will judge anyway.
Rule 4: nothing is looked up. Platform, os and date come from the environment or are `unknown`.
"""

from pvc.errors import UsageError
from pvc.model.raku_text import composed, normal, text_of, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Origin = tuple[str, ...]
    Rope = list[tuple[bytes, Origin, int, str]]

FIRST = ("platform", "os", "date")
UNKNOWN = "unknown"


def escape(key: str) -> str:
    """Write a key as one token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def glue(text: str, rule: str) -> "Rope":
    """Give the form's own words."""
    return [(text.encode(), ("glue", rule), 0, "")]


def value_rope(text: str, origin: "Origin") -> "Rope":
    """Give a value composed; what composing changed is the form's doing."""
    rope: Rope = []
    for part, start, is_changed in composed(text):
        at = len(text[:start].encode())
        rope.append((part.encode(), ("glue", "composed") if is_changed else origin, at, ""))
    return rope


# --- environment ------------------------------------------------------------------------------


def environment(values: "dict[str, Any]", extra: "Any") -> "Rope":
    """Write the block of a launch; empty when no value is given at all.

    `values` may hold the first three by themselves, `extra` any; `extra` counts.
    """
    named = _named(values, extra)
    return written(named) if named else []


def env_block(extra: "Any") -> "Rope":
    """Write the block for extras alone, as the function of the original: it is never empty."""
    return written(_named({}, extra))


def written(named: "dict[str, tuple[str, Any]]") -> "Rope":
    """Write the block from values that each have a pointer."""
    rope = glue("## Environment\n\n", "environment-heading")
    order = [*FIRST, *sorted(named.keys() - set(FIRST))]
    for number, key in enumerate(order):
        rope += glue(("\n" if number else "") + f"- {key}: ", "bullet")
        pointer, value = named.get(key, ("", UNKNOWN))
        if not pointer:
            rope += glue(UNKNOWN, "unknown")
        elif type(value) is str:
            text_of(value, pointer)
            rope += value_rope(value, ("binding", key, pointer, "", "0"))
        else:
            rope += [(text_of(value, pointer).encode(), ("binding", key, pointer, "", "0"), 0, "")]
    return rope


def _named(values: "dict[str, Any]", extra: "Any") -> "dict[str, tuple[str, Any]]":
    """Gather the values that are given, each with its pointer."""
    if extra is not None and not isinstance(extra, dict):
        raise UsageError("`extra` is an object", at="/extra", hint='`{"cwd": "…"}`')
    named = {key: (f"/{key}", values[key]) for key in FIRST if values.get(key)}
    for key, value in (extra or {}).items():
        if value is not None:
            named[normal(key)] = (f"/extra/{escape(key)}", value)
    return named


# --- tools ------------------------------------------------------------------------------------


def tools(definitions: "Any", pointer: str = "") -> "Rope":
    """Write the block; empty, without its heading, when no tool is left."""
    rope: Rope = []
    for number, tool in enumerate(definitions if isinstance(definitions, list) else ()):
        function = tool.get("function") if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(function, dict) and type(name) is str and name:
            heading = "\n\n" if rope else "## Tools\n\n"
            rope += glue(heading + "### ", "tool-heading")
            rope += _Tool(name, function, f"{pointer}/{number}/function").rope()
    return rope


class _Tool:
    """One tool that is documented."""

    def __init__(self, name: str, function: "dict[str, Any]", pointer: str) -> None:
        self.name = name
        self.function = function
        self.pointer = pointer

    def rope(self) -> "Rope":
        rope = self._text(self.name, "/name")
        described = self._trimmed(self.function.get("description"), "/description")
        if described:
            rope += [*glue("\n", "tool"), *described]
        properties = self._properties()
        if not properties:
            return rope + glue("\n\nTakes no arguments.", "no-arguments")
        rope += glue("\n\nParameters:", "parameters")
        required = self._required()
        for name in self._order(properties, required):
            key, schema = properties[name]
            rope += self._parameter(key, schema, is_required=name in required)
        return rope

    def _properties(self) -> "dict[str, tuple[str, Any]]":
        """Give each property's key and schema by its composed name."""
        parameters = self.function.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        held = properties if isinstance(properties, dict) else {}
        return {normal(key): (key, schema) for key, schema in held.items()}

    def _required(self) -> list[str]:
        required = self.function["parameters"].get("required")
        names = required if isinstance(required, list) else []
        at = f"{self.pointer}/parameters/required"
        return [text_of(name, at) for name in names if not isinstance(name, dict)]

    @staticmethod
    def _order(properties: "dict[str, tuple[str, Any]]", required: list[str]) -> list[str]:
        first = [name for name in dict.fromkeys(required) if name in properties]
        return first + sorted(properties.keys() - set(first))

    def _parameter(self, name: str, schema: "Any", *, is_required: bool) -> "Rope":
        schema = schema if isinstance(schema, dict) else {}
        at = f"/parameters/properties/{escape(name)}"
        rope = glue("\n- ", "bullet") + self._text(name, at)
        kind = schema.get("type")
        is_typed = kind is not None and not isinstance(kind, dict)
        kinds = kind if isinstance(kind, list) else [kind] if is_typed else []
        inner = self._text("|".join([text_of(one, at) for one in kinds]), f"{at}/type")
        if is_required:
            inner += glue(", required" if is_typed else "required", "required")
        if is_typed or is_required:
            rope += [*glue(" (", "bullet"), *inner, *glue(")", "bullet")]
        described = self._trimmed(schema.get("description"), f"{at}/description")
        return rope + (glue(" - ", "bullet") + described if described else [])

    def _trimmed(self, value: "Any", at: str) -> "Rope":
        if isinstance(value, dict):
            return []
        text = value if type(value) is str else text_of(value, self.pointer + at)
        start, end = trimmed(text)
        skip = len(text[:start].encode())
        return [
            (data, origin, offset if origin[0] == "glue" else offset + skip, section)
            for data, origin, offset, section in self._text(text[start:end], at)
        ]

    def _text(self, text: str, at: str) -> "Rope":
        text_of(text, self.pointer + at)
        return value_rope(text, ("tool", self.name, self.pointer + at))
