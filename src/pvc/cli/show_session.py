"""Sessions as text: what was added, what a resume found, what was delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.cli.show import moment
from pvc.cli.show_blame import owner
from pvc.launch.words import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pvc.ops.resume import Resumed
    from pvc.ops.session import Added, SessionLog


def _added(result: Added) -> Iterator[str]:
    pin = result.pin
    mode = pin.entry.mode if pin.entry else ""
    past = {"append": "appended", "replace": "replaced by"}.get(mode, mode)
    yield f"{past} entry {pin.n} {pin.prompt} receipt {pin.receipt}"
    if result.lost.size_bytes:
        yield from (f"  {cost.in_words()}" for cost in result.costs)
    yield from (f"note: {note}" for note in result.notes)


def _session_log(result: SessionLog) -> Iterator[str]:
    for pin in result.pins:
        mark = "*" if pin.n in result.standing else " "
        mode, who = (pin.entry.mode, pin.entry.author) if pin.entry else ("version", pin.label)
        reason = f"  {pin.reason}" if pin.reason else ""
        yield f"{mark}{pin.n:>5}  {moment(pin.time)}  {pin.prompt.short}  {mode:<7} {who}{reason}"


def _resumed(result: Resumed) -> Iterator[str]:
    pin, found = result.pin, result.difference
    place = f"{pin.session} at {pin.label or 'no version'}, position {pin.n}, {pin.prompt.short}"
    heading = {"same": "nothing moved", "differs": "differs", "recorded": "recorded"}
    yield f"{heading[result.status]}: {place}"
    if found:
        was = owner(found.pinned) if found.pinned else "nothing"
        yield f"  first at byte {found.byte}: {was} gives way to {found.given}"
        yield from (f"  {cost.in_words()}" for cost in found.costs)
    for entry in result.entries:
        who = entry.author or "unlabelled"
        yield f"  {entry.mode} {len(entry.data)} bytes ({who}): {excerpt(entry.data)}"
    for lost in result.discarded:
        who = lost.entry.author if lost.entry else ""
        yield f"  discards entry {lost.n} of {who}"
    for note in result.notes:
        yield f"note: {note}"
    if result.status == "differs" and (result.entries or found):
        yield "nothing was recorded; --record REASON records it"


TEXTS: dict[str, Callable[[Any], Iterator[str]]] = {
    "Added": _added,
    "Resumed": _resumed,
    "SessionLog": _session_log,
}
