"""Who changed the first differing byte: the commit, value or tool behind it.

    a  agent@1  … Be brief. Ask first.        what stood there in A     who took it out
    b  agent@4  … Be brief. Never ask.        what stands there in B    who put it there
                            └─ the place

Rule 1: between two versions of one tree the owner is of a version after the older one, up to the
newer one. It is the commit that wrote what stands there now; else the one that took out what stood
there; else the one that put old text there (a rename, another order); else the version itself.
Rule 2: where the second side is older, as after a rollback, the same is asked the other way round:
the owner is the change that is gone again, and `undone` says so.
Rule 3: a value given at launch and a text that no tree accounts for are owners too: `binding`, and
`unversioned`. pvc names no commit that it cannot prove.
Rule 4: a captured text is laid against the versions of the trees that are here (`ops.attribute`);
from there on it is asked about like a pin.
Rule 5: glue says nothing about who brought it: the text behind it does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core.change import Provenance
from pvc.core.divergence import common_prefix
from pvc.core.entries import POINTER
from pvc.core.follow import Gone, Place, arrived, follow
from pvc.errors import CorruptError, DecodeError, NotFoundError, UnsupportedError, UsageError
from pvc.model.manifest import MANIFEST
from pvc.model.span import FromBinding, FromSource, FromTool, Glue, Unversioned
from pvc.ops.blame import BlameRun, blame
from pvc.ops.source_range import SourceRange
from pvc.store.history import GitHistory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.body import Body, Divergence
    from pvc.model.names import CommitId
    from pvc.model.span import Rendered, Span
    from pvc.ops.attribute import Attribution
    from pvc.ops.blame import SourceCommit
    from pvc.ops.request import Side, Where
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

_MOST_RENDERED = 64
"""How many versions are rendered again to see which one changed the order of the files."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who changed the first differing byte: `change` is `written` or `removed`.

    `undone` says that the change is gone again: the second side is on an older version.
    """

    run: BlameRun
    change: str
    undone: bool = False

    def to_json(self) -> dict[str, object]:
        """Write a run of `pvc.blame/1`, what was done, and whether that is gone again."""
        return {**self.run.to_json(), "change": self.change, "undone": self.undone}


@dataclass(frozen=True, slots=True)
class Owned:
    """The owner, where the difference comes from if that is known, and what else was found out.

    `versions` are those that the two sides are of at the place, null where they are of none.
    """

    owner: Owner
    origin: Provenance | None = None
    notes: tuple[str, ...] = ()
    versions: tuple[VersionInfo | None, VersionInfo | None] = (None, None)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place of one side: its prompt, the version it is of, where, and where its block ends."""

    rendered: Rendered
    version: VersionInfo
    at: int
    end: int
    is_pin: bool

    @property
    def span(self) -> Span | None:
        """What stands there; null where the block has ended."""
        return self.rendered.span_at(self.at) if self.at < self.end else None

    @property
    def text_at(self) -> int | None:
        """Where the first byte from there on is that is no glue."""
        if self.at >= len(self.rendered.data):
            return None
        for span in self.rendered.spans:
            if span.end > self.at and not isinstance(span.origin, Glue):
                return max(span.start, self.at)
        return None

    @property
    def line(self) -> bytes:
        """The line that holds the place."""
        data = self.rendered.data
        start = data.rfind(b"\n", 0, self.at) + 1
        end = data.find(b"\n", max(self.at, start))
        return data[start : end if end >= 0 else len(data)]


def owner_of(
    where: Where, sides: tuple[Side, Side], place: Divergence, tree: str | None = None
) -> Owned:
    """Find who changed the byte at `place`, and what was found out about captured texts."""
    said: list[str] = []
    a, b = sides
    before = _spot(where, a, place, place.path_a, (tree, said))
    now = _spot(where, b, place, place.path_b, (tree, said))
    versions = before.version if before else a.version, now.version if now else b.version
    found = None
    if before and now:
        found = _between(where.repo, before, now, sides, said)
    if found is None:
        run_now, run_before = (_run(where, spot) for spot in (now, before))
        unowned = BlameRun(
            place.offset, place.offset + 1, "", _loose(place, b.body), region=str(place.region)
        )
        found = Owner(run_now or run_before or unowned, "written"), None
    return Owned(found[0], found[1], tuple(said), versions)


def _run(where: Where, spot: _Spot | None) -> BlameRun | None:
    if spot is None or spot.at >= spot.end:  # one side ends where the other goes on
        return None
    return _blamed(where.repo, spot, spot.at)


def _blamed(repo: Repository, spot: _Spot, at: int) -> BlameRun:
    return blame(repo, spot.rendered, spot.version, (at, at + 1))[0]


# --- where a place is ------------------------------------------------------------------------


