"""Which version of which tree an observed text comes from, byte by byte.

    text ──► lines of every version's files ──► the nearest versions ──► core.align ──► layers
             (one look per distinct file)        (newest first)

Rule 1: any version counts, not the newest alone: a text is compared with those that have most of
its lines, and what the best of them leaves over is looked for in all others, newest first.
Rule 2: a text of which next to nothing stands in a tree is of none; the nearest names are said.
Rule 3: the answer is spans over versions, so that blame goes on from there as for a pin.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pvc.core.align import Aligned, Lines, align
from pvc.core.compile import compile_pack
from pvc.errors import DecodeError, NotFoundError
from pvc.model.span import FromSource, Rendered, Span, Unversioned
from pvc.ops.programs import pack_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.blame import Step
    from pvc.model.names import CommitId, ObjectId
    from pvc.ops.blame import BlameRun
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

MOST_TRIED = 4
"""How many versions of a tree are compared with the whole text."""
LEAST_BYTES = 48
"""A text that shares fewer bytes of whole lines with a tree does not come from it."""
LONG_LINE = 16
"""A left-over line must be so long to be looked for in other versions."""
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Layer:
    """A version and the spans of the text that stand in it; the rest is unversioned."""

    version: VersionInfo
    rendered: Rendered

    @property
    def share(self) -> float:
        """The part of the text that stands in the version, values and joints included."""
        size = len(self.rendered.data)
        held = sum(len(s) for s in self.rendered.spans if not isinstance(s.origin, Unversioned))
        return held / size if size else 0.0


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a text was made of; `nearest` names trees and their share of its words if it is none."""

    text: bytes
    layers: tuple[Layer, ...] = ()
    nearest: tuple[tuple[str, float], ...] = ()

    def layer_at(self, at: int) -> Layer | None:
        """Find the layer that accounts for a byte; null when it is unversioned."""
        for layer in self.layers:
            if not isinstance(layer.rendered.span_at(at).origin, Unversioned):
                return layer
        return None


