"""Who had it before: text that was put back, and values that an earlier session had.

Rule 1: for a text, the version that had those bytes when its file had the same content before.
Rule 2: for a value, the first pin of the tree that had it, in the order of time. Where the values
of an older pin are not in this clone, it is not known which was the first: `unknown`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pvc.core.blame import first
from pvc.core.json_text import parse_stored
from pvc.model.span import FromBinding, FromSource
from pvc.store.annotations import Annotations
from pvc.store.bodies import read_body
from pvc.store.history import GitHistory
from pvc.store.ledger import Ledger
from pvc.store.versions import at_commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.blame import Run
    from pvc.core.json_text import Value
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.ops.blame import BlameRun
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

UNKNOWN = "unknown"


def with_first(
    repo: Repository, version: VersionInfo, pin: Pin | None, runs: Iterable[BlameRun]
) -> tuple[BlameRun, ...]:
    """Add to each run who had its bytes before; what nobody had stays as it is."""
    runs = tuple(runs)
    texts = _Texts(repo, version, runs)
    values = _Values(repo, version.name, pin) if pin else None
    out = []
    for run in runs:
        found: object = None
        match run.origin:
            case FromSource():
                found = texts.of(run) or None
            case FromBinding(pointer=pointer) if values:
                found = values.of(pointer)
        out.append(replace(run, first=found))
    return tuple(out)


class _Texts:
    """Text that was put back, by file of the version."""

    def __init__(self, repo: Repository, version: VersionInfo, runs: Iterable[BlameRun]) -> None:
        self._repo = repo
        chain = Annotations(repo).at(version.id)
        paths = dict.fromkeys(r.origin.path for r in runs if isinstance(r.origin, FromSource))
        self._runs = {path: chain.runs(path) for path in paths}
        every = [run for some in self._runs.values() for run in some]
        self._earlier = first(GitHistory(repo, version.id), every)

    def of(self, run: BlameRun) -> list[dict[str, object]]:
        assert isinstance(run.origin, FromSource)  # noqa: S101  # asked for these alone
        low, high = run.origin.offset, run.origin.offset + run.end - run.start
        commits = dict.fromkeys(
            before.commit
            for own in self._overlapping(run.origin.path, low, high)
            for before in self._earlier.get(own, ())
            if before.start < high and before.end > low
        )
        infos = [at_commit(self._repo, commit) for commit in commits]
        return [{"version": info.number, "commit": info.id} for info in infos]

    def _overlapping(self, path: str, low: int, high: int) -> Iterator[Run]:
        return (run for run in self._runs[path] if run.start < high and run.end > low)


class _Values:
    """The values of a tree's pins, oldest first; each distinct environment is read once."""

    def __init__(self, repo: Repository, tree: str, pin: Pin) -> None:
        self._repo = repo
        self._own = self._environment(pin.environment)
        pins = Ledger(repo).newest(None, tree)
        oldest = {p.environment: p for p in pins if not p.observed}  # the last put in is the oldest
        self._pins = sorted(oldest.values(), key=lambda p: p.time)

    def of(self, pointer: str) -> object:
        """Give the first pin whose environment has the same value there."""
        wanted = _at(self._own, pointer)
        for pin in self._pins:
            environment = self._environment(pin.environment)
            if environment is None:
                return UNKNOWN
            if _at(environment, pointer) == wanted:
                return {"session": pin.session, "receipt": pin.receipt, "time": pin.time}
        return UNKNOWN

    def _environment(self, digest: Digest | None) -> Value:
        data = read_body(self._repo, digest) if digest else b"{}"
        return None if data is None else parse_stored(data, "a body of values")


def _at(value: Value, pointer: str) -> Value:
    """Follow a JSON pointer; null where it leads nowhere."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
