"""Text that came from outside, made fit for a terminal."""

from __future__ import annotations

from pvc.launch.answer import plain
from pvc.launch.words import printable

__all__ = ["plain", "printable"]