def attribute(repo: Repository, text: bytes, tree: str | None = None) -> Attribution:
    """Find the versions that a text is made of, among those of `tree` or of all trees."""
    from pvc.store.versions import names

    known = names(repo, "trees")
    if tree is not None and tree not in known:
        raise NotFoundError(f"no tree `{tree}` here", hint=", ".join(known) or "pvc init")
    lines = Lines(text)
    histories = [_History.of(repo, name, lines) for name in ([tree] if tree else known)]
    ranked = sorted(histories, key=lambda history: history.best, reverse=True)
    if not text or not ranked or ranked[0].best < min(LEAST_BYTES, max(1, len(text) // 2)):
        return Attribution(text, nearest=_nearest(repo, text, [h.tree for h in histories]))
    layers = list(_layers(repo, ranked[0], text))
    return Attribution(text, tuple(layers))


# --- the nearest versions -------------------------------------------------------------------


@dataclass(slots=True)
class _History:
    """A tree's versions, oldest first, and how many bytes of each stand in the text, or do not."""

    tree: str
    steps: tuple[Step, ...]
    scores: list[tuple[int, int]]

    @classmethod
    def of(cls, repo: Repository, tree: str, lines: Lines) -> _History:
        """Read each distinct file once."""
        from pvc.store.history import GitHistory
        from pvc.store.versions import tip

        newest = tip(repo, "trees", tree)
        assert newest is not None  # noqa: S101  # `names` listed it
        history = GitHistory(repo, newest.id)
        counts: dict[ObjectId | None, tuple[int, int]] = {None: (0, 0)}
        shared = lacking = 0
        scores: list[tuple[int, int]] = []
        steps = history.steps()
        for step in steps:
            for change in step.changes:
                for oid, sign in ((change.old, -1), (change.new, 1)):
                    if oid not in counts:
                        counts[oid] = lines.shared(history.blob(oid)) if oid else (0, 0)
                    shared += sign * counts[oid][0]
                    lacking += sign * counts[oid][1]
            scores.append((shared, -lacking))
        return cls(tree, steps, scores)

    @property
    def best(self) -> int:
        """Bytes of the text's lines that the nearest version has."""
        return max((score[0] for score in self.scores), default=0)

    def nearest(self) -> list[CommitId]:
        """Give versions by nearness, the newest first among equals; equal ones are given once."""
        order = sorted(range(len(self.steps)), key=lambda i: (self.scores[i], i), reverse=True)
        found: list[CommitId] = []
        seen: set[tuple[int, int]] = set()
        for i in order:
            if self.scores[i] not in seen:
                seen.add(self.scores[i])
                found.append(self.steps[i].commit)
        return found


def _layers(repo: Repository, history: _History, text: bytes) -> Iterator[Layer]:
    """Give the version that accounts for most of the text, then others for what it leaves."""
    from pvc.store.versions import at_commit

    best: tuple[int, int] | None = None
    chosen: tuple[VersionInfo, Aligned] | None = None
    for commit in history.nearest()[:MOST_TRIED]:
        version = at_commit(repo, commit)
        try:
            aligned = align(compile_pack(pack_of(repo, version)), text)
        except DecodeError:  # an old version that this pvc cannot read accounts for nothing
            continue
        rank = (aligned.source_bytes, -aligned.unused)
        if best is None or rank > best:
            best, chosen = rank, (version, aligned)
        if not aligned.stray_bytes and not aligned.unused:
            break
    if chosen is None:
        return
    yield Layer(chosen[0], chosen[1].rendered)
    yield from _left_over(repo, history, text, chosen[1].rendered)


# --- what the best version leaves over -------------------------------------------------------


def _left_over(
    repo: Repository, history: _History, text: bytes, rendered: Rendered
) -> Iterator[Layer]:
    """Look for stray lines in all other versions, newest first."""
    from pvc.store.history import GitHistory
    from pvc.store.versions import at_commit

    wanted = dict(_stray_lines(text, rendered))
    reader = GitHistory(repo, history.steps[-1].commit)
    for step in reversed(history.steps):
        spans: list[Span] = []
        for change in step.changes:
            if not wanted or change.new is None:
                continue
            data = reader.blob(change.new)
            for line, place in _lines(data):
                if line in wanted:
                    spans += [
                        Span(at, at + len(line), FromSource(change.path, "", place))
                        for at in wanted.pop(line)
                    ]
        if spans:
            yield Layer(at_commit(repo, step.commit), _tiled(text, spans))


def _stray_lines(text: bytes, rendered: Rendered) -> Iterator[tuple[bytes, list[int]]]:
    """Give the long lines that lie whole in unversioned bytes, and where they stand."""
    found: dict[bytes, list[int]] = {}
    for span in rendered.spans:
        if isinstance(span.origin, Unversioned):
            for line, place in _lines(text[span.start : span.end]):
                if len(line) >= LONG_LINE:
                    found.setdefault(line, []).append(span.start + place)
    yield from found.items()


def _lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    at = 0
    for line in data.split(b"\n"):
        yield line, at
        at += len(line) + 1


def _tiled(text: bytes, spans: list[Span]) -> Rendered:
    """Fill what lies between spans with unversioned ones."""
    tiles: list[Span] = []
    at = 0
    for span in [
        *sorted(spans, key=lambda span: span.start),
        Span(len(text), len(text), Unversioned()),
    ]:
        if at < span.start:
            tiles.append(Span(at, span.start, Unversioned(at)))
        if span.start < span.end:
            tiles.append(span)
        at = span.end
    return Rendered(text, tuple(tiles), (len(text),))


# --- nothing found ---------------------------------------------------------------------------


def _nearest(repo: Repository, text: bytes, trees: list[str]) -> tuple[tuple[str, float], ...]:
    """Name the trees whose newest version shares most of the text's words."""
    from pvc.store.versions import sources, tip

    words = set(text.split())
    shares: list[tuple[float, str]] = []
    for tree in trees:
        newest = tip(repo, "trees", tree)
        if newest and words:
            held = {word for source in sources(repo, newest) for word in source.data.split()}
            shares.append((len(words & held) / len(words), tree))
    return tuple((tree, share) for share, tree in sorted(shares, reverse=True)[:NEAREST] if share)


# --- blame ----------------------------------------------------------------------------------


def blame_attributed(repo: Repository, found: Attribution) -> tuple[BlameRun, ...]:
    """Blame an observed text; runs tile it, and what nothing accounts for is unversioned."""
    from pvc.ops.blame import BlameRun, blame

    runs: list[BlameRun] = []
    for start, end in pairwise(_borders(found)):
        layer = found.layer_at(start)
        if layer is not None:
            runs += blame(repo, layer.rendered, layer.version, (start, end))
        else:
            runs.append(BlameRun(start, end, "", Unversioned(start)))
    return tuple(runs)


def _borders(found: Attribution) -> list[int]:
    """Give the places where the layer that accounts for the text changes, and both ends."""
    places = {0, len(found.text)}
    places.update(span.start for layer in found.layers for span in layer.rendered.spans)
    inner = [
        place
        for place in sorted(places)[1:-1]
        if found.layer_at(place) is not found.layer_at(place - 1)
    ]
    return [0, *inner, len(found.text)] if found.text else []
