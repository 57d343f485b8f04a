"""JSON read without losing anything, and written in one form.

The launch path reads environments and tools through this module, so it imports CPython's own
scanner and pvc's errors, nothing else (`json` alone would double the start of the interpreter).

Rule 1: a number stays the text that it was. `1.0`, `1e3` and 20-digit ids are the prompt's bytes,
and a float would change them.
Rule 2: what JSON leaves open is refused with its place: a repeated key (readers disagree on which
one counts), `NaN`, text after the value, nesting beyond `MAX_DEPTH`. Whoever must compare bodies
that hold repeated keys passes a list and gets their names.
Rule 3: a lone surrogate is read, for a body may hold one, but `canonical` refuses it: it has no
UTF-8.
Rule 4: places are found only after something went wrong, by a second walk. The good path runs in C.
"""

from pvc.errors import CorruptError, DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Pairs = list[tuple[str, "Value"]]
    PairsHook = Callable[[Pairs], dict[str, "Value"]]
    Quote = Callable[[str], str]
    Scanner = Callable[[str, int], tuple["Value", int]]

MAX_DEPTH = 200
"""Deepest nesting that is read; no request comes near, and every walk over a value may recurse."""

_LONG = 16  # digits of 2^53, beyond which a float skips integers
_SPACE = " \t\n\r"


class Number(str):
    """A JSON number: its digits as they stood in the text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Number({str.__repr__(self)})"


Value = dict[str, "Value"] | list["Value"] | str | Number | bool | None
"""A parsed JSON value. `Number` is a `str`, so ask `type(x) is str` to tell them apart."""


class _Repeated(Exception):  # noqa: N818 - a signal within this module, never seen outside
    """An object holds a key twice."""


class _Constant(Exception):  # noqa: N818 - as above
    """`NaN`, `Infinity` or `-Infinity` stands where a value should."""


SIGNALS = (_Repeated, _Constant)
"""What a scanner raises for JSON that is refused; `parse` says where."""


def parse_stored(data: bytes, what: str) -> "Value":
    """Read a stored JSON value; raises `CorruptError`, since its writer may be any clone."""
    try:
        return parse(data.decode())
    except (UnicodeDecodeError, DecodeError) as error:
        raise CorruptError(f"{what} is damaged: {error}") from None


def parse(
    text: str,
    *,
    at: str = "",
    duplicates: list[str] | None = None,
    long_integers: list[str] | None = None,
) -> Value:
    """Read one JSON value; `at` names the text in errors.

    A repeated key raises `DecodeError`, unless `duplicates` is given, which then collects the names
    while the last value counts. `long_integers` collects integers that a float may not hold.
    """
    start = _skip(text, 0)
    try:
        value, end = _scan(scanner(duplicates, long_integers), text, start)
    except StopIteration as stop:
        _fail(text, int(stop.value), at, "")
    except SIGNALS:
        _fail_inside(text, at, repeats=duplicates is None)
    except RecursionError:
        _fail_deep(at)
    except ValueError as error:  # json.JSONDecodeError, which is not imported for its name alone
        _fail(text, getattr(error, "pos", 0), at, str(error))
    end = _skip(text, end)
    if end != len(text):
        raise DecodeError(
            f"more text after the JSON value: `{text[end : end + 12]}`",
            at=_place(text, end, at),
            hint="one value to a text; remove what follows it",
        )
    if text.count("[") + text.count("{") > MAX_DEPTH:
        bound_depth(value, MAX_DEPTH, at)
    return value


def _scan(scanner: "Scanner", text: str, start: int) -> "tuple[Value, int]":
    try:
        return scanner(text, start)
    except SystemError:
        # CPython 3.11's scanner looks for its error type only among what is imported already.
        import json.decoder  # noqa: F401

        return scanner(text, start)


def dump(value: Value) -> str:
    """Write compact JSON: keys in their order, numbers as read, no ASCII escaping."""
    if isinstance(value, str):
        return str(value) if isinstance(value, Number) else _quote(value)
    if isinstance(value, dict):
        pairs = [
            f"{_quote(key)}:{_quote(child) if type(child) is str else dump(child)}"
            for key, child in value.items()
        ]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join([dump(child) for child in value]) + "]"
    return _word(value)


def canonical(value: Value) -> bytes:
    """Write compact JSON with keys in code-point order, as UTF-8: what digests are taken over."""
    try:
        return dump(_sorted(value)).encode()
    except UnicodeEncodeError:
        raise DecodeError(
            "half of a surrogate pair has no UTF-8",
            at=lone_surrogate(value),
            hint=r"an escape such as `\ud83d` needs its second half",
        ) from None


def lone_surrogate(value: Value, pointer: str = "") -> str:
    """JSON pointer of the first string or key that has no UTF-8; empty when there is none."""
    if isinstance(value, str):
        return "" if _encodes(value) else pointer or "/"
    children: list[tuple[str, Value]] = []
    if isinstance(value, dict):
        for key in value:
            if not _encodes(key):
                return pointer + "/" + escape(key).encode("ascii", "backslashreplace").decode()
        children = [(escape(key), child) for key, child in value.items()]
    elif isinstance(value, list):
        children = [(str(index), child) for index, child in enumerate(value)]
    for token, child in children:
        found = lone_surrogate(child, f"{pointer}/{token}")
        if found:
            return found
    return ""


def escape(key: str) -> str:
    """Write a key as one token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sorted(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(child) for child in value]
    return value


