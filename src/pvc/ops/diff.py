"""Two versions, pins or request bodies: what differs, unit by unit, and what a cache loses by it.

Rule 1: versions and pins are compared as they are rendered. A version's value that is not given is
its placeholder, written out, so that two versions can be compared with nothing at hand. So is a
pin's that is not in this clone.
Rule 2: as soon as one side is a body both are: a pin is written as the front of a request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core.compile import compile_pack
from pvc.core.divergence import beside, common_bytes, common_prefix
from pvc.core.program import run as run_program
from pvc.core.reuse import reuse
from pvc.core.stand_in import stand_in, unfilled
from pvc.core.unit_diff import Unit, UnitDiff, diff_units
from pvc.model.span import lift
from pvc.ops.absent import absent_json
from pvc.ops.alike import Tools, alike
from pvc.ops.cost import (
    Asked,
    Cost,
    Prompt,
    asked_of,
    asked_of_pins,
    cost_of,
    costs,
    manifest_of,
    provider_of,
    wanted_of,
    wanted_of_pin,
)
from pvc.ops.pins import version_of
from pvc.ops.programs import pack_of
from pvc.ops.request import is_file, read_sides, requests_of
from pvc.ops.select import select
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.core.compile import Program
    from pvc.model.body import Body, Part
    from pvc.model.pack import Pack
    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.ops.absent import Absence
    from pvc.ops.price import Lost
    from pvc.ops.request import Where
    from pvc.ops.select import Selected
    from pvc.ops.told import Told
    from pvc.store.repo import Repository

__all__ = ["Difference", "UnitDiff", "diff"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two sides, compared; `same_bytes` is what both begin with, `costs` what a cache loses.

    Where nothing says what the requests are, there is an answer for each class, the worst first.
    """

    a: str
    b: str
    units: tuple[UnitDiff, ...]
    a_bytes: int
    b_bytes: int
    same_bytes: int
    costs: tuple[Cost, ...]
    absent: tuple[Absence, ...] = ()
    """What placeholders stand for, because it is not in this clone: figures are about right."""
    notes: tuple[str, ...] = ()
    same_prompt: bool | None = None
    """What the prompts' digests prove, where placeholders stand in both."""

    @property
    def lost(self) -> Lost:
        """What is lost at worst."""
        return self.costs[0].lost

    @property
    def differs(self) -> bool:
        """Whether any byte differs, joints between the units included."""
        seen = not self.a_bytes == self.b_bytes == self.same_bytes
        return seen or (bool(self.absent) and self.same_prompt is False)

    @property
    def is_unknown(self) -> bool:
        """Whether no difference was seen, and one may be in what is not in this clone."""
        return bool(self.absent) and self.same_prompt is None and not self.differs

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.diff/1`."""
        return {
            "schema": "pvc.diff/1",
            "a": self.a,
            "b": self.b,
            "a_bytes": self.a_bytes,
            "b_bytes": self.b_bytes,
            "same_bytes": self.same_bytes,
            "lost": self.lost.to_json(),
            "costs": [cost.to_json() for cost in self.costs],
            "units": [unit.to_json() for unit in self.units],
            **absent_json(self.absent),
            **({"same_prompt": self.same_prompt} if self.absent else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
        }


def diff(where: Where, a: str, b: str, environment: Mapping[str, object]) -> Difference:
    """Compare two words: versions or sessions, else files with request bodies."""
    if is_file(where, a) or is_file(where, b):
        return _bodies(where, a, b)
    found_a, found_b = (select(where.repo, word) for word in (a, b))
    one, other = (_side(where.repo, found, environment) for found in (found_a, found_b))
    same: bool | None = None
    notes: tuple[str, ...] = ()
    if one.absent or other.absent:
        one, other, same, notes = _evened(where.repo, (one, other), (found_a, found_b))
    old, new = one.prompt.rendered.data, other.prompt.rendered.data
    units = diff_units(list(one.units()), list(other.units()))
    absent = (*one.absent, *other.absent)
    found = costs(one.asked, one.prompt, other.prompt)
    if absent:
        found = tuple(replace(each, is_about=True) for each in found)
    shared = common_prefix(old, new)
    return Difference(a, b, units, len(old), len(new), shared, found, absent, notes, same)


# --- prompts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Side:
    """One prompt, and what its requests are."""

    prompt: Prompt
    pack: Pack | None
    asked: tuple[Asked, ...]
    absent: tuple[Absence, ...] = ()

    def units(self) -> Iterator[Unit]:
        return _sections(self.prompt.rendered, self.pack)


def _side(repo: Repository, found: Selected, environment: Mapping[str, object]) -> _Side:
    if found.pin:
        teller = Teller(repo)
        return _pinned(repo, found.pin, teller.told(found.pin), Tools(*teller.tools(found.pin)))
    pack, program = _program(repo, found)
    rendered = lift(*run_program(program, unfilled(program, environment)))
    return _adopted(repo, found, pack, rendered)


def _pinned(repo: Repository, pin: Pin, told: Told, tools: Tools) -> _Side:
    pack = None if pin.observed else pack_of(repo, version_of(repo, pin))
    markers, provider = wanted_of_pin(repo, pin)
    asked = asked_of_pins(repo, pin, provider, tools.value)
    absent = (*told.absent, *tools.absent)
    return _Side(Prompt(told.rendered, pack, markers), pack, asked, absent)


def _program(repo: Repository, found: Selected) -> tuple[Pack, Program]:
    assert found.version is not None  # noqa: S101  # `select` gives one of the two
    pack = pack_of(repo, found.version)
    return pack, compile_pack(pack)


def _adopted(repo: Repository, found: Selected, pack: Pack, rendered: Rendered) -> _Side:
    version = found.version
    assert version is not None  # noqa: S101  # as above
    markers, provider = wanted_of(manifest_of(repo, version))
    tree = version.name if version.kind == "trees" else None
    asked = asked_of(repo, tree, provider_of(repo, tree, provider))
    return _Side(Prompt(rendered, pack, markers), pack, asked)


def _evened(
    repo: Repository, sides: tuple[_Side, _Side], found: tuple[Selected, Selected]
) -> tuple[_Side, _Side, bool | None, tuple[str, ...]]:
    """Put placeholders into both sides; also what digests prove, and words for it.

    Where the values differ, so do the placeholders: one of them is what differs.
    """
    a, b = (each.pin for each in found)
    if a is None or b is None:
        one, other = (
            side if each.pin else _with_placeholders(repo, each)
            for side, each in zip(sides, found, strict=True)
        )
        said = "whether the values are the same cannot be told: they are not in this clone"
        return one, other, None, (said,)
    teller = Teller(repo)
    pair = alike(teller, a, b)
    same, notes = pair.same, list[str]()
    if not same.prompt and not (a.observed or b.observed):
        shown = [told.rendered.data for told in pair.prompts]
        if same.values is False:
            notes.append("the values differ; which of them cannot be told, none is in this clone")
        elif same.values is None:
            notes.append("whether the values are the same cannot be told: their digests are keyed")
        elif same.prompt is False and shown[0] == shown[1]:
            notes.append("the prompts differ in what their values choose; those are not here")
        if same.values is False or (same.prompt is False and shown[0] == shown[1]):
            pair = alike(teller, a, b, marked=True)
    one, other = (
        _pinned(repo, pin, told, tools)
        for pin, told, tools in zip((a, b), pair.prompts, pair.tools, strict=True)
    )
    if same.tools is False and (pair.tools[0].absent or pair.tools[1].absent):
        notes.append("the tools differ, and they are not in this clone")
    return one, other, same.prompt, tuple(notes)


def _with_placeholders(repo: Repository, found: Selected) -> _Side:
    """Render a version with a placeholder for all that depends on a value."""
    pack, program = _program(repo, found)
    return _adopted(repo, found, pack, stand_in(program).rendered)


def _sections(rendered: Rendered, pack: Pack | None) -> Iterator[Unit]:
    """Give each section's bytes; what stands between two belongs to none."""
    order = dict.fromkeys(span.section for span in rendered.spans)
    for name in order:
        data = b"".join(
            [rendered.data[s.start : s.end] for s in rendered.spans if s.section == name]
        )
        section = pack.section(name) if pack else None
        if name or pack is None:
            yield Unit("system", name or "text", data, str(section.plane) if section else "")


# --- bodies ---------------------------------------------------------------------------------


def _bodies(where: Where, a: str, b: str) -> Difference:
    requests = requests_of(where, a, b)
    absent = (*requests[0].absent, *requests[1].absent)
    sides = read_sides(requests, None)
    old, new = (side.body for side in sides)
    same = common_bytes(old, beside(old, new))
    units = diff_units(list(_parts(old)), list(_parts(new)))
    found = cost_of(Asked(new.shape, new.model), old, reuse(old, new))
    found = replace(found, is_about=bool(absent))
    said = "a placeholder is compared with the captured text, so it differs there at any rate"
    notes = (said,) if any(row.what != "tools" for row in absent) else ()
    return Difference(a, b, units, len(old), len(new), same, (found,), absent, notes)


def _parts(body: Body) -> Iterator[Unit]:
    """Give the settings and each part; its leaves stand on lines of their own."""
    for setting in body.settings:
        if setting.text is not None:
            yield Unit("settings", setting.name, setting.text.encode("utf-8", "surrogatepass"))
    for part in body.parts:
        yield Unit(str(part.region), _name(part), b"\n".join([leaf.data for leaf in part.leaves]))


def _name(part: Part) -> str:
    """Name a tool by its name, anything else by its place."""
    named = [leaf.text for leaf in part.leaves if leaf.pointer.endswith("/name")]
    return named[0] if named and part.region == "tools" else part.pointer
