"""Records and bodies that are not folded yet: one file each.

Rule 1: a record's name is the hash of session, chain and number, so of two processes that pin one
session, one gets the name.
Rule 2: bodies are synced before a record that names them gets its name; a body that is there
already, and whole, is not written again, but its folder is synced all the same, for whoever wrote
it may not have come so far. Only what this process itself has synced needs no second sync.
Rule 3: a body's file may be taken away at any time: a fold moves it into git, and what no record
names may be forgotten there. So whoever has linked a record looks once more whether its bodies are
still here, and writes them again if not; and who forgets looks at the records after the fold has
taken the files. One of the two sees the other.
Rule 4: records move from the spool to the index and never back. Who asks for one looks here first
and then into the index, and so never misses it.
Rule 5: a record or body that no clone could read back is refused before anything is written.
"""

import os

from blake3 import blake3

from pvc.errors import CorruptError, UsageError
from pvc.launch import disk, record, writer
from pvc.launch.refs import BODIES, below
from pvc.model.bounds import BOUNDED, MAX_BODY_BYTES, MAX_RECORD_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.place import Place
    from pvc.launch.record import Record

FOLD_AT = 256
REMEMBERED = 4096
"""Bodies that a process remembers to have synced."""


class Spool:
    """The spool of one clone."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.folder = home + "/spool"
        self.bodies = home + "/spool/b"
        self._durable: set[str] = set()
        self._unsynced: set[str] = set()

    # --- records ----------------------------------------------------------------------------

    def read(self, session: str, chain: str, n: int) -> "tuple[Record, bytes] | None":
        """Read a record that is not folded yet."""
        name = record.key(session, chain, n)
        data = disk.read(f"{self.folder}/{name}")
        return None if data is None else (record.read(data, f"{self.folder}/{name}"), data)

    def holds(self, line: bytes) -> bool:
        """Return True if a record that is not folded yet has this line."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return False
        files = (f"{self.folder}/{name}" for name in names if name != "b")
        return any(line in (disk.read(path) or b"") for path in files)

    def add(self, values: "Record", data: bytes) -> bool:
        """Write a record under its name; false when the name is taken. Durable after `sync`."""
        path = f"{self.folder}/{self._key(values)}"
        try:
            return disk.link(disk.write_temporary(self.folder, data), path)
        except FileNotFoundError:  # the folder was removed, or a sweep took a sleeper's file
            writer.make_folders(self.home)
            return disk.link(disk.write_temporary(self.folder, data), path)

    def remove(self, values: "Record") -> None:
        """Take back a record that was never acknowledged."""
        path = f"{self.folder}/{self._key(values)}"
        try:
            os.unlink(path)
        except FileNotFoundError:
            return  # a running fold dropped it for the same reason
        disk.sync_folder(self.folder)

    def sync(self) -> None:
        """Make the names of all records durable."""
        disk.sync_folder(self.folder)

    def count(self) -> int:
        """Count what waits to be folded."""
        return len(os.listdir(self.folder))

    @staticmethod
    def _key(values: "Record") -> str:
        return record.key(str(values["session"]), str(values["chain"]), int(values["n"]))

    # --- bodies -----------------------------------------------------------------------------

    def add_body(self, digest: str, data: bytes) -> None:
        """Write a body if it is not there. Durable after `sync_bodies`."""
        path = f"{self.bodies}/{digest[3:]}"
        there = disk.read(path)
        if there == data:
            if digest not in self._durable:
                self._unsynced.add(digest)
            return
        self._unsynced.add(digest)
        if there is not None:
            disk.replace(path, data)
            return
        try:
            disk.link(disk.write_temporary(self.bodies, data), path)
        except FileNotFoundError:
            writer.make_folders(self.home)
            disk.link(disk.write_temporary(self.bodies, data), path)

    def has_body(self, digest: str) -> bool:
        """Whether a body's file is there, whoever wrote it."""
        return os.path.exists(f"{self.bodies}/{digest[3:]}")

    def sync_bodies(self) -> None:
        """Make the names of all bodies durable."""
        if self._unsynced:
            disk.sync_folder(self.bodies)
            if len(self._durable) > REMEMBERED:
                self._durable.clear()  # a body that comes again is synced again, and that is all
            self._durable |= self._unsynced
            self._unsynced.clear()


def check_sizes(data: bytes, bodies: "dict[str, bytes]") -> None:
    """Refuse a record or a body that could not be read back; raises `UsageError`."""
    sizes = [("record", len(data), MAX_RECORD_BYTES)]
    sizes += [("body", len(body), MAX_BODY_BYTES) for body in bodies.values()]
    for what, size, most in sizes:
        if size > most:
            raise UsageError(f"its {what} has {size} bytes; the limit is {most}", hint=BOUNDED)


def body_path(name: str) -> str:
    """Say where the body of that name stands in a bodies ref.

    Folders of sixteen: a fold that adds one writes five small trees, however many are there.
    """
    return "/".join((*name[:4], name[4:]))


def body(place: "Place", digest: str, writer_id: str) -> bytes | None:
    """Find a body in the spool or in a bodies ref; null when it is not here."""
    name = digest[3:]
    path = f"{place.home}/spool/b/{name}"
    data = disk.read(path)
    if data is None:
        refs = [BODIES + writer_id, *sorted(set(below(place, BODIES)) - {BODIES + writer_id})]
        for ref in refs:
            path = f"{ref}:{body_path(name)}"
            data = place.git("cat-file", "blob", path)
            if data is not None:
                break
    if data is not None and blake3(data).hexdigest() != name:
        raise CorruptError(f"the body `{digest}` is damaged", at=path)
    return data
