"""A bar on stderr for work that takes longer than a second; only on a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S, _PAUSE_S, _WIDTH = 1.0, 0.1, 30


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that is told how many of how many are done; null where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(label)
    try:
        yield bar.tell
    finally:
        bar.end()


class _Bar:
    def __init__(self, label: str) -> None:
        self._label = label
        self._next = time.monotonic() + _PATIENCE_S
        self._is_shown = False

    def tell(self, done: int, of: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next, self._is_shown = now + _PAUSE_S, True
        full = _WIDTH * done // max(of, 1)
        bar = "#" * full + "." * (_WIDTH - full)
        sys.stderr.write(f"\r{self._label} [{bar}] {done}/{of}")
        sys.stderr.flush()

    def end(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
