"""Text that came from outside, made fit for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return `text` with control characters escaped, so that a terminal cannot obey them."""
    return "".join(
        char
        if char in "\n\t" or (char >= " " and not "\x7f" <= char <= "\x9f")
        else repr(char)[1:-1]
        for char in text
    )