def _spot(
    where: Where,
    side: Side,
    place: Divergence,
    pointer: str | None,
    asked: tuple[str | None, list[str]],
) -> _Spot | None:
    """Find the byte of a prompt that stands at a place of a body."""
    offset = place.leaf_byte_offset
    if offset is None or str(place.region) not in ("system", "messages"):
        return None
    if side.rendered is not None and side.version is not None:
        size = len(side.rendered.data)
        start, end = (size, size) if pointer is None else _block(side.rendered, pointer)
        return _Spot(side.rendered, side.version, min(start + offset, end), end, is_pin=True)
    if pointer is None:
        return None
    tree, said = asked
    text = next((leaf.data for leaf in side.body.leaves if leaf.pointer == pointer), None)
    found = None if text is None else attributed(where, text, tree)
    if found is None or text is None:
        return None
    said.append(f"{side.label}: {describe(found)}")
    layer = found.layer_at(offset) if offset < len(text) else None
    layer = layer or next(iter(found.layers), None)
    if layer is None:
        return None
    return _Spot(layer.rendered, layer.version, offset, len(text), is_pin=False)


def _block(rendered: Rendered, pointer: str) -> tuple[int, int]:
    """Find where the block of a system leaf begins and ends.

    `/system/2/text` and `/messages/0/content/2/text` are the third block that is not empty; a leaf
    without such a number is a string that holds them all.
    """
    parts = pointer.split("/")
    number = {"system": parts[2:3], "messages": parts[4:5]}.get(parts[1], [])
    if not number or not number[0].isdigit():
        return 0, len(rendered.data)
    index = int(number[0])
    pairs = zip((0, *rendered.block_ends), rendered.block_ends, strict=False)
    blocks = [(start, end) for start, end in pairs if start < end]
    size = len(rendered.data)
    return blocks[index] if index < len(blocks) else (size, size)


def attributed(where: Where, text: bytes, tree: str | None) -> Attribution | None:
    """Lay a text against the trees that are here; null where there are none to ask."""
    from pvc.ops.attribute import attribute
    from pvc.store.versions import names

    try:
        repo = where.repo
    except (NotFoundError, UnsupportedError):
        if tree is not None:
            raise
        return None
    return attribute(repo, text, tree) if tree or names(repo, "trees") else None


def describe(found: Attribution) -> str:
    """Say what a text was made of, or what comes nearest."""
    size = len(found.text)
    if found.layers:
        layer = found.layers[0]
        return f"{layer.share:.0%} of its {size} bytes are {layer.version.label}"
    if not found.nearest:
        return "no tree here has this text"
    near = ", ".join(f"{name} ({share:.0%} of its words)" for name, share in found.nearest)
    return f"no tree here has this text; the nearest: {near}"


def _loose(place: Divergence, b: Body) -> FromTool | Unversioned:
    pointer = place.path_b or place.path_a or ""
    at = place.leaf_byte_offset or 0
    if place.region != "tools":
        return Unversioned(at)
    tool = "/".join(pointer.split("/")[:3])
    named = (leaf for leaf in b.leaves if leaf.pointer in (f"{tool}/name", f"{tool}/function/name"))
    name = next((leaf.text for leaf in named), "")
    return FromTool(name, pointer, at)


# --- between two versions ---------------------------------------------------------------------

Answer = tuple[Owner, Provenance | None]


def _between(
    repo: Repository, before: _Spot, now: _Spot, sides: tuple[Side, Side], said: list[str]
) -> Answer | None:
    """Find who changed the place between two versions; null where the versions cannot tell."""
    spans = before.span, now.span
    if any(span and _is_loose(span) for span in spans):
        return _came_after(repo, before, now)
    value = _value(repo, before, now)
    if value is not None:
        return value
    names = [(spot.version.kind, spot.version.name) for spot in (before, now)]
    if names[0] != names[1]:
        return _of_two_trees(repo, before, now)
    if before.version.id == now.version.id:
        return _chosen(repo, before, now, sides)
    undone = before.version.number > now.version.number
    old, new = (now, before) if undone else (before, now)
    pins = [side.pin for side in (reversed(sides) if undone else sides)]
    change = _Changed(repo, old, new, _values(repo, pins[1])).find()
    owner = replace(change[0], undone=undone)
    if owner.run.version and owner.run.source is None:
        said.append(SourceRange(repo, owner.run.version).silence)
    return owner, change[1]


def _is_loose(span: Span) -> bool:
    """Whether no version accounts for it: it is of no tree, or a session added it."""
    origin = span.origin
    return isinstance(origin, Unversioned) or (
        isinstance(origin, FromBinding) and origin.pointer.startswith(POINTER)
    )


