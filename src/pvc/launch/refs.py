"""Refs read from files: loose, else packed by bisection, else by asking git.

Rule 1: a loose ref stands above a packed one.
Rule 2: a large `packed-refs` is never read whole: its lines are sorted by name, which its first
line promises; without the promise it is walked.
Rule 3: what these files do not say (a reftable, a symbolic ref, a name that is nowhere) is asked of
git, so that only a missing name is slow.
"""

import os

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
_OID_LENGTHS = (40, 64)
_MAPPED_BYTES = 1 << 16
"""From this size on `packed-refs` is mapped; below, reading it is quicker than importing `mmap`."""


def read(place: "Place", name: str) -> str | None:
    """Read the commit that a ref names, or null."""
    if not place.is_reftable:
        oid = _loose(place, name) or dict(_packed(place, name)).get(name)
        if oid:
            return oid
    said = place.git("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return said.decode().strip("\n") if said else None


def below(place: "Place", prefix: str) -> dict[str, str]:
    """Read all refs directly below `prefix`, which ends in `/`."""
    if place.is_reftable:
        said = place.git("for-each-ref", "--format=%(refname) %(objectname)", prefix) or b""
        return dict(_pair(line) for line in said.decode().splitlines())
    refs = dict(_packed(place, prefix))
    try:
        names = os.listdir(f"{place.common_dir}/{prefix}")
    except FileNotFoundError:
        return refs
    for name in names:
        oid = None if name.endswith(".lock") else _loose(place, prefix + name)
        if oid:
            refs[prefix + name] = oid
    return refs


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
    try:
        with open(f"{place.common_dir}/{name}", "rb", buffering=0) as file:
            oid = file.read(80).rstrip(b"\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return oid.decode() if len(oid) in _OID_LENGTHS else None


def _packed(place: "Place", prefix: str) -> "Iterator[tuple[str, str]]":
    """Give the packed refs whose name starts with `prefix`, in order."""
    try:
        file = open(f"{place.common_dir}/packed-refs", "rb", buffering=0)  # noqa: SIM115 - below
    except FileNotFoundError:
        return
    with file:
        if os.fstat(file.fileno()).st_size < _MAPPED_BYTES:
            yield from _matching(file.readall(), prefix)
            return
        import mmap

        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _matching(data, prefix)


def _matching(data: "Packed", prefix: str) -> "Iterator[tuple[str, str]]":
    start = data.find(b"\n") + 1 if data[:1] == b"#" else 0
    if b" sorted" in data[:start]:
        yield from _lines(data, _first(data, start, prefix), prefix, is_sorted=True)
    else:
        yield from _lines(data, start, prefix, is_sorted=False)


def _lines(data: "Packed", at: int, prefix: str, *, is_sorted: bool) -> "Iterator[tuple[str, str]]":
    wanted = prefix.encode()
    while at < len(data):
        end = _line_end(data, at)
        oid, _, name = data[at:end].partition(b" ")
        if name.startswith(wanted):
            yield name.decode(), oid.decode()
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
