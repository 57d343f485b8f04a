"""Tagged BLAKE3 digests: `b3:` and 64 hex digits.

`k3:` stands for one that was keyed (`launch.seal`): who has no key can compare it with nothing.

The tag keeps a pvc digest apart from git's ids and from a provider's hashes. `prompt.digest` is
plain unkeyed BLAKE3 of the bytes, so `pvc render … | b3sum` agrees.
"""

from __future__ import annotations

from typing import Self

from pvc.errors import UsageError

TAG = "b3:"
KEYED_TAG = "k3:"
SIZE_HEX = 64
_HEX = "0123456789abcdef"


class Digest(str):
    """A whole digest, `b3:` or `k3:` and 64 lower-case hex digits."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check the tag and the digits; raises `UsageError`."""
        tag, body = text[: len(TAG)], text[len(TAG) :]
        if tag not in (TAG, KEYED_TAG) or len(body) != SIZE_HEX or body.strip(_HEX):
            raise UsageError(f"`{text}` is no digest", hint="`b3:` and 64 hex digits")
        return super().__new__(cls, text)

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Digest `data`."""
        from blake3 import blake3

        return cls(TAG + blake3(data).hexdigest())

    @property
    def is_keyed(self) -> bool:
        """Whether only the holder of a key can compare it with anything."""
        return self.startswith(KEYED_TAG)

    @property
    def hex(self) -> str:
        """The 64 hex digits without the tag."""
        return self[len(TAG) :]

    @property
    def short(self) -> str:
        """The tag and twelve digits, for people."""
        return self[: len(TAG) + 12]
