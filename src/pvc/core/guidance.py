"""Fence the instruction files of a workspace into the one text that a prompt carries.

    <instructions path="AGENTS.md" origin="workspace">
    …the file, byte for byte…
    </instructions>

The fragment `_repository_guidance` of a pack speaks of these blocks and of the two origins, so
the words here and there move together.

Rule 1: a file is carried whole. One above `MAX_BYTES` is not read in at all, and a note says so:
half of an instruction is worse than none that is known to be missing.
Rule 2: at most one file is the user's default, and it comes first.
Rule 3: a fence tells voices apart, it does not make a hostile file safe. A file that holds a
closing fence is carried as it is, and a note says so.
Rule 4: this module imports only `pvc.errors`, for it runs at session start.
"""

from pvc.errors import DecodeError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 1_048_576
WORKSPACE = "workspace"
USER_DEFAULT = "user-default"

_CLOSE = b"</instructions>"
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def fence(files: "Sequence[tuple[str, str, bytes]]") -> "tuple[str, tuple[str, ...]]":
    """Fence `(path, origin, data)` of each file; gives the text, and notes for the user.

    Raises `UsageError` on an origin out of place, `DecodeError` on a file that is no UTF-8.
    """
    blocks, notes = [], []
    for number, (path, origin, data) in enumerate(files):
        _check_origin(number, path, origin)
        if len(data) > MAX_BYTES:
            notes.append(f"`{path}` has {len(data)} bytes, above {MAX_BYTES}, and was left out")
            continue
        if _CLOSE in data:
            notes.append(f"`{path}` holds a closing fence, so its block seems to end early")
        blocks.append(_block(path, origin, data))
    return "\n\n".join(blocks), tuple(notes)


def _check_origin(number: int, path: str, origin: str) -> None:
    if origin not in (WORKSPACE, USER_DEFAULT):
        raise UsageError(
            f"`{origin}` is no origin", at=path, hint=f"`{WORKSPACE}` or `{USER_DEFAULT}`"
        )
    if origin == USER_DEFAULT and number:
        raise UsageError(f"one file is the `{USER_DEFAULT}`, and the first", at=path)


def _block(path: str, origin: str, data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"not UTF-8 at byte {error.start}", at=path) from None
    return f'<instructions path="{_escape(path)}" origin="{origin}">\n{text}\n</instructions>'


def _escape(path: str) -> str:
    """Escape a path for an attribute; a control character would end the line or hide."""
    return "".join(
        [_ESCAPES.get(c) or (f"&#{ord(c)};" if c < " " or c == "\x7f" else c) for c in path]
    )
