"""A version's program with what a session added to its prompt.

    the version's blocks │ entry 1 (append) │ entry 2 (append)          position 2
    entry 3 (replace)    │ entry 4 (append)                             position 4

Rule 1: an entry is a block of its own. Behind a block of the same prompt it begins with a joint of
one blank line, and nothing is ever stripped from what stands before it: an append leaves every byte
in front of it as it was sent, so a cache reads all of it back.
Rule 2: a form that sends its sections apart (`wire`) takes entries as further sections, with its
own joint.
Rule 3: the text of an entry is a value: nothing is filled into it, and its origin names its
position, `/entries/N`.

This module imports nothing, for a launch comes here when a session with entries is resumed.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Program = tuple[Any, ...]
    Entry = tuple[int, str, bytes]
    """Number of its pin, mode, text."""

JOINT = b"\n\n"
REPLACE = "replace"
POINTER = "/entries/"


def with_entries(program: "Program", entries: "Sequence[Entry]") -> "Program":
    """Give the program of a session's prompt after `entries`."""
    if not entries:
        return program
    form, rule, fields, blocks = program
    start = max((i for i, entry in enumerate(entries) if entry[1] == REPLACE), default=-1)
    kept = entries[max(start, 0) :]
    base = () if start >= 0 else blocks
    if len(blocks) == 1 and len(blocks[0]) == 1 and blocks[0][0][0] == "wire":
        _, field, joint, parts = blocks[0][0]
        more = tuple(_added(b"", entry) for entry in kept)
        wire = ("wire", field, joint, (*(parts if base else ()), *more))
        return (form, rule, fields, ((wire,),))
    added = tuple(
        (_added(JOINT if base or number else b"", entry),) for number, entry in enumerate(kept)
    )
    return (form, rule, fields, (*base, *added))


def _added(joint: bytes, entry: "Entry") -> "tuple[Any, ...]":
    n, _, data = entry
    return ("added", joint, data, f"entry-{n}", f"{POINTER}{n}")


def entry_number(pointer: str) -> int | None:
    """Read the number of an entry from its pointer; null for another value's."""
    number = pointer.removeprefix(POINTER)
    return int(number) if number != pointer and number.isdecimal() else None