def _came_after(repo: Repository, before: _Spot, now: _Spot) -> Answer | None:
    """Of text that only one side's versions account for: the owner if it came after A."""
    run = _blamed(repo, now, now.at) if now.span else None
    if run is None or run.version is None:
        return None
    same_tree = (run.version.kind, run.version.name) == (before.version.kind, before.version.name)
    came = not same_tree or run.version.number > before.version.number
    return (Owner(run, "written"), None) if came else None


def _of_two_trees(repo: Repository, before: _Spot, now: _Spot) -> Answer | None:
    spot = now if now.text_at is not None else before
    at = spot.text_at
    if at is None:
        return None
    said = f"the two are prompts of two trees: {before.version.label} and {now.version.label}"
    is_known = before.is_pin and now.is_pin
    return Owner(_blamed(repo, spot, at), "written"), Provenance("tree", said) if is_known else None


# --- values -----------------------------------------------------------------------------------


def _value(repo: Repository, before: _Spot, now: _Spot) -> Answer | None:
    """See one placeholder filled with two values, which part at the place."""
    pairs = {_filled(spot, at) for spot in (before, now) for at in (spot.at, spot.at - 1)}
    for name, start in sorted(pair for pair in pairs if pair):
        texts = [_text_of(spot, name, start) for spot in (before, now)]
        one_version = before.version.id == now.version.id
        if texts[0] == texts[1] or (not one_version and not all(texts)):
            continue
        spot, at = next(
            (spot, at)
            for spot in (now, before)
            for at in (spot.at, spot.at - 1)
            if _filled(spot, at) == (name, start)
        )
        said = [text.decode("utf-8", "replace") for text in texts]
        origin = Provenance("value", name=name, values=(said[0], said[1]))
        return Owner(_blamed(repo, spot, at), "written"), origin
    return None


def _filled(spot: _Spot, at: int) -> tuple[str, int] | None:
    """Name the placeholder that the byte before the block's end came from, and its start."""
    if not 0 <= at < spot.end:
        return None
    span = spot.rendered.span_at(at)
    if not isinstance(span.origin, FromBinding) or span.origin.pointer.startswith(POINTER):
        return None
    return span.origin.name, span.start


def _text_of(spot: _Spot, name: str, start: int) -> bytes:
    """Give what fills a placeholder from a place on; nothing where it fills none there."""
    if _filled(spot, start) != (name, start):
        return b""
    return spot.rendered.data[start : spot.rendered.span_at(start).end]


def _values(repo: Repository, pin: object) -> Mapping[str, object] | None:
    """Read what was given at launch; null where that is not known."""
    from pvc.model.pin import Pin
    from pvc.ops.told import Teller

    if not isinstance(pin, Pin):
        return None
    try:
        return Teller(repo).values(pin)
    except (NotFoundError, CorruptError):
        return None


def _chosen(repo: Repository, before: _Spot, now: _Spot, sides: tuple[Side, Side]) -> Answer | None:
    """Of one version, find the value that decides which of its texts stands at the place."""
    old, new = (_values(repo, side.pin) for side in sides)
    if old is None or new is None:
        return None
    data = before.rendered.data
    for name in sorted({*old, *new}):
        texts = [json.dumps(values.get(name), ensure_ascii=False) for values in (old, new)]
        if texts[0] == texts[1]:
            continue
        mixed = {key: value for key, value in {**old, name: new.get(name)}.items() if key in new}
        rendered = _rendered(repo, before.version, mixed)
        if rendered and rendered.data != data and common_prefix(data, rendered.data) == before.at:
            origin = FromBinding(name, f"/{name}", 0, "", 0)
            run = BlameRun(now.at, now.at + 1, "", origin, now.version)
            said = Provenance("value", name=name, values=(texts[0], texts[1]))
            return Owner(run, "written"), said
    return None


def _rendered(
    repo: Repository, version: VersionInfo, values: Mapping[str, object]
) -> Rendered | None:
    from pvc.ops.render import render_version

    try:
        return render_version(repo, version, values).rendered
    except (DecodeError, UsageError, NotFoundError):  # it takes other values, or is in no form
        return None


