"""Which versions carried a phrase in their rendered text: `pvc log -S PHRASE`.

Rule 1: a version that renders with the values that were given is rendered, and what its reader
would see is searched, joints and trimming included. For one that needs more values the source texts
are searched instead, and the answer says so: a placeholder's value is not in them.
Rule 2: "carries" is a state, not a change: every version that has the phrase is listed, and between
the first and the last seen there may be versions without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.compile import compile_pack
from pvc.core.program import run as run_program
from pvc.errors import UsageError
from pvc.ops.log import version_json
from pvc.ops.programs import pack_of
from pvc.ops.select import select_version
from pvc.store.versions import chain, names, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.core.blame import Watch
    from pvc.model.names import ObjectId
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class Carrier:
    """A version that has the phrase `count` times; `where` is `prompt` or `sources`."""

    version: VersionInfo
    count: int
    where: str


@dataclass(frozen=True, slots=True)
class PhraseLog:
    """The versions that carry a phrase, newest first, of one tree or of all."""

    phrase: str
    carriers: tuple[Carrier, ...]
    searched: int

    @property
    def spans(self) -> dict[str, tuple[VersionInfo, VersionInfo]]:
        """First and last version of each tree that carries it."""
        out: dict[str, tuple[VersionInfo, VersionInfo]] = {}
        for carrier in self.carriers:
            name = carrier.version.name
            out[name] = (carrier.version, out.get(name, (None, carrier.version))[1])
        return out

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.phrase/1`."""
        return {
            "schema": "pvc.phrase/1",
            "phrase": self.phrase,
            "searched": self.searched,
            "trees": {
                name: {"first": first.number, "last": last.number}
                for name, (first, last) in self.spans.items()
            },
            "versions": [
                {**version_json(c.version), "count": c.count, "where": c.where}
                for c in self.carriers
            ],
        }


def phrase_log(
    repo: Repository,
    phrase: str,
    tree: str | None,
    environment: Mapping[str, object],
    watch: Watch | None = None,
) -> PhraseLog:
    """Search the versions of one tree, or of all; raises `NotFoundError` where it is not here."""
    if not phrase:
        raise UsageError("an empty phrase is everywhere", hint="-S 'some words'")
    wanted = phrase.encode("utf-8", "surrogateescape")
    trees = names(repo, "trees") if tree is None else (select_version(repo, tree).name,)
    versions = [version for name in trees for version in chain(repo, "trees", name)]
    seen: dict[ObjectId, tuple[int, str]] = {}
    found = []
    for number, version in enumerate(versions):
        if watch:
            watch(number, len(versions))
        if version.tree not in seen:
            seen[version.tree] = _count(repo, version, wanted, environment)
        count, where = seen[version.tree]
        if count:
            found.append(Carrier(version, count, where))
    return PhraseLog(phrase, tuple(found), len(versions))


def _count(
    repo: Repository, version: VersionInfo, wanted: bytes, environment: Mapping[str, object]
) -> tuple[int, str]:
    """Count the phrase in a version: in its prompt, else in its sources."""
    try:
        data, _, _ = run_program(compile_pack(pack_of(repo, version)), environment)
    except UsageError:  # the values that were given do not fit this version
        return sum(text.count(wanted) for text in _texts(repo, version)), "sources"
    return data.count(wanted), "prompt"


def _texts(repo: Repository, version: VersionInfo) -> Iterator[bytes]:
    """Give the source texts, without what only pvc reads."""
    for source in sources(repo, version):
        if not source.path.endswith((".pvc/lock.toml", "pvc.toml")):
            yield source.data
