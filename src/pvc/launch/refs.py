"""Refs read from files: loose, else packed by bisection, else by asking git.

Rule 1: a loose ref stands above a packed one, a damaged one too: what stands below it is older,
and going on from there would forget pins and versions.
Rule 2: a large `packed-refs` is never read whole: its lines are sorted by name, which its first
line promises; without the promise it is walked.
Rule 3: loose refs are read first: `git pack-refs` writes a ref into `packed-refs` before it takes
its file away, so that who looks in this order misses none.
Rule 4: what these files do not say (a reftable, a symbolic ref, a name that is nowhere) is asked of
git, so that only a missing name is slow.
"""

import os

from pvc.errors import CorruptError, NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

    from pvc.launch.place import Place

    Packed = bytes | mmap.mmap

TREES = "refs/pvc/trees/"
CHANNELS = "refs/pvc/channels/"
PINS = "refs/pvc/pins/"
BODIES = "refs/pvc/bodies/"
REMOTES = "refs/pvc/remotes/"
_OID_LENGTHS = (40, 64)
_HEX = b"0123456789abcdef"
_ASK_GIT = ""
_MAPPED_BYTES = 1 << 16
"""From this size on `packed-refs` is mapped; below, reading it is quicker than importing `mmap`."""


def read(place: "Place", name: str) -> str | None:
    """Read the commit that a ref names, or null."""
    if not place.is_reftable:
        oid = _loose(place, name)
        if oid is None:
            oid = dict(_packed(place, name)).get(name)
        if oid:
            return oid
    return _resolved(place, name)


def below(place: "Place", prefix: str) -> dict[str, str]:
    """Read all refs directly below `prefix`, which ends in `/`."""
    if place.is_reftable:
        said = place.git("for-each-ref", "--format=%(refname) %(objectname)", prefix) or b""
        return dict(_pair(line) for line in said.decode().splitlines())
    loose = {}
    try:
        names = os.listdir(f"{place.common_dir}/{prefix}")
    except FileNotFoundError:
        names = []
    for name in names:
        is_ref = not name.startswith(".") and not name.endswith(".lock")
        oid = _loose(place, prefix + name) if is_ref else None
        if oid == _ASK_GIT:
            oid = _resolved(place, prefix + name)
        if oid:
            loose[prefix + name] = oid
    return dict(_packed(place, prefix)) | loose


def ledgers(place: "Place") -> dict[str, str]:
    """Read the tips of all ledgers, this clone's and those that a sync brought."""
    if place.is_reftable:
        said = place.git("for-each-ref", "--format=%(refname) %(objectname)", PINS, REMOTES) or b""
        found = dict(_pair(line) for line in said.decode().splitlines())
        return {name: oid for name, oid in found.items() if _is_ledger(name)}
    refs = {}
    root = f"{place.common_dir}/{REMOTES}"
    for folder, folders, _ in os.walk(root):
        if folder.endswith(("/pins", "/inbox")):
            folders.clear()
            refs.update(below(place, f"{REMOTES}{folder[len(root) :]}/"))
    packed = {name: oid for name, oid in _packed(place, REMOTES) if _is_ledger(name)}
    return below(place, PINS) | packed | refs


def gone(name: str, oid: str) -> NotFoundError:
    """Say that a ref names a commit that is not here, and the ways out."""
    return NotFoundError(
        f"ref `{name}` names {oid}, which is not in this repository",
        hint=f"`git update-ref -d {name}`, then `pvc sync` brings the remote's;"
        " `git fsck` lists what else it may have named",
    )


def _is_ledger(name: str) -> bool:
    return "/pins/" in name or "/inbox/" in name


def _resolved(place: "Place", name: str) -> str | None:
    said = place.git("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return said.decode().strip("\n") if said else None


def back(place: "Place", oid: str, steps: int) -> str | None:
    """Go `steps` first parents back from a commit."""
    if steps == 0:
        return oid
    said = place.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{oid}~{steps}")
    return said.decode().strip("\n") if said else None


def _pair(line: str) -> tuple[str, str]:
    name, _, oid = line.partition(" ")
    return name, oid


def _loose(place: "Place", name: str) -> str | None:
    """Read a ref's own file: null when there is none, `_ASK_GIT` for a symbolic one."""
    path = f"{place.common_dir}/{name}"
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read(80).rstrip(b"\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return _ASK_GIT if data.startswith(b"ref:") else _oid(data, name, path)


def _oid(data: bytes, name: str, path: str) -> str:
    if len(data) not in _OID_LENGTHS or data.strip(_HEX):
        raise damaged(name, path)
    return data.decode()


def damaged(name: str, path: str) -> CorruptError:
    """Make the error of a ref's file that names no object."""
    return CorruptError(
        f"ref `{name}` is damaged",
        at=path,
        hint="`git fsck` says which commits it may have named; `pvc sync` brings shared ones",
    )


def _packed(place: "Place", prefix: str) -> "Iterator[tuple[str, str]]":
    """Give the packed refs whose name starts with `prefix`, in order."""
    try:
        file = open(f"{place.common_dir}/packed-refs", "rb", buffering=0)  # noqa: SIM115 - below
    except FileNotFoundError:
        return
    with file:
        if os.fstat(file.fileno()).st_size < _MAPPED_BYTES:
            found = list(_matching(file.readall(), prefix))
        else:
            import mmap

            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = list(_matching(data, prefix))
    for raw, oid in found:
        name = os.fsdecode(raw)
        yield name, _oid(oid, name, file.name)


def _matching(data: "Packed", prefix: str) -> "Iterator[tuple[bytes, bytes]]":
    start = data.find(b"\n") + 1 if data[:1] == b"#" else 0
    if b" sorted" in data[:start]:
        yield from _lines(data, _first(data, start, prefix), prefix, is_sorted=True)
    else:
        yield from _lines(data, start, prefix, is_sorted=False)


def _lines(
    data: "Packed", at: int, prefix: str, *, is_sorted: bool
) -> "Iterator[tuple[bytes, bytes]]":
    wanted = prefix.encode()
    while at < len(data):
        end = _line_end(data, at)
        oid, _, name = data[at:end].partition(b" ")
        if name.startswith(wanted):
            yield name, oid
        elif is_sorted and name > wanted:
            return
        at = end + 1


def _first(data: "Packed", low: int, prefix: str) -> int:
    """Bisect for the start of the first line whose name is not below `prefix`."""
    wanted, high = prefix.encode(), len(data)
    while low < high:
        middle = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        if data[middle] == 0x5E:  # `^`: what the tag on the line before points to
            if middle == low:
                low = _line_end(data, middle) + 1
                continue
            middle = data.rfind(b"\n", low, middle - 1) + 1 or low
        end = _line_end(data, middle)
        if data[middle:end].partition(b" ")[2] < wanted:
            low = end + 1
        else:
            high = middle
    return low


def _line_end(data: "Packed", at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end
