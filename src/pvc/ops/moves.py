"""Which bytes of a tree's prompt each event moved: adoptions, pack releases, other toolsets.

Rule 1: nothing of this is written down anywhere. A version names its files and packs, a pin its
version and tools, so the events follow from them and cannot contradict them.
Rule 2: versions are compared over one launch's values: those of the tree's newest pin whose values
are here, else over placeholders. Where they do not fit a version, its bytes are not known and it is
said so.
Rule 3: a toolset changes between two pins that follow each other on one chain and model, for a
cache is one model's. What is lost is what `ops.cost` says of the two requests. A change is listed
once, where it was last seen.
Rule 4: pins are looked for among the newest ones only; a log must not read a fleet's ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pvc.core.json_text import parse_stored
from pvc.core.program import run as run_program
from pvc.core.stand_in import stand_in, with_contents
from pvc.dialects.harness_events import PrefixEvent, events_between, moved
from pvc.errors import NotFoundError, UsageError
from pvc.model.span import lift
from pvc.ops.alike import alike
from pvc.ops.cost import (
    Asked,
    Cost,
    Prompt,
    asked_of,
    asked_of_pins,
    cost,
    costs,
    prompt_of,
    prompt_of_version,
    provider_of,
    worst_first,
)
from pvc.ops.pins import body_of
from pvc.ops.prefix import between, inputs_of_version
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.compile import Program
    from pvc.core.json_text import Value
    from pvc.dialects.harness_events import PrefixInputs, PrefixMove
    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

LOOKED_AT = 1000
"""So many of the newest pins are looked at."""


@dataclass(frozen=True, slots=True)
class Move:
    """What one version or one launch moved; `move` is null where the bytes are not known.

    `before` and `after` are labels of versions, or sessions for a change of the toolset; `over`
    is the session whose values the versions were compared with, null without values.
    """

    events: tuple[PrefixEvent, ...]
    before: str
    after: str
    over: str | None
    costs: tuple[Cost, ...] = ()
    move: PrefixMove | None = None
    is_about: bool = False
    """Whether placeholders stand for values that are not in this clone."""

    @property
    def kept(self) -> int | None:
        """What a cache gives back at worst; null where the bytes are not known."""
        return self.costs[0].reuse.kept if self.costs else None

    @property
    def lost(self) -> int | None:
        """What is written again at worst; null where the bytes are not known."""
        return self.costs[0].reuse.lost if self.costs else None

    @property
    def places(self) -> tuple[str, ...]:
        """The sections that moved, and where each stands now or stood."""
        sections = self.move.sections if self.move else ()
        ranges = [each.after or each.before or (0, 0) for each in sections]
        return tuple(
            f"{each.section} {each.kind} at {start}..{end}"
            for each, (start, end) in zip(sections, ranges, strict=True)
        )

    def to_json(self) -> dict[str, object]:
        """One entry of `moves` in `pvc.log/1`."""
        sections = self.move.sections if self.move else ()
        return {
            "events": [str(event) for event in self.events],
            "before": self.before,
            "after": self.after,
            "over": self.over,
            "kept_bytes": self.kept,
            "lost_bytes": self.lost,
            "costs": [cost.to_json() for cost in self.costs],
            "section": (self.move.section or None) if self.move else None,
            "sections": [
                {
                    "section": each.section,
                    "kind": each.kind,
                    "before": None if each.before is None else list(each.before),
                    "after": None if each.after is None else list(each.after),
                }
                for each in sections
            ],
            **({"about": True} if self.is_about else {}),
        }


def moves_of(
    compare: Comparison, versions: tuple[VersionInfo, ...]
) -> tuple[tuple[Move, ...], ...]:
    """List what each of a tree's `versions`, newest first, moved.

    Each is compared with the next in the list, so the last shows what changed under it alone.
    """
    repo, pins = compare.repo, compare.pins
    adoptions = [compare.versions(older, newer) for newer, older in pairwise(versions)]
    toolsets = list(_toolsets(repo, pins))
    return tuple(
        (*(move for move in adoptions[at : at + 1] if move), *_under(version, toolsets))
        for at, version in enumerate(versions)
    )


def _under(version: VersionInfo, toolsets: list[tuple[Pin, Move]]) -> Iterator[Move]:
    return (move for pin, move in toolsets if pin.commit == version.id)


# --- versions -------------------------------------------------------------------------------


class Comparison:
    """Renders versions of one tree over one launch's values, each once."""

    def __init__(self, repo: Repository, tree: str) -> None:
        from pvc.store.ledger import Ledger

        newest = Ledger(repo).newest(LOOKED_AT)
        self.repo, self.tree = repo, tree
        self.pins = [pin for pin in newest if pin.tree == tree and not pin.observed]
        self.over, self.values = _values(repo, self.pins)
        self._rendered: dict[str, Rendered | None] = {}
        self._inputs: dict[str, PrefixInputs] = {}
        self._about: set[str] = set()

    def versions(self, before: VersionInfo, after: VersionInfo) -> Move | None:
        """Compare two versions; null when no event lies between them."""
        events = events_between(self._inputs_of(before), self._inputs_of(after))
        if not events:
            return None
        a, b = self._render(before), self._render(after)
        if a is None or b is None:
            return Move(events, before.label, after.label, self.over)
        about = self._is_about(before, after)
        found = costs(
            self.asked,
            prompt_of_version(self.repo, before, a),
            prompt_of_version(self.repo, after, b),
        )
        found = tuple(replace(each, is_about=about) for each in found)
        move = moved(a, b, events)
        return Move(events, before.label, after.label, self.over, found, move, about)

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        """What the tree's requests are, by its newest version and its newest pins."""
        return asked_of(self.repo, self.tree, provider_of(self.repo, self.tree))

    def _inputs_of(self, version: VersionInfo) -> PrefixInputs:
        if version.id not in self._inputs:
            self._inputs[version.id] = inputs_of_version(self.repo, version)
        return self._inputs[version.id]

    def _render(self, version: VersionInfo) -> Rendered | None:
        """Render a version; null when the values do not fit it.

        Without any launch's values it is rendered over placeholders where it asks for some.
        """
        if version.id not in self._rendered:
            program = _program(self.repo, version)
            rendered: Rendered | None
            try:
                rendered = lift(*run_program(program, self.values))
            except UsageError:  # what a launch gives today need not fit a version of then
                rendered = None if self.over else self._with_placeholders(version, program)
            self._rendered[version.id] = rendered
        return self._rendered[version.id]

    def _with_placeholders(self, version: VersionInfo, program: Program) -> Rendered | None:
        try:
            found = stand_in(program, with_contents)
        except UsageError:  # a form that cannot be rendered without its values
            return None
        self._about.add(version.id)
        return found.rendered

    def _is_about(self, *versions: VersionInfo) -> bool:
        return any(version.id in self._about for version in versions)


