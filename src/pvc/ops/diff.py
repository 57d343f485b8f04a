"""Two versions, pins or request bodies: what differs, unit by unit, and what a cache loses by it.

Rule 1: versions and pins are compared as they are rendered. A version's value that is not given is
its placeholder, written out, so that two versions can be compared with nothing at hand.
Rule 2: as soon as one side is a body both are: a pin is written as the front of a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.align import unfilled
from pvc.core.compile import compile_pack
from pvc.core.divergence import beside, common_bytes, common_prefix
from pvc.core.program import run as run_program
from pvc.core.reuse import reuse
from pvc.core.unit_diff import Unit, UnitDiff, diff_units
from pvc.model.span import lift
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
from pvc.ops.request import is_file, read_sides, requests_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.model.body import Body, Part
    from pvc.model.pack import Pack
    from pvc.model.span import Rendered
    from pvc.ops.price import Lost
    from pvc.ops.request import Where

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

    @property
    def lost(self) -> Lost:
        """What is lost at worst."""
        return self.costs[0].lost

    @property
    def differs(self) -> bool:
        """Whether any byte differs, joints between the units included."""
        return not self.a_bytes == self.b_bytes == self.same_bytes

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
        }


def diff(where: Where, a: str, b: str, environment: Mapping[str, object]) -> Difference:
    """Compare two words: versions or sessions, else files with request bodies."""
    if is_file(where, a) or is_file(where, b):
        return _bodies(where, a, b)
    one, other = (_side(where, word, environment) for word in (a, b))
    old, new = one.prompt.rendered.data, other.prompt.rendered.data
    same = common_prefix(old, new)
    units = diff_units(list(one.units()), list(other.units()))
    found = costs(one.asked, one.prompt, other.prompt)
    return Difference(a, b, units, len(old), len(new), same, found)


# --- prompts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Side:
    """One prompt, and what its requests are."""

    prompt: Prompt
    pack: Pack | None
    asked: tuple[Asked, ...]

    def units(self) -> Iterator[Unit]:
        return _sections(self.prompt.rendered, self.pack)


def _side(where: Where, word: str, environment: Mapping[str, object]) -> _Side:
    from pvc.ops.pins import tools_of, version_of
    from pvc.ops.programs import pack_of
    from pvc.ops.select import select
    from pvc.ops.told import Teller

    repo = where.repo
    found = select(repo, word)
    if found.pin:
        pin = found.pin
        rendered = Teller(repo).rendered(pin)
        pack = None if pin.observed else pack_of(repo, version_of(repo, pin))
        markers, provider = wanted_of_pin(repo, pin)
        asked = asked_of_pins(repo, pin, provider, tools_of(repo, pin))
        return _Side(Prompt(rendered, pack, markers), pack, asked)
    assert found.version is not None  # noqa: S101  # `select` gives one of the two
    pack = pack_of(repo, found.version)
    program = compile_pack(pack)
    rendered = lift(*run_program(program, unfilled(program, environment)))
    markers, provider = wanted_of(manifest_of(repo, found.version))
    tree = found.version.name if found.version.kind == "trees" else None
    asked = asked_of(repo, tree, provider_of(repo, tree, provider))
    return _Side(Prompt(rendered, pack, markers), pack, asked)


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
    sides = read_sides(requests_of(where, a, b), None)
    old, new = (side.body for side in sides)
    same = common_bytes(old, beside(old, new))
    units = diff_units(list(_parts(old)), list(_parts(new)))
    found = cost_of(Asked(new.shape, new.model), old, reuse(old, new))
    return Difference(a, b, units, len(old), len(new), same, (found,))


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
