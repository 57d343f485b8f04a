"""Which plane each part of a rendered prompt belongs to. Pure.

Rule 1: a byte has the plane of the section that its file's text stands in, and a value or a tool
given at launch is of plane launch wherever it is filled in. Glue lies between and has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.model.span import FromBinding, FromSource, FromTool, Plane

if TYPE_CHECKING:
    from pvc.model.pack import Pack
    from pvc.model.span import Rendered, Span


def plane_of(pack: Pack, span: Span) -> Plane | None:
    """Tell the plane of a span's bytes; null for glue."""
    match span.origin:
        case FromSource(name=name):
            section = pack.section(name)
            return section.plane if section else None
        case FromBinding() | FromTool():
            return Plane.LAUNCH
        case _:
            return None


def block_planes(pack: Pack, rendered: Rendered) -> tuple[frozenset[Plane], ...]:
    """List the planes of each block of a prompt."""
    found: list[set[Plane]] = [set() for _ in rendered.block_ends]
    at = 0
    for span in rendered.spans:
        while at < len(found) and span.start >= rendered.block_ends[at]:
            at += 1
        plane = plane_of(pack, span)
        if plane is not None and at < len(found):
            found[at].add(plane)
    return tuple(frozenset(planes) for planes in found)


def stable_bytes(pack: Pack, rendered: Rendered) -> int:
    """Count the leading bytes that no launch value touches."""
    launch = (span.start for span in rendered.spans if plane_of(pack, span) is Plane.LAUNCH)
    return next(launch, len(rendered.data))


def plane_starts(pack: Pack, rendered: Rendered) -> tuple[tuple[Plane, int], ...]:
    """Find the first byte of each run of one plane, in order."""
    starts: list[tuple[Plane, int]] = []
    for span in rendered.spans:
        plane = plane_of(pack, span)
        if plane and (not starts or starts[-1][0] is not plane):
            starts.append((plane, span.start))
    return tuple(starts)