def _program(repo: Repository, version: VersionInfo) -> Any:
    from pvc.launch.cache import read
    from pvc.ops.programs import compile_version

    cached = read(str(repo.common_dir), version.id)
    return cached[3] if cached else compile_version(repo, version)


def _values(repo: Repository, pins: list[Pin]) -> tuple[str | None, Value]:
    """Find the values of the newest pin that has them here."""
    for pin in pins:
        if pin.environment is None:
            continue
        try:
            body = body_of(repo, pin.environment, "the values", pin=pin)
        except NotFoundError:  # its values stayed in the clone that pinned it
            continue
        return pin.session, parse_stored(body, "a body of values")
    return None, {}


# --- toolsets -------------------------------------------------------------------------------


def _toolsets(repo: Repository, pins: list[Pin]) -> Iterator[tuple[Pin, Move]]:
    """Give the changes of the toolset, newest first, each with the pin that came after it."""
    seen = set()
    for after, before in _neighbours(pins):
        change = (before.tools, after.tools)
        if before.tools != after.tools and change not in seen:
            seen.add(change)
            yield after, _toolset(repo, before, after)


def _neighbours(pins: list[Pin]) -> Iterator[tuple[Pin, Pin]]:
    """Pair each pin, newest first, with the one before it that could have warmed its cache."""
    later: dict[tuple[str | None, ...], Pin] = {}
    for pin in pins:
        cache = (pin.chain, pin.provider, pin.model)
        if cache in later:
            yield later[cache], pin
        later[cache] = pin


def _toolset(repo: Repository, before: Pin, after: Pin) -> Move:
    sessions = (before.session, after.session, after.session)
    try:
        pair = alike(Teller(repo), before, after)
        move = between(repo, before, after, pair)
        if any(tools.absent for tools in pair.tools):
            return Move(move.events, *sessions)
        (old, olds), (new, news) = (
            _requests(repo, pin, told.rendered, tools.value)
            for pin, told, tools in zip((before, after), pair.prompts, pair.tools, strict=True)
        )
    except NotFoundError:  # a launch elsewhere, whose version was not pushed
        return Move((PrefixEvent.TOOLSET,), *sessions)
    about = bool(pair.absent)
    found = worst_first(cost(a, old, new, b) for a, b in zip(olds, news, strict=True))
    found = tuple(replace(each, is_about=about) for each in found)
    return Move(move.events, *sessions, found, move, about)


def _requests(
    repo: Repository, pin: Pin, rendered: Rendered, tools: Value
) -> tuple[Prompt, tuple[Asked, ...]]:
    """Give a pin's prompt and what its requests are, with its tools."""
    prompt, provider = prompt_of(repo, pin, rendered)
    return prompt, asked_of_pins(repo, pin, provider, tools)
