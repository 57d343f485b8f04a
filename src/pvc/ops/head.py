"""Whether two requests begin with the same head: tools, output format, system, and key settings.

Rule 1: markers and relation play no part: a head that changes is a fault of whoever writes it, with
or without a cache at the other end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.divergence import beside, common_bytes, first_divergence, routed_alike
from pvc.core.kind import decide
from pvc.model.body import Region
from pvc.model.span import FromSource
from pvc.ops.owner import owner_of
from pvc.ops.request import Request, read_sides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.kind import Cause
    from pvc.model.body import Divergence
    from pvc.ops.owner import Owner
    from pvc.ops.request import Where


@dataclass(frozen=True, slots=True)
class HeadDifference:
    """Where two heads part, what kind of change that is, and who owns the byte."""

    place: Divergence
    cause: Cause
    owner: Owner
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Say it for people."""
        place, run = self.place, self.owner.run
        yield f"the heads differ at byte {place.offset}, in {place.region}: {self.cause.kind}"
        for label, pointer, near in (
            ("a", place.path_a, place.near_a),
            ("b", place.path_b, place.near_b),
        ):
            at = "" if place.leaf_byte_offset is None else f" byte {place.leaf_byte_offset}"
            yield f"  {label} {pointer or '-'}{at}: {near!r}"
        yield f"  {self.cause.evidence}"
        if run.version:
            what = run.origin.path if isinstance(run.origin, FromSource) else "a value"
            who = run.source.author if run.source else run.version.author
            yield f"  {self.owner.change} by {who}: {what} of {run.version.label}"
        yield from (f"  {note}" for note in self.notes)


def head_difference(where: Where, a_json: bytes, b_json: bytes) -> HeadDifference | None:
    """Compare the heads of two request bodies; null when they are the same."""
    sides = read_sides((Request("a", a_json), Request("b", b_json)), None)
    a, b = (side.body for side in sides)
    b = routed_alike(a, beside(a, b))
    end = max(body.region_start(Region.MESSAGES) for body in (a, b))
    place = first_divergence(a, b, common_bytes(a, b), max(end, 1))
    if place is None:
        return None
    found = owner_of(where, sides, place)
    cause = decide(a, b, place, origin=found.origin)
    return HeadDifference(place, cause, found.owner, found.notes)
