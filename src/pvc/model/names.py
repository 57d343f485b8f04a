"""Names and ids: parsed once at the door, valid ever after.

Each is a `str` of its own type, so that a tree's name cannot stand where a session's should.
The launch path parses its arguments with these, so nothing but pvc's errors is imported.
"""

from pvc.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_NAME_REST = _NAME_START | frozenset("._-")
_HEX = frozenset("0123456789abcdef")
_OID_LENGTHS = (40, 64)  # git has two object formats


class _RefName(str):
    """`[a-z0-9][a-z0-9._-]{0,62}`, no `..`, no ending `.lock` or `.` (DESIGN §2)."""

    __slots__ = ()
    noun = "name"

    def __new__(cls, text: str) -> "Self":
        """Check the letters; raises `UsageError`."""
        legal = (
            0 < len(text) <= 63
            and text[0] in _NAME_START
            and _NAME_REST.issuperset(text)
            and ".." not in text
            and not text.endswith((".lock", "."))
        )
        if not legal:
            raise UsageError(
                f"`{text}` is no {cls.noun} name",
                hint="1 to 63 of a-z 0-9 . _ -, beginning with a letter or digit",
            )
        return super().__new__(cls, text)


class TreeName(_RefName):
    """The name of a tree: `refs/pvc/trees/<name>`."""

    __slots__ = ()
    noun = "tree"


class PackName(_RefName):
    """The name of a pack: `refs/pvc/packs/<name>`."""

    __slots__ = ()
    noun = "pack"


class ChannelName(_RefName):
    """The name of a channel; not all digits, for those are version numbers."""

    __slots__ = ()
    noun = "channel"

    def __new__(cls, text: str) -> "Self":
        """Check the text; raises `UsageError`."""
        if text.isdecimal():
            raise UsageError(
                f"`{text}` is no channel name", hint="digits alone name a version number"
            )
        return super().__new__(cls, text)


def whole_number(text: str) -> int | None:
    """Read a whole number of at most nine ASCII digits; null for any other text.

    More would be no version and no byte of a prompt, and thousands cannot even be converted.
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


class SessionId(str):
    """What a harness calls a session: 1 to 256 characters, none a control or half a character."""

    __slots__ = ()

    def __new__(cls, text: str) -> "Self":
        """Check the text; raises `UsageError`."""
        if 0 < len(text) <= 256 and text.isascii() and text.isprintable():
            return super().__new__(cls, text)
        if not 0 < len(text) <= 256 or any(char < " " or char == "\x7f" for char in text):
            raise UsageError(
                "a session id has 1 to 256 characters and no control characters", at=repr(text[:40])
            )
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise UsageError("a session id is UTF-8", at=ascii(text[:40]))
        return super().__new__(cls, text)


class ObjectId(str):
    """A git object's id in lower-case hex; hides its length, for git has two."""

    __slots__ = ()

    def __new__(cls, text: str) -> "Self":
        """Check the text; raises `UsageError`."""
        if len(text) not in _OID_LENGTHS or not _HEX.issuperset(text):
            raise UsageError(f"`{text}` is no object id", hint="40 or 64 hex digits")
        return super().__new__(cls, text)

    @property
    def short(self) -> str:
        """The first twelve digits, for people."""
        return self[:12]


class CommitId(ObjectId):
    """The id of a commit."""

    __slots__ = ()
