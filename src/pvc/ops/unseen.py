"""What can be said of two requests of which some values or tools are not in this clone.

    the streams part in front of the first placeholder     exact: verdict, byte, kind, owner
    behind it, the values are the same                      exact but for the offset
    behind it, the values differ, and there is one          it came first: the values are the cause
    behind it, the values differ, and there are several     the text differs; a value may come first
    nowhere, and the prompts' digests differ                the values are the cause
    nowhere, and digests prove nothing                      not known

Rule 1: digests say whether; which of several values it is, and what it is, they do not say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pvc.model.body import Kind, Region, Verdict
from pvc.model.span import FromBinding
from pvc.ops.alike import Same
from pvc.ops.cost import prompt_bytes
from pvc.ops.request import alike_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.core.miss import Miss
    from pvc.model.body import Divergence
    from pvc.ops.request import Request, Side, Where

VALUES, TOOLS = "values", "tools"


class Found(NamedTuple):
    """Two requests, read, and what comparing them said."""

    sides: tuple[Side, Side]
    miss: Miss


def judged(
    where: Where,
    requests: tuple[Request, Request],
    found: Found,
    again: Callable[[tuple[Request, Request]], Found],
) -> Found:
    """Say of a comparison with placeholders what is certain, and what is not known.

    `again` compares two requests that were written anew.
    """
    place = found.miss.first_divergence
    one, other = requests
    if found.miss.kind is Kind.ACCOUNT:
        return found
    if place is not None and place.region is Region.TOOLS:
        return _of_tools(requests, found)
    if place is not None and _is_certain(found.sides, place):
        return found
    if one.pin is None or other.pin is None or one.pin.observed or other.pin.observed:
        return _not_known(found, VALUES) if place is not None else found
    same = Same.of(one.pin, other.pin)
    if same.tools is None and any(row.what == TOOLS for row in (*one.absent, *other.absent)):
        found = _not_known(found, TOOLS) if place is None else found
    if same.prompt:
        return found
    if place is None and same.prompt is None:
        return _not_known(found, VALUES)
    holes = _holes(found.sides)
    if place is not None and (same.values or len(holes) != 1):
        return found if same.values else _noted(found, holes)
    marked = again(alike_requests(where, requests, marked=True))
    at = marked.miss.first_divergence
    if at is None or _is_certain(marked.sides, at) or at.region is not Region.SYSTEM:
        return marked
    return Found(marked.sides, _because_of_values(marked.miss, holes, same))


def _is_certain(sides: tuple[Side, Side], place: Divergence) -> bool:
    """Whether a difference is in front of every placeholder."""
    if place.region is not Region.SYSTEM:
        return True
    for side in sides:
        if side.certain is not None and prompt_bytes(side.body, place.offset) >= side.certain:
            return False
    return True


def _holes(sides: tuple[Side, Side]) -> tuple[str, ...]:
    """Name the values that have placeholders, in the order of the prompts."""
    names = (
        span.origin.pointer
        for side in sides
        if side.rendered is not None
        for span in side.rendered.spans
        if isinstance(span.origin, FromBinding)
    )
    return tuple(dict.fromkeys(names))


def _because_of_values(miss: Miss, holes: tuple[str, ...], same: Same) -> Miss:
    first = holes[0].removeprefix("/") if holes else ""
    if same.values:
        said = "the prompts differ in what their values choose; those are not in this clone"
    else:
        said = "the values differ, and they are not in this clone"
    if len(holes) > 1:
        said += f"; `{first}` is the first that may be it"
    elif first:
        said += f"; it is `{first}`, the only one"
    return replace(
        miss, verdict=Verdict.MISS, kind=Kind.VALUES_NOT_HERE, evidence=said, kind_alternatives=()
    )


def _of_tools(requests: tuple[Request, Request], found: Found) -> Found:
    """Say that the tools differ, where that is all that is known of them."""
    if not any(row.what == TOOLS for request in requests for row in request.absent):
        return found
    said = "the tools differ, and they are not in this clone: names, order or schemas"
    others = (Kind.TOOL_ORDER, Kind.SCHEMA_ORDER)
    miss = replace(found.miss, kind=Kind.TOOL_SET, evidence=said, kind_alternatives=others)
    return Found(found.sides, miss)


def _noted(found: Found, holes: tuple[str, ...]) -> Found:
    names = ", ".join(f"`{pointer.removeprefix('/')}`" for pointer in holes)
    said = f"the values differ too, and one of them ({names}) may come before this text"
    return Found(found.sides, replace(found.miss, notes=(*found.miss.notes, said)))


def _not_known(found: Found, what: str) -> Found:
    unknown = dict.fromkeys((*found.miss.unknown, what))
    miss = replace(found.miss, verdict=Verdict.UNKNOWN, unknown=tuple(unknown))
    return Found(found.sides, miss)