# --- text -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Changed:
    """What the versions after `old` up to `new` did at a place; `values` are those of `new`."""

    repo: Repository
    old: _Spot
    new: _Spot
    values: Mapping[str, object] | None

    def find(self) -> Answer:
        """Ask who wrote, who took out, who placed; the last always answers."""
        is_text = self.new.span is not None and not isinstance(self.new.span.origin, Glue)
        owner = self._written(self.new.at) if is_text else None
        owner = owner or self._removed()
        if owner is None and not is_text and self.new.text_at is not None:
            owner = self._written(self.new.text_at)
        if owner:
            return owner, Provenance("edit", self.new.version.label)
        owner = self._put(self.new.text_at, self.new) or self._put_elsewhere() or self._ordered()
        lines = self.old.line, self.new.line
        moved = lines[1] in self.old.rendered.data and lines[0] in self.new.rendered.data
        said = f"the text has changed places with {owner.run.label or self.new.version.label}"
        return owner, Provenance("move" if moved else "edit", said)

    def _written(self, at: int) -> Owner | None:
        """Find who wrote what stands there now, where it came after the older version."""
        run = _blamed(self.repo, self.new, at)
        if run.version is None or run.version.number <= self.old.version.number:
            return None
        behind = SourceRange(self.repo, run.version)
        if behind.holds(run.source):
            return Owner(run, "written")
        # Blame goes through moves, to who had the text first; here it came to its place later.
        place = _place_of(self.new, at)
        arrival = self._arrival(place) if place else None
        if arrival is None:
            return Owner(replace(run, source=None), "written")
        if behind.left_there(arrival):
            return None
        return Owner(replace(run, source=behind.put_there(arrival)), "written")

    def _arrival(self, place: Place) -> Place | None:
        """Where a byte of the newer version stood in the version that brought it."""
        version = _arrived(self.repo, self.old.version, self.new.version, place)
        return None if version is None else version[1]

    def _removed(self) -> Owner | None:
        """Find who took out what stood there: the version, then the commit."""
        place = self._stood()
        found = self._followed(place) if place else None
        if place is None or not isinstance(found, Gone):
            return None
        version = _version(self.repo, found.commit)
        source = SourceRange(self.repo, version).took_out(found.place)
        return Owner(self._run_of(self.old, version, found.place, source), "removed")

    def _stood(self) -> Place | None:
        at = self.old.text_at
        return None if at is None else _place_of(self.old, at)

    def _followed(self, place: Place) -> Place | Gone | None:
        return follow(self._history(), self.old.version.id, place)

    def _history(self) -> GitHistory:
        return GitHistory(self.repo, self.new.version.id, since=self.old.version.id)

    def _put(self, at: int | None, spot: _Spot) -> Owner | None:
        """Find who put a text that is older where it stands in the newer version."""
        place = None if at is None else _place_of(spot, at)
        return self._put_at(place) if place else None

    def _put_elsewhere(self) -> Owner | None:
        """Find who put what stood there at another place."""
        stood = self._stood()
        there = self._followed(stood) if stood else None
        return self._put_at(there) if isinstance(there, Place) else None

    def _put_at(self, place: Place) -> Owner | None:
        found = _arrived(self.repo, self.old.version, self.new.version, place)
        if found is None:
            return None
        version, there = found
        source = SourceRange(self.repo, version).put_there(there)
        return Owner(self._run_of(self.new, version, there, source), "written")

    def _ordered(self) -> Owner:
        """Find the version from which on the prompt begins as the newer one does."""
        version = self.new.version
        want = self.new.rendered.data[: self.new.at + 1]
        size = len(self.new.rendered.data) if self.new.span is None else None
        for _ in range(_MOST_RENDERED):
            parent = _version(self.repo, version.parents[0])
            if parent.number <= self.old.version.number:
                break
            rendered = _rendered(self.repo, parent, self.values or {})
            if rendered is None or not rendered.data.startswith(want):
                break
            if size is not None and len(rendered.data) != size:
                break
            version = parent
        history = GitHistory(self.repo, version.id, since=version.parents[0])
        paths = [change.path for step in history.steps() for change in step.changes]
        path = MANIFEST if MANIFEST in paths or not paths else min(paths)
        source = SourceRange(self.repo, version).last_to_touch(path)
        return Owner(self._run_of(self.new, version, Place(path, 0), source), "written")

    def _run_of(
        self, spot: _Spot, version: VersionInfo, place: Place, source: SourceCommit | None
    ) -> BlameRun:
        at = min(spot.at, max(len(spot.rendered.data) - 1, 0))
        section = spot.rendered.span_at(at).section if spot.rendered.data else ""
        origin = FromSource(place.path, section, place.offset)
        return BlameRun(spot.at, spot.at + 1, section, origin, version, None, source)


def _place_of(spot: _Spot, at: int) -> Place | None:
    """Find the byte of a file that a byte of a prompt came from, a placeholder's for a value's."""
    span = spot.rendered.span_at(at)
    match span.origin:
        case FromSource(path, _, offset):
            return Place(path, offset + at - span.start)
        case FromBinding(path=path, at=hole) if path:
            return Place(path, hole)
        case _:
            return None


def _arrived(
    repo: Repository, old: VersionInfo, new: VersionInfo, place: Place
) -> tuple[VersionInfo, Place] | None:
    """Find the version after `old` that put a byte of `new` where it stands, and where that was."""
    found = arrived(GitHistory(repo, new.id, since=old.id), old.id, place)
    return None if found is None else (_version(repo, found.commit), found.place)


def _version(repo: Repository, commit: CommitId) -> VersionInfo:
    from pvc.store.versions import at_commit

    return at_commit(repo, commit)
