"""Text that came from outside, made fit for a terminal."""

from __future__ import annotations

from pvc.launch.answer import CONTROL

_NOT_LAYOUT = {code: shown for code, shown in CONTROL.items() if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Return `text` with control characters escaped, so that a terminal cannot obey them."""
    return text.translate(_NOT_LAYOUT).encode("utf-8", "backslashreplace").decode()
