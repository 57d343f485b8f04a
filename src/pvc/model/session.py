"""A session's system prompt as it changes: positioned entries that append or replace.

    position   0          1          2           3
    entry      append A   append B   replace R   append C
    prompt     A          A B        R           R C

Rule 1: entries are only ever added, so the prompt at position N is told by the first N entries
alone, whatever came after them.
Rule 2: `replace` forgets everything before it, and an empty one does so too.
Rule 3: equal texts are two blocks. A block is known by its position, never by its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SYSTEM = "system"
CONFIG = "config"
"""The author of entries that come from configuration: layer files, or a tree's version."""


class Mode(StrEnum):
    """What an entry does to the blocks before it."""

    APPEND = "append"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One change of the prompt. `author` is empty where nobody recorded it (older logs)."""

    data: bytes
    mode: Mode = Mode.APPEND
    author: str = ""

    @property
    def is_foreign(self) -> bool:
        """Whether somebody other than configuration is known to have written it."""
        return self.author not in ("", CONFIG)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; only a system message has a mode."""

    role: str
    data: bytes
    mode: Mode | None = None
    author: str = ""

    @property
    def entry(self) -> SystemEntry | None:
        """The message as a change of the prompt; null for what is no system message."""
        if self.role != SYSTEM:
            return None
        return SystemEntry(self.data, self.mode or Mode.APPEND, self.author)


def entries_of(messages: Iterable[Message]) -> tuple[SystemEntry, ...]:
    """Give the system entries of a conversation, in order."""
    return tuple(entry for message in messages if (entry := message.entry))


def surviving(entries: Sequence[SystemEntry], at: int | None = None) -> tuple[int, ...]:
    """Give the positions of the blocks that the prompt consists of after the first `at` entries."""
    stop = len(entries) if at is None else min(at, len(entries))
    start = next((i for i in range(stop - 1, -1, -1) if entries[i].mode is Mode.REPLACE), 0)
    return tuple(range(start, stop))


def effective(entries: Sequence[SystemEntry], at: int | None = None) -> tuple[bytes, ...]:
    """Give the blocks of the prompt after the first `at` entries, or after all."""
    return tuple(entries[i].data for i in surviving(entries, at))
