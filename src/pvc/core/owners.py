"""Who owns each byte of one version's files, as a table that spans are looked up in.

`ops.owners` makes it from annotations; `launch.blame` reads it when a blame is warm. So both give
the same answer, and this imports nothing.

A file is pieces; a piece comes from a revision (a version that wrote a blob at a path), at an
offset there. A revision is cut in turn by the commits of the history that it was adopted from. Both
cuts together give the owner of a byte: the version, and the commit where one is known.

Rule 1: what stays in a text for a hundred versions keeps its revision, so a new version's table
is the old one with little added.
Rule 2: numbers are the machine's own and are not parsed. A table of another byte order, of another
algorithm, or one that is damaged is refused; it is made again.
Rule 3: a text holds no zero byte: in a message from elsewhere it becomes U+FFFD.
"""

from pvc.errors import CorruptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    SpanTuple = tuple[int, int, tuple[str, ...], int, str]
    Part = tuple[int, int, int, int]
    """`(start, end, version, source)` of a file; the last two are numbers, source -1 if unknown."""
    Run = tuple[int, int, tuple[str, ...], int, str, str, int, int]
    """`(start, end, origin, offset, section, blob, version, source)`; numbers are -1 if absent."""

ALGORITHM = 3
"""Changes whenever another answer may come out for the same history."""

MAGIC = b"pvc.owners/2 "
_ORDER = 0x01020304
_VERSION_FIELDS, _SOURCE_FIELDS = 7, 6
NOBODY = -1


class Table:
    """The table of one version: texts by number, and arrays of unsigned 32-bit numbers."""

    __slots__ = (
        "_ends",
        "_file_firsts",
        "_files",
        "_offsets",
        "_part_ends",
        "_part_firsts",
        "_part_sources",
        "_revision_versions",
        "_revisions",
        "_sources",
        "_texts",
        "_versions",
        "commit",
        "paths",
        "rule",
    )

    def __init__(self, body: bytes) -> None:
        """Read a table; raises `CorruptError` when its parts do not add up."""
        try:
            self._read(memoryview(body))
        except (IndexError, ValueError, TypeError):
            raise CorruptError("a table of owners is damaged") from None

    def _read(self, body: memoryview) -> None:
        head = body[:32].cast("I")
        order, algorithm, files, pieces, revisions, parts, self._versions, sources = head
        if (order, algorithm) != (_ORDER, ALGORITHM):
            raise ValueError(algorithm)
        at = 32
        arrays = []
        for count in (files + 1, pieces, pieces, pieces, revisions + 1, revisions, parts, parts):
            arrays.append(body[at : at + 4 * count].cast("I"))
            at += 4 * count
        self._file_firsts, self._ends, self._revisions, self._offsets = arrays[:4]
        self._part_firsts, self._revision_versions, self._part_ends, self._part_sources = (
            array.tolist() for array in arrays[4:]
        )
        self._texts = str(body[at:], "utf-8", "surrogateescape").split("\0")
        self.commit, self.rule = self._texts[:2]
        self.paths = {path: number for number, path in enumerate(self._texts[2 : 2 + files])}
        self._files = 2 + files  # the blobs of the files, then revisions, versions, sources
        texts = 2 + 2 * files + 2 * revisions
        texts += _VERSION_FIELDS * self._versions + _SOURCE_FIELDS * sources
        if len(self._texts) != texts or self._file_firsts[files] != pieces:
            raise ValueError(texts)
        self._sources = texts - _SOURCE_FIELDS * sources
        self._versions = self._sources - _VERSION_FIELDS * self._versions

    # --- texts ------------------------------------------------------------------------------

    def blob(self, path: str) -> str:
        """Give the id of the content at a path; raises `KeyError` where there is none."""
        return self._texts[self._files + self.paths[path]]

    def version(self, number: int) -> "tuple[str, str, int, str, str, int, str]":
        """Give `(kind, name, number, commit, author, time, reason)` of a version."""
        at = self._versions + _VERSION_FIELDS * number
        kind, name, label, commit, author, time, reason = self._texts[at : at + _VERSION_FIELDS]
        return kind, name, int(label), commit, author, int(time), reason

    def source(self, number: int) -> "tuple[str, str, str, int, str, str]":
        """Give `(commit, path, author, time, subject, label)` of a commit of a history.

        `label` is `house@3` for a version of a pack, empty for a commit of the user's.
        """
        at = self._sources + _SOURCE_FIELDS * number
        commit, path, author, time, subject, label = self._texts[at : at + _SOURCE_FIELDS]
        return commit, path, author, int(time), subject, label

    def revisions(self) -> "Iterator[tuple[str, str, str, list[tuple[int, int]]]]":
        """Give `(version's commit, path, blob, [(end, source)])` of each revision."""
        at = self._files + len(self.paths)
        for number, version in enumerate(self._revision_versions):
            first, last = self._part_firsts[number], self._part_firsts[number + 1]
            parts = zip(self._part_ends[first:last], self._part_sources[first:last], strict=True)
            path, blob = self._texts[at + 2 * number : at + 2 * number + 2]
            cut = [(end, source - 1) for end, source in parts]
            yield self.version(version)[3], path, blob, cut

    # --- owners -----------------------------------------------------------------------------

    def parts(self, path: str, start: int, end: int) -> "Iterator[Part]":
        """Cut a range of a file by its owners; raises `KeyError` where there is no such file."""
        number = self.paths[path]
        low, high = self._file_firsts[number], self._file_firsts[number + 1]
        piece = _after(self._ends, start, low, high)
        begin = self._ends[piece - 1] if piece > low else 0
        columns = (self._ends, self._revisions, self._offsets)
        firsts, ends, sources = self._part_firsts, self._part_ends, self._part_sources
        for till, revision, origin in zip(*(c[piece:high].tolist() for c in columns), strict=True):
            if start >= end:
                return
            size, offset = min(till, end) - start, origin + start - begin
            version, first = self._revision_versions[revision], firsts[revision]
            if firsts[revision + 1] == first + 1 and ends[first] - offset >= size:
                yield start, start + size, version, sources[first] - 1  # one commit wrote it all
                start += size
            else:
                for some, source in self._cut(revision, offset, size):
                    yield start, start + some, version, source
                    start += some
            begin = till

    def _cut(self, revision: int, offset: int, size: int) -> "Iterator[tuple[int, int]]":
        """Cut bytes of a revision by the commits that wrote them: `(size, source)`."""
        low, high = self._part_firsts[revision], self._part_firsts[revision + 1]
        part = _after(self._part_ends, offset, low, high)
        while size and part < high:
            here = min(self._part_ends[part] - offset, size)
            yield here, self._part_sources[part] - 1
            offset += here
            size -= here
            part += 1
        if size:  # nobody but the version is known
            yield size, NOBODY

    def runs(self, spans: "Iterable[SpanTuple]", start: int, end: int) -> "list[Run]":
        """Cut the spans of a prompt, between two bytes of it, by the owners of their bytes."""
        out: list[Run] = []
        for first, last, origin, offset, section in spans:
            a, b = max(first, start), min(last, end)
            if a >= b:
                continue
            if origin[0] == "glue":
                rule = ("glue", f"{self.rule}/{origin[1]}")
                out.append((a, b, rule, 0, section, "", NOBODY, NOBODY))
                continue
            owned = self._owned(a, b, origin, offset + a - first, section)
            if out and owned and _continues(out[-1], owned[0]):
                before = out.pop()
                owned[0] = (before[0], owned[0][1], *before[2:])
            out += owned
        return out

    def _owned(
        self, start: int, end: int, origin: "tuple[str, ...]", offset: int, section: str
    ) -> "list[Run]":
        kind = origin[0]
        if kind == "source":
            return self._from_file(start, end, origin, offset, section)
        version = NOBODY
        if kind == "binding" and origin[3]:  # the placeholder's version; a bare value has none
            at = int(origin[4])
            for part in self.parts(origin[3], at, at + 1):
                version = part[2]
        return [(start, end, origin, offset, section, "", version, NOBODY)]

    def _from_file(
        self, start: int, end: int, origin: "tuple[str, ...]", offset: int, section: str
    ) -> "list[Run]":
        """Cut a span that stands in a file from `offset` on; neighbours of one owner are one."""
        out: list[Run] = []
        path = origin[1]
        blob, by = self.blob(path), start - offset
        parts = self.parts(path, offset, offset + end - start)
        begin, stop, version, source = next(parts, (offset, offset, NOBODY, NOBODY))
        for a, b, of, written in parts:
            if of != version or written != source:
                run = (begin + by, stop + by, origin, begin, section, blob, version, source)
                out.append(run)
                begin, version, source = a, of, written
            stop = b
        if begin < stop:
            out.append((begin + by, stop + by, origin, begin, section, blob, version, source))
        return out


