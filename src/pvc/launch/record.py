"""A pin's record as bytes: a TOML table of fixed keys in a fixed order, written once.

The one writer and reader of this form; `store.codec` gives the same bytes their types.

Rule 1: strings are basic strings on one line, so `[[pin]]` at the start of a line cannot occur
inside a value, and a segment, which is records put together, is one TOML document.
Rule 2: a record is read only if writing it again gives the same bytes: there is one way to say a
thing, and a damaged record is found before its receipt is even compared.
"""

from blake3 import blake3

from pvc.errors import CorruptError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Record = dict[str, str | int]

FORMAT = 1
SESSION_FORMAT = 2
"""The format of a record that says what a session added, or what it was told in between."""
PRIVACY_FORMAT = 3
"""The format of a record that says what was kept of its inputs, where that is not the default."""
TABLE = b"[[pin]]\n"
KEYS = (
    "format",
    "session",
    "chain",
    "n",
    "time",
    "writer",
    "tree",
    "version",
    "commit",
    "prompt.digest",
    "environment.digest",
    "tools.digest",
    "head.digest",
    "provider",
    "model",
    "observed",
    "supersedes",
    "reason",
)
SESSION_KEYS = ("entry.mode", "entry.digest", "entry.author", "context.digest")
PRIVACY_KEYS = ("privacy", "key")
PRIVACIES = ("bytes", "digest", "keyed")
"""What `privacy` may say in a record; the default, `inputs`, says nothing."""
NUMBERS = frozenset(("format", "n", "version"))
REQUIRED = frozenset(("format", "session", "chain", "n", "time", "writer", "prompt.digest"))

_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x7F: "\\u007F"}
_ESCAPES.update((code, f"\\u{code:04X}") for code in range(0x20))
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPES.update((ord(char), "\\" + letter) for letter, char in _SHORT.items())


def write(record: "Mapping[str, str | int]") -> bytes:
    """Write a record; what is empty or absent is left out, except numbers."""
    lines = ["[[pin]]"]
    for name in (*KEYS, *SESSION_KEYS, *PRIVACY_KEYS):
        value = record.get(name, "")
        if value != "":
            lines.append(f"{name} = {value if name in NUMBERS else quote(str(value))}")
    try:
        return ("\n".join(lines) + "\n\n").encode()
    except UnicodeEncodeError:
        raise UsageError("a value of this pin holds bytes that are no UTF-8") from None


def read(data: bytes, at: str = "a pin's record") -> "Record":
    """Read one record; raises `CorruptError` on anything that `write` did not write."""
    record: Record = {}
    try:
        for line in data.decode().split("\n")[1:-2]:
            name, _, value = line.partition(" = ")
            record[name] = int(value) if name in NUMBERS else unquote(value)
        is_whole = record.keys() >= REQUIRED and write(record) == data
    except (ValueError, UsageError):  # `write` refuses half a character, which is the caller's
        is_whole = False  # mistake there and damage here
    if not is_whole:
        raise CorruptError("a pin's record is damaged", at=at)
    if record["format"] != format_of(record):
        raise CorruptError(f"a pin's record has format {record['format']}", at=at)
    privacy = record.get("privacy", "bytes")
    if privacy not in PRIVACIES or ("key" in record) != (privacy == "keyed"):
        raise CorruptError(f"a pin's record has privacy `{privacy}`", at=at)
    return record


def format_of(record: "Mapping[str, str | int]") -> int:
    """Give the one format that a record with these keys has."""
    if any(record.get(key) for key in PRIVACY_KEYS):
        return PRIVACY_FORMAT
    return SESSION_FORMAT if any(record.get(key) for key in SESSION_KEYS) else FORMAT


def receipt(data: bytes) -> str:
    """Digest a record."""
    return "b3:" + blake3(data).hexdigest()


def key(session: str, chain: str, n: int) -> str:
    """Name the spool file of a session's n-th pin."""
    return blake3(f"{session}\0{chain}\0{n}".encode()).hexdigest()[:32]


def quote(text: str) -> str:
    """Write a TOML basic string."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'  # nearly every value, told in a tenth of the time
    return f'"{text.translate(_ESCAPES)}"'


def unquote(text: str) -> str:
    """Read what `quote` wrote; raises `ValueError` on anything else that is no such string."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        raise ValueError(text)
    if "\\" not in text:
        return text[1:-1]
    parts, pieces = [], iter(text[1:-1].split("\\"))
    parts.append(next(pieces))
    for piece in pieces:
        if piece == "":  # two backslashes: the next piece is plain text
            parts.append("\\" + next(pieces, ""))
        elif piece[0] == "u":
            parts.append(chr(int(piece[1:5], 16)) + piece[5:])
        elif piece[0] in _SHORT:
            parts.append(_SHORT[piece[0]] + piece[1:])
        else:
            raise ValueError(piece)
    return "".join(parts)
