"""The table of owners of one version: made from annotations, kept, read back.

The chain of versions says which version introduced a byte; the history that the version was adopted
from says which commit wrote it.

Rule 1: that history answers only where it holds the very blob that was adopted; else the version
alone answers (DESIGN §3). A pack's text is answered by the pack's own chain in the same way.
Rule 2: what a byte's revision is owes nothing to later versions, so a new table takes over what the
nearest kept one knows of each revision.
Rule 3: a table in which some history could not be asked, because it is not in this clone, is not
kept: a fetch may bring it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.core.annotation import OFFSET_BITS, OFFSET_MASK
from pvc.core.owners import NOBODY, Table, dump
from pvc.errors import CorruptError, DecodeError
from pvc.launch import tables
from pvc.model.names import CommitId
from pvc.model.toml_text import parse_toml
from pvc.store.annotations import Annotations
from pvc.store.entries import RESERVED
from pvc.store.history import is_complete
from pvc.store.records import keep_derived
from pvc.store.versions import at_commit, pack_commits, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.annotation import Annotation, Revision
    from pvc.core.blame import Options, Watch
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

PACKS = f"{RESERVED}/packs/"

Place = tuple[CommitId, str, str]
"""`(commit, folder, path)`: where the file of a version was taken from."""
Parts = list[tuple[int, int]]
"""`(end, source)`: a revision, cut by the commits that wrote it."""


def table_of(
    repo: Repository,
    version: VersionInfo,
    options: Options | None = None,
    watch: Watch | None = None,
) -> Table:
    """Give the table of a version: as it was kept, else made anew.

    One with other options than the default is not kept; the annotations that it is made of are.
    """
    known = tables.read(str(repo.common_dir), version.id) if options is None else None
    if known is not None:
        return known
    maker = _Maker(repo, version, options, watch)
    body = maker.table()
    if maker.is_whole and options is None:
        path = repo.common_dir / tables.FOLDER / str(version.id)
        keep_derived(path, tables.sealed(body))
    return Table(body)


@dataclass(slots=True)
class _Maker:
    """One table in the making: its texts so far, each with its number."""

    repo: Repository
    version: VersionInfo
    options: Options | None
    watch: Watch | None
    is_whole: bool = True
    _infos: dict[CommitId, VersionInfo] = field(default_factory=dict)
    _versions: dict[CommitId, int] = field(default_factory=dict)
    _sources: dict[tuple[str, ...], int] = field(default_factory=dict)
    _rows: list[tuple[object, ...]] = field(default_factory=list)
    _packs: dict[CommitId, dict[str, CommitId]] = field(default_factory=dict)

    def table(self) -> bytes:
        chain = self._annotations().at(self.version.id)
        live = _live(chain)
        parts = self._parts([chain.revisions[number] for number in live])
        new = {old: number for number, old in enumerate(live)}
        files = []
        for path in chain.paths:
            pieces = chain.files[path]
            rows = [
                (end, new[origin >> OFFSET_BITS], origin & OFFSET_MASK)
                for end, origin in zip(pieces.ends, pieces.origins, strict=True)
            ]
            files.append((path, pieces.blob, rows))
        revisions = [
            (self._version(revision.commit), revision.path, revision.blob, cut)
            for revision, cut in parts.items()
        ]
        versions = [_version_row(self._info(commit)) for commit in self._versions]
        return dump(self.version.id, self._rule(), files, revisions, versions, self._rows)

    def _annotations(self, folder: str = "", *, graph: bool = False) -> Annotations:
        return Annotations(self.repo, folder, graph=graph, options=self.options, watch=self.watch)

    def _parts(self, revisions: list[Revision]) -> dict[Revision, Parts]:
        """Cut every revision by the commits that wrote it; in the same order."""
        known = self._known()
        out: dict[Revision, Parts] = {}
        asked: dict[tuple[str, bool], list[tuple[Revision, Place]]] = {}
        for revision in revisions:
            had = known.get((revision.commit, revision.path, revision.blob))
            out[revision] = [(end, self._source(row)) for end, row in had or ()]
            place = self._place(revision) if had is None else None
            if place is not None:
                is_pack = revision.path.startswith(PACKS)
                asked.setdefault((place[1], is_pack), []).append((revision, place))
        for (folder, is_pack), some in asked.items():
            history = self._annotations(folder, graph=not is_pack)
            out |= dict(self._asked(history, folder, some, is_pack=is_pack))
        return out

    def _asked(
        self,
        history: Annotations,
        folder: str,
        some: list[tuple[Revision, Place]],
        *,
        is_pack: bool,
    ) -> Iterator[tuple[Revision, Parts]]:
        """Ask one history for the commits that wrote some revisions."""
        newest_first = sorted(some, key=lambda one: -self._info(one[0].commit).number)
        tips = [place[0] for _, place in newest_first]
        here = {tip: is_complete(self.repo, tip) for tip in dict.fromkeys(tips)}
        self.is_whole = self.is_whole and all(here.values())
        states = history.at_each(tip for tip in here if here[tip])
        for revision, (tip, _, path) in some:
            state = states.get(tip)
            if state and path in state.files and state.blob_of(path) == revision.blob:
                runs = state.runs(path)
                yield (
                    revision,
                    [(r.end, self._writer(r.commit, folder, r.path, is_pack)) for r in runs],
                )

    def _known(self) -> dict[tuple[str, str, str], list[tuple[int, tuple[object, ...] | None]]]:
        """Read what the nearest kept table of an older version says of each revision."""
        kept = tables.names(str(self.repo.common_dir))
        usable = kept and self.options is None
        for commit in self.repo.first_parents(self.version.id) if usable else ():
            table = tables.read(str(self.repo.common_dir), commit.id) if commit.id in kept else None
            if table:
                return {
                    (version, path, blob): [
                        (end, None if source == NOBODY else table.source(source))
                        for end, source in parts
                    ]
                    for version, path, blob, parts in table.revisions()
                }
        return {}

    # --- numbers ----------------------------------------------------------------------------

    def _version(self, commit: CommitId) -> int:
        return self._versions.setdefault(commit, len(self._versions))

    def _info(self, commit: CommitId) -> VersionInfo:
        if commit not in self._infos:
            self._infos[commit] = at_commit(self.repo, commit)
        return self._infos[commit]

    def _writer(self, commit: CommitId, folder: str, path: str, is_pack: bool) -> int:  # noqa: FBT001 - of `_asked`
        """Give the number of a commit of the history; `path` is below `folder`."""
        whole = f"{folder}/{path}" if folder else path
        key = (commit, whole)
        if key not in self._sources:
            self._number(key, source_row(self.repo, commit, whole, is_pack=is_pack))
        return self._sources[key]

    def _source(self, row: tuple[object, ...] | None) -> int:
        """Give the number of a commit that an older table knew."""
        if row is None:
            return NOBODY
        key = (str(row[0]), str(row[1]))
        if key not in self._sources:
            self._number(key, row)
        return self._sources[key]

    def _number(self, key: tuple[str, ...], row: tuple[object, ...]) -> None:
        self._sources[key] = len(self._rows)
        self._rows.append(row)

    # --- places -----------------------------------------------------------------------------

    def _place(self, revision: Revision) -> Place | None:
        """Find the commit, folder and path that a file of a version was taken from."""
        info, path = self._info(revision.commit), revision.path
        if not path.startswith(PACKS):
            return None if info.source is None else (info.source, info.source_path, path)
        pack, _, inner = path.removeprefix(PACKS).partition("/")
        if info.id not in self._packs:
            self._packs[info.id] = pack_commits(self.repo, info)
        commit = self._packs[info.id].get(pack)
        return None if commit is None else (commit, "", inner)

    def _rule(self) -> str:
        """Name the rendering rule: form and number, as the version's lock has them."""
        lock = f"{RESERVED}/lock.toml"
        entry = next((e for p, e in walk(self.repo, self.version.tree) if p == lock), None)
        if entry is None:
            return ""
        try:
            values = parse_toml(self.repo.blob(entry.oid), lock)
            return f"{values['form']}/{values['rule']}"
        except (DecodeError, KeyError) as error:
            raise CorruptError(f"the lock of `{self.version.label}` is damaged: {error}") from None


def _live(chain: Annotation) -> list[int]:
    """List the revisions that any byte comes from, in the order of the files."""
    files: Iterable[str] = chain.paths
    return list(
        dict.fromkeys(o >> OFFSET_BITS for path in files for o in chain.files[path].origins)
    )


def _version_row(info: VersionInfo) -> tuple[object, ...]:
    kind = info.kind
    who, when = str(info.author), info.time.seconds
    return kind, info.name, info.number, info.id, who, when, info.reason


def source_row(
    repo: Repository, oid: CommitId, path: str, *, is_pack: bool = False
) -> tuple[str, str, str, int, str, str]:
    """Read who wrote a commit of a history, its subject, and which version of a pack it is."""
    commit = repo.commit(oid)
    subject = commit.message.split("\n", 1)[0]
    label = at_commit(repo, oid).label if is_pack else ""
    return oid, path, str(commit.author), commit.time.seconds, subject, label
