"""A log of versions as text: one line a version, below it what moved, by whom and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.cli.show import version_line
from pvc.launch.words import day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pvc.ops.moves import Move
    from pvc.ops.versions_log import Apart, Arrival, Entry, VersionsLog


def _versions(result: VersionsLog) -> Iterator[str]:
    for apart in result.diverged:
        yield from _apart_lines(apart)
    if result.unfetched:
        from pvc.ops.fresh import said

        yield from map(said, result.unfetched)
    if not result.entries and not result.unfetched:
        yield "No trees and no packs here; pvc init DIR makes a tree."
    for entry in result.entries:
        yield _entry_line(entry)
        yield from (f"    {line}" for line in _details(entry))


def _entry_line(entry: Entry) -> str:
    return version_line(entry.version) + _sessions(entry.sessions)


def _sessions(count: int | None) -> str:
    return f"  ({count} session{'' if count == 1 else 's'})" if count else ""


def _details(entry: Entry) -> Iterator[str]:
    if entry.version.reverts:
        yield f"has the tree of {entry.version.reverts.short} again"
    if entry.resolved:
        yield f"resolves {version_line(entry.resolved)}{_sessions(entry.resolved_sessions)}"
    for move in entry.moves or ():
        yield _move_line(move)
    for arrival in entry.arrivals:
        yield _arrival_line(arrival)
        if arrival.resolved:
            side = arrival.resolved
            yield f"  resolves {side.version.label} there  {side.author.name}  {side.subject}"


def _move_line(move: Move) -> str:
    """Say what an event moved, in one line."""
    between = f"{', '.join(move.events)} ({move.before} → {move.after})"
    said = f"; {', '.join(move.places)}" if move.places else ""
    return f"{between}: {_bytes(move)}{said if move.kept is not None else ''}"


def _bytes(move: Move) -> str:
    if not move.costs:
        return "which bytes moved is not known here"
    about = "about " if move.is_about else ""
    return ", ".join(
        f"{cost.label}: kept {about}{cost.reuse.kept} of {cost.reuse.scope} bytes"
        for cost in move.costs
    )


def _arrival_line(arrival: Arrival) -> str:
    """Say when a channel came, from where, and why."""
    move = arrival.move
    since = "here since" if arrival.is_there else "came"
    before = f" (from {arrival.before.label})" if arrival.before else ""
    moved = f"; {_bytes(arrival.prompt)}" if arrival.prompt else ""
    when = day(move.time.seconds)
    return f"{move.channel} {since} {when}{before}  {move.author.name}  {move.subject}{moved}"


def _apart_lines(apart: Apart) -> Iterator[str]:
    name = apart.ref.removeprefix("refs/pvc/")
    who, when = apart.author.partition(" <")[0], day(apart.time)
    yield f"{apart.remote} went on otherwise: {name}"
    yield f"    {apart.label}  {apart.commit.short}  {when}  {who}  {apart.reason}"
    kind, _, rest = name.partition("/")
    tree, _, channel = rest.partition("/")
    answer = f"promote {tree}@V {channel}" if kind == "channels" else f"supersede {tree}"
    yield f"    pvc {answer} --resolve {apart.remote} -m REASON goes on from both"


TEXTS: dict[str, Callable[[Any], Iterator[str]]] = {"VersionsLog": _versions}
