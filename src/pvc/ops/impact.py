"""What adopting a folder, or one version after another, would do to what is cached.

Rule 1: a known session keeps its pinned version, so no running session is hit by an adoption. What
is lost is the prefix that the next sessions would have shared with those that are pinned now.
Rule 2: each pinned prompt is rendered again from the version and the values of its pin, and once
more with the same values from the candidate; nothing is estimated where both are here.
Rule 3: a session whose values are not in this clone counts all the same, over placeholders, and it
is said how many do. Counted apart are those whose version is not here, or whose values do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pvc.core.divergence import common_prefix
from pvc.core.impact import (
    Adoption,
    Placement,
    SectionMove,
    placements,
    reordered,
    replay,
    sample_environment,
    section_moves,
    seldom_first,
)
from pvc.core.moment import MICROS, moment_of
from pvc.core.reuse import reuse
from pvc.errors import NotFoundError, UsageError
from pvc.ops.asked import now_us
from pvc.ops.cost import (
    NOT_SAID,
    RELATION,
    Asked,
    Cost,
    Prompt,
    asked_of,
    costs,
    if_parted,
    manifest_of,
    provider_of,
)
from pvc.ops.impact_sessions import Sessions, SharedPrefix, Window, fitting, total_of
from pvc.ops.programs import pack_of
from pvc.ops.render import render_pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pvc.files import State
    from pvc.model.manifest import Manifest, Marker
    from pvc.model.pack import Pack
    from pvc.ops.price import Lost
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

SCHEMA = "pvc.impact/1"


@dataclass(frozen=True, slots=True)
class ImpactOptions:
    """What is compared; the options of `pvc impact`. Sessions pinned from `since` on count."""

    state: State = "head"
    folder: str | None = None
    environment: Mapping[str, object] | None = None
    since: str = "24h"
    now_us: int | None = None
    what_if: str | None = None
    """Null: no replay. Empty: the order that seldom-changed sections first would give."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """All past adoptions under another order of sections, beside what they really lost."""

    order: tuple[str, ...]
    provider: str
    """Whose cache it is reckoned for."""
    as_adopted: tuple[Adoption, ...]
    reordered: tuple[Adoption, ...]
    others: tuple[WhatIf, ...] = ()
    """The same for the other kinds of request that may be."""

    def to_json(self) -> dict[str, object]:
        """Keys of `what_if` in `pvc.impact/1`."""
        pairs = zip(self.as_adopted, self.reordered, strict=True)
        return {
            "order": list(self.order),
            "provider": self.provider,
            "lost_bytes": sum(one.lost_bytes for one in self.as_adopted),
            "lost_bytes_reordered": sum(one.lost_bytes for one in self.reordered),
            "adoptions": [
                {"version": a.label, "lost_bytes": a.lost_bytes, "reordered": b.lost_bytes}
                for a, b in pairs
            ],
            "others": [other.to_json() for other in self.others],
        }


@dataclass(frozen=True, slots=True)
class Impact:
    """What `candidate` would do to those who have `base`."""

    tree: str
    base: str
    candidate: str
    is_sample: bool
    """Whether the sections were placed over a sample, for no values were given."""
    paths: tuple[tuple[str, bool], ...]
    """Changed files, and whether their text is in the prompt at all."""
    sections: tuple[SectionMove, ...]
    prompt_bytes: tuple[int, int]
    first_moved_byte: int | None
    costs: tuple[Cost, ...]
    """What a cache loses, for each kind of request that may be; the worst first."""
    placements: tuple[Placement, ...]
    since_s: int
    prefixes: tuple[SharedPrefix, ...] = ()
    unaffected: int = 0
    unknown: int = 0
    about: int = 0
    """Sessions of these that are reckoned over placeholders."""
    what_if: WhatIf | None = None

    @property
    def lost(self) -> Lost:
        """What is lost at worst."""
        return self.costs[0].lost

    @property
    def hit(self) -> int:
        """How many sessions share a prefix that would be lost."""
        return sum(len(prefix.sessions) for prefix in self.prefixes)

    @property
    def total(self) -> Lost:
        """What is lost over all prefixes that sessions share; each is written again once."""
        return total_of([prefix.lost for prefix in self.prefixes])

    def to_json(self, *, listing: bool = False) -> dict[str, object]:
        """Keys of `pvc.impact/1`."""
        return {
            "schema": SCHEMA,
            "tree": self.tree,
            "base": self.base,
            "candidate": self.candidate,
            "sample": self.is_sample,
            "changed": [{"path": path, "in_prompt": there} for path, there in self.paths],
            "sections": [
                {
                    "name": move.name,
                    "change": move.change,
                    "plane": move.plane,
                    "start": move.start,
                    "bytes_before": move.before_bytes,
                    "bytes_after": move.after_bytes,
                    "lost_bytes": move.lost_bytes,
                }
                for move in self.sections
            ],
            "prompt_bytes": {"before": self.prompt_bytes[0], "after": self.prompt_bytes[1]},
            "first_moved_byte": self.first_moved_byte,
            "lost": self.lost.to_json(),
            "costs": [cost.to_json() for cost in self.costs],
            "placements": [
                {"plane": p.plane, "start": p.start, "lost_bytes": p.lost_bytes}
                for p in self.placements
            ],
            "sessions": {
                "window_seconds": self.since_s,
                "hit": self.hit,
                "unaffected": self.unaffected,
                "unknown": self.unknown,
                "about": self.about,
                "lost": self.total.to_json(),
                "prefixes": [prefix.to_json(listing=listing) for prefix in self.prefixes],
            },
            "what_if": self.what_if.to_json() if self.what_if else None,
        }


def run(repo: Repository, tree: str, other: str | None, options: ImpactOptions) -> Impact:
    """Compare a tree's newest version with its folder, or two versions with each other.

    Raises `NotFoundError` where there is no version to compare with, `DecodeError` when the folder
    is not in its form.
    """
    window = _window(options)
    sides = _sides(repo, tree, other, options)
    environment = options.environment
    if environment is None:
        environment = sample_environment(sides.packs[0].fields)
        environment = {**environment, **sample_environment(sides.packs[1].fields)}
    old, new = (render_pack(p, fitting(p, environment)) for p in sides.packs)
    first = common_prefix(old.data, new.data)
    named = sides.wanted[1].provider
    if other is not None or named == NOT_SAID:
        named = provider_of(repo, sides.base.name, named)
    asked = asked_of(repo, sides.base.name, named)
    before, after = (
        Prompt(rendered, pack, wanted.markers)
        for rendered, pack, wanted in zip((old, new), sides.packs, sides.wanted, strict=True)
    )
    found = costs(asked, before, after)
    worst = found[0]
    body = worst.asked.body(before)
    moves = section_moves(old, new, sides.packs, worst.prompt_kept)
    places = placements(
        old, sides.packs[0], moves, lambda at: if_parted(body, at).lost, worst.reuse.lost
    )
    sessions = Sessions(repo, sides.base, sides.packs, sides.wanted, named, window)
    return Impact(
        tree=sides.base.name,
        base=sides.base.label,
        candidate=sides.candidate,
        is_sample=options.environment is None,
        paths=tuple((path, path in _rendered_paths(sides.packs)) for path in sides.changed),
        sections=tuple(moves),
        prompt_bytes=(len(old.data), len(new.data)),
        first_moved_byte=None if old.data == new.data else first,
        costs=found,
        placements=tuple(places),
        since_s=window.since_s,
        prefixes=sessions.prefixes(),
        unaffected=sessions.unaffected,
        unknown=sessions.unknown,
        about=sessions.about,
        what_if=_what_if(repo, sides.base, options, [each.asked for each in found]),
    )


# --- the two sides ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is, and what would be."""

    base: VersionInfo
    candidate: str
    packs: tuple[Pack, Pack]
    wanted: tuple[Manifest, Manifest]
    """Their manifests, for markers and provider."""
    changed: tuple[str, ...]


