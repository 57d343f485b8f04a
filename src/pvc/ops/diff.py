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
from pvc.core.divergence import common_bytes, common_prefix
from pvc.core.program import run as run_program
from pvc.core.stream import ANTHROPIC
from pvc.core.unit_diff import Unit, UnitDiff, diff_units
from pvc.model.span import lift
from pvc.ops.price import Lost, lost_bytes
from pvc.ops.request import is_file, read_sides, request_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.model.body import Body, Part
    from pvc.model.pack import Pack
    from pvc.model.span import Rendered
    from pvc.ops.request import Where

__all__ = ["Difference", "UnitDiff", "diff"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two sides, compared; `same_bytes` is what both begin with, `lost` the rest of A."""

    a: str
    b: str
    units: tuple[UnitDiff, ...]
    a_bytes: int
    b_bytes: int
    same_bytes: int
    lost: Lost

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
            "units": [unit.to_json() for unit in self.units],
        }


def diff(where: Where, a: str, b: str, environment: Mapping[str, object]) -> Difference:
    """Compare two words: versions or sessions, else files with request bodies."""
    if is_file(where, a) or is_file(where, b):
        return _bodies(where, a, b)
    (old, old_units), (new, new_units) = (_prompt(where, word, environment) for word in (a, b))
    same = common_prefix(old, new)
    lost = lost_bytes(len(old) - same, ANTHROPIC, "")
    return Difference(a, b, diff_units(old_units, new_units), len(old), len(new), same, lost)


# --- prompts --------------------------------------------------------------------------------


def _prompt(where: Where, word: str, environment: Mapping[str, object]) -> tuple[bytes, list[Unit]]:
    from pvc.ops.pins import version_of
    from pvc.ops.programs import pack_of
    from pvc.ops.select import select
    from pvc.ops.told import Teller

    found = select(where.repo, word)
    if found.pin:
        rendered = Teller(where.repo).rendered(found.pin)
        pack = (
            None if found.pin.observed else pack_of(where.repo, version_of(where.repo, found.pin))
        )
    else:
        assert found.version is not None  # noqa: S101  # `select` gives one of the two
        pack = pack_of(where.repo, found.version)
        program = compile_pack(pack)
        rendered = lift(*run_program(program, unfilled(program, environment)))
    return rendered.data, list(_sections(rendered, pack))


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
    sides = read_sides((request_of(where, a), request_of(where, b)), None)
    old, new = (side.body for side in sides)
    same = common_bytes(old, new)
    units = diff_units(list(_parts(old)), list(_parts(new)))
    lost = lost_bytes(len(old) - same, old.shape, old.model)
    return Difference(a, b, units, len(old), len(new), same, lost)


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