def _word(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if isinstance(value, int):  # from Python itself, where no text of the number was kept
        return str(value)
    raise TypeError(f"no JSON value: {type(value).__name__}")


# --- the scanner -----------------------------------------------------------------------------


class _Settings:
    """What the scanner asks its context for."""

    strict = True  # raw control characters in strings are refused, as JSON says
    object_hook = None
    parse_int: "Callable[[str], Number]" = Number
    parse_float: "Callable[[str], Number]" = Number
    parse_object: object = None
    parse_array: object = None
    parse_string: object = None

    def __init__(self, pairs: "PairsHook") -> None:
        self.object_pairs_hook = pairs
        self.memo: dict[str, str] = {}

    @staticmethod
    def parse_constant(name: str) -> "NoReturn":
        raise _Constant(name)


def _unique(pairs: "Pairs") -> "dict[str, Value]":
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Repeated
    return made


def _collecting(names: list[str]) -> "PairsHook":
    def pairs_hook(pairs: "Pairs") -> "dict[str, Value]":
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen and key not in names:
                    names.append(key)
                seen.add(key)
        return made

    return pairs_hook


def scanner(duplicates: list[str] | None, long_integers: list[str] | None) -> "Scanner":
    """Make the function that reads one value at an offset; it raises `SIGNALS` beside the usual."""
    settings = _Settings(_unique if duplicates is None else _collecting(duplicates))
    if long_integers is not None:
        settings.parse_int = _noting(long_integers)
    return _make_scanner(settings)


def _noting(found: list[str]) -> "Callable[[str], Number]":
    def parse_int(digits: str) -> Number:
        if len(digits) >= _LONG:
            found.append(digits)
        return Number(digits)

    return parse_int


def _python_scanner(settings: _Settings) -> "Scanner":
    """Make the scanner of an interpreter that has none in C."""
    import json

    library: Any = json  # typeshed leaves these out
    settings.parse_object = library.decoder.JSONObject
    settings.parse_array = library.decoder.JSONArray
    settings.parse_string = _scanstring
    settings.parse_float = _ascii_number
    if settings.parse_int is Number:
        settings.parse_int = _ascii_number
    made: Scanner = library.scanner.py_make_scanner(settings)
    return made


def _ascii_number(digits: str) -> Number:
    """Read a number for `json.scanner`, which takes every Unicode digit for one."""
    if not digits.isascii():
        raise ValueError("digits beyond ASCII")
    return Number(digits)


def _engine() -> "tuple[Callable[[Any], Scanner], Callable[..., tuple[str, int]], Quote]":
    """Choose the functions that read and quote: CPython's in C, else those of `json`."""
    try:
        import _json as native
    except ImportError:
        import json

        library: Any = json  # as above
        return _python_scanner, library.decoder.py_scanstring, library.encoder.py_encode_basestring
    return native.make_scanner, native.scanstring, native.encode_basestring


_make_scanner, _scanstring, _quote = _engine()


def scan_string(text: str, at: int) -> tuple[str, int]:
    """Read the string whose opening quote stands before `at`; gives it and the offset after."""
    return _scanstring(text, at, True)


# --- after something went wrong --------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _place(text: str, offset: int, at: str) -> str:
    """Write `at:line:column`; both count from 1, the column in bytes of UTF-8."""
    line = text.count("\n", 0, offset) + 1
    start = text.rfind("\n", 0, offset) + 1
    column = len(text[start:offset].encode("utf-8", "surrogatepass")) + 1
    return f"{at}:{line}:{column}" if at else f"{line}:{column}"


def _fail(text: str, offset: int, at: str, reported: str) -> "NoReturn":
    """Raise in pvc's words what the scanner met at `offset`."""
    if text.startswith("\ufeff"):
        message, hint = "a byte-order mark stands before the JSON value", "save without one"
    elif "Unterminated" in reported:
        message, hint = "a string does not end", "close it with a quote"
    elif "control character" in reported:
        message = f"a raw control character U+{ord(text[offset]):04X} stands in a string"
        hint = r"write it as an escape, such as `\n`"
    elif "escape" in reported:
        message, hint = "no such escape in a string", r"`\\` stands for one backslash"
    elif offset >= len(text):
        message, hint = "the text ends before the JSON value does", "was it cut off?"
    else:
        message = f"no JSON: unexpected `{text[offset]}`"
        hint = "keys and strings stand in double quotes, and no comma before a closing bracket"
    raise DecodeError(message, at=_place(text, offset, at), hint=hint)


def _fail_inside(text: str, at: str, *, repeats: bool) -> "NoReturn":
    """Raise for the first repeated key or non-JSON constant, found by walking the tokens."""
    keys: list[set[str]] = []
    offset = 0
    while offset < len(text):
        char = text[offset]
        if char == '"':
            string, end = _scanstring(text, offset + 1, True)
            colon = _skip(text, end)
            if text[colon : colon + 1] == ":":
                if repeats and string in keys[-1]:
                    raise DecodeError(
                        f"key `{string}` stands twice in one object",
                        at=_place(text, offset, at),
                        hint="readers disagree on which one counts; remove one",
                    )
                keys[-1].add(string)
            offset = end
            continue
        if char in "{[":
            keys.append(set())
        elif char in "}]":
            keys.pop()
        elif char in "NI":
            name = "NaN" if char == "N" else "Infinity"
            raise DecodeError(
                f"`{name}` is no JSON number", at=_place(text, offset, at), hint="write it as text"
            )
        offset += 1
    raise AssertionError("the scanner met what the walk does not find")


def _fail_deep(at: str) -> "NoReturn":
    raise DecodeError(f"nested deeper than {MAX_DEPTH} levels", at=at, hint="flatten the value")


def bound_depth(value: Value, most: int, at: str = "") -> None:
    """Raise when containers stand deeper than `most`, level by level and without recursion."""
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(most):
        if not level:
            return
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) in _CONTAINERS
        ]
    if level:
        _fail_deep(at)


_CONTAINERS = (dict, list)
