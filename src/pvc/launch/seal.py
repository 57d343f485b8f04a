"""Keyed digests: `k3:`, BLAKE3 under a key that is not in the repository, over a digest's bytes.

Loaded only where a pin is keyed. An unkeyed digest of five guessable lines is as good as the lines
for whoever can guess; under a key it can be compared with nothing.

Rule 1: the digest is keyed, not the bytes again: so a digest that an answer gave is found again by
whoever has the key, and nobody needs the bytes for it.
Rule 2: the key is 32 random bytes in a file of the user's, made once, readable by nobody else and
never inside the repository's folders: what goes with a clone would hide nothing.
"""

import os

from blake3 import blake3

from pvc.errors import NotFoundError, UsageError
from pvc.launch import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.launch.place import Place

SIZE = 32
SEALED = ("prompt.digest", "environment.digest", "tools.digest", "head.digest")
"""What is keyed in a record: all that follows from a person's values."""
_NAMES_IT = b"pvc key"


class Key:
    """A key, and the name that records call it by."""

    __slots__ = ("_bytes", "name")

    def __init__(self, data: bytes) -> None:
        self._bytes = data
        self.name = blake3(_NAMES_IT, key=data).hexdigest()[:16]

    def seal(self, digest: str) -> str:
        """Key a digest."""
        return "k3:" + blake3(bytes.fromhex(digest[3:]), key=self._bytes).hexdigest()

    def seal_all(self, digests: "Mapping[str, str]") -> dict[str, str]:
        """Key those digests of a record that are keyed in it."""
        return {name: self.seal(d) if name in SEALED else d for name, d in digests.items()}


def ensure(place: "Place", path: str) -> Key:
    """Give the key, making it where there is none yet."""
    at = _path(place, path)
    data = disk.read(at)
    if data is None:
        folder = os.path.dirname(at)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        before = os.umask(0o077)
        try:
            temporary = disk.write_temporary(folder, os.urandom(SIZE).hex().encode() + b"\n")
        finally:
            os.umask(before)
        disk.link(temporary, at)
        disk.sync_folder(folder)
        data = disk.read(at) or b""
    return _key(data, at)


def read(place: "Place", path: str) -> "Key | None":
    """Give the key, or null where there is none."""
    at = _path(place, path)
    data = disk.read(at)
    return None if data is None else _key(data, at)


def load(place: "Place", path: str, name: str, what: str) -> Key:
    """Give the key of that name. Raises `NotFoundError` where another one or none is here."""
    key = read(place, path)
    if key is None or key.name != name:
        raise NotFoundError(
            f"{what} is keyed, and its key `{name}` is not here",
            at=_path(place, path),
            hint="`git config pvc.key FILE` names the file that holds it",
        )
    return key


def _path(place: "Place", path: str) -> str:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    at = os.path.realpath(os.path.expanduser(path) if path else f"{base}/pvc/key")
    common = os.path.realpath(place.common_dir)
    inside = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    if not os.path.isabs(os.path.expanduser(path or "/")) or at.startswith(inside + "/"):
        raise UsageError(
            "a key lies outside of the repository, and its path is whole",
            at=path or at,
            hint="git config pvc.key ~/.config/pvc/key",
        )
    return at


def _key(data: bytes, at: str) -> Key:
    if os.stat(at).st_mode & 0o077:
        raise UsageError("a key that others may read is none", at=at, hint=f"chmod 600 {at}")
    try:
        key = bytes.fromhex(data.decode().strip("\n"))
    except ValueError:
        key = b""
    if len(key) != SIZE:
        raise UsageError("this file holds no key", at=at, hint=f"{2 * SIZE} hex digits, one line")
    return Key(key)