def _window(options: ImpactOptions) -> Window:
    """Read since when sessions count, which may be a moment that is still to come."""
    now = now_us() if options.now_us is None else options.now_us
    age = now - moment_of(options.since, now, "--since")
    return Window(max(age, 0) // MICROS, now)


def _sides(repo: Repository, tree: str, other: str | None, options: ImpactOptions) -> _Sides:
    from pvc.ops.select import select_version
    from pvc.store.versions import changed_paths

    base = select_version(repo, tree)
    if other is not None:
        after = select_version(repo, other)
        changed = changed_paths(repo, base.tree, after.tree)
        packs = pack_of(repo, base), pack_of(repo, after)
        wanted = _manifest(repo, base), _manifest(repo, after)
        return _Sides(base, after.label, packs, wanted, changed)
    from pvc.ops.candidate import read_candidate

    found = read_candidate(repo, base.name, options.state, options.folder)
    changed = tuple(_changed(repo, base, {f.path: f.data for f in found.snapshot.files}))
    wanted = _manifest(repo, base), found.manifest
    return _Sides(base, options.state, (pack_of(repo, base), found.pack), wanted, changed)


def _manifest(repo: Repository, version: VersionInfo) -> Manifest:
    found = manifest_of(repo, version)
    if found is None:
        raise NotFoundError(f"{version.label} has no pvc.toml")
    return found


def _changed(repo: Repository, base: VersionInfo, files: Mapping[str, bytes]) -> Iterable[str]:
    """Name the files of the folder that are other bytes than in the version."""
    from pvc.dialects.base import RESERVED
    from pvc.store.versions import sources

    before = {s.path: s.data for s in sources(repo, base) if not s.path.startswith(RESERVED)}
    for path in sorted({*before, *files}, key=str.encode):
        if before.get(path) != files.get(path):
            yield path


def _rendered_paths(packs: tuple[Pack, Pack]) -> frozenset[str]:
    return frozenset(
        piece.path for pack in packs for section in pack.sections for piece in section.pieces
    )


# --- another order ----------------------------------------------------------------------------


def _what_if(
    repo: Repository, base: VersionInfo, options: ImpactOptions, asked: Sequence[Asked]
) -> WhatIf | None:
    """Replay all adoptions up to `base` as they were, and under another order."""
    from itertools import dropwhile

    from pvc.store.versions import chain

    if options.what_if is None:
        return None
    newest_first = dropwhile(lambda v: v.id != base.id, chain(repo, base.kind, base.name))
    versions = list(newest_first)[::-1]
    packs = [pack_of(repo, version) for version in versions]
    if packs[-1].recipe or packs[-1].layout.merge:
        raise UsageError(f"form `{packs[-1].form}` has an order of its own")
    order = tuple(name for name in options.what_if.split(",") if name) or seldom_first(packs)
    _known(order, packs[-1])
    labels = [version.label for version in versions]
    markers = [_manifest(repo, version).markers for version in versions]
    as_adopted = [_sampled(*each, options) for each in zip(packs, markers, strict=True)]
    moved = [reordered(pack, order) for pack in packs]
    in_order = [_sampled(*each, options) for each in zip(moved, markers, strict=True)]
    first, *others = [
        WhatIf(
            order,
            each.home,
            replay(labels, _lost(each, as_adopted)),
            replay(labels, _lost(each, in_order)),
        )
        for each in asked
    ]
    return replace(first, others=tuple(others))


def _lost(asked: Asked, prompts: Sequence[Prompt]) -> list[int]:
    """Count what each step of a chain of prompts loses."""
    bodies = [asked.body(prompt) for prompt in prompts]
    return [reuse(a, b, relation=RELATION).lost for a, b in pairwise(bodies)]


def _known(order: Sequence[str], pack: Pack) -> None:
    from pvc.dialects.manifest import near

    names = [section.name for section in pack.sections if not section.fragment]
    for name in order:
        if name not in names:
            raise NotFoundError(f"there is no section `{name}`", hint=near(name, names))


def _sampled(pack: Pack, markers: tuple[Marker, ...], options: ImpactOptions) -> Prompt:
    values = options.environment
    environment = sample_environment(pack.fields) if values is None else fitting(pack, values)
    return Prompt(render_pack(pack, environment), pack, markers)