def _continues(a: "Run", b: "Run") -> bool:
    """Whether `b` is the same text from the same commits, going on where `a` ends."""
    return a[2] == b[2] and a[4:] == b[4:] and a[3] + a[1] - a[0] == b[3]


def _after(ends: "Sequence[int]", at: int, low: int, high: int) -> int:
    """Bisect for the first of ascending ends that lies behind `at`."""
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= at:
            low = middle + 1
        else:
            high = middle
    return low


def dump(
    commit: str,
    rule: str,
    files: "Sequence[tuple[str, str, Sequence[tuple[int, int, int]]]]",
    revisions: "Sequence[tuple[int, str, str, Sequence[tuple[int, int]]]]",
    versions: "Sequence[tuple[object, ...]]",
    sources: "Sequence[tuple[object, ...]]",
) -> bytes:
    """Write a table.

    A file is `(path, blob, [(end, revision, offset)])`, a revision `(version, path, blob, [(end,
    source)])`; versions and sources are as `Table.version` and `Table.source` give them.
    """
    pieces = [piece for _, _, own in files for piece in own]
    parts = [part for _, _, _, own in revisions for part in own]
    counts = (len(files), len(pieces), len(revisions), len(parts), len(versions), len(sources))
    numbers = [
        [_ORDER, ALGORITHM, *counts],
        _firsts([own for _, _, own in files]),
        *([piece[k] for piece in pieces] for k in range(3)),
        _firsts([own for _, _, _, own in revisions]),
        [version for version, _, _, _ in revisions],
        [end for end, _ in parts],
        [source + 1 for _, source in parts],
    ]
    texts: list[object] = [commit, rule]
    texts += [path for path, _, _ in files] + [blob for _, blob, _ in files]
    for row in (*((path, blob) for _, path, blob, _ in revisions), *versions, *sources):
        texts += row
    joined = "\0".join([str(text).replace("\0", "\ufffd") for text in texts])
    flat = [number for some in numbers for number in some]
    data = memoryview(bytearray(4 * len(flat)))
    whole = data.cast("I")
    for at, number in enumerate(flat):
        whole[at] = number
    return bytes(data) + joined.encode("utf-8", "surrogateescape")


def _firsts(parts: "Sequence[Sequence[object]]") -> list[int]:
    out = [0]
    for part in parts:
        out.append(out[-1] + len(part))
    return out
