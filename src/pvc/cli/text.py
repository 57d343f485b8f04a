"""Text that came from outside, made fit for a terminal."""

from __future__ import annotations

from pvc.launch.words import printable

__all__ = ["printable"]
