"""An impact as text for a terminal and as Markdown for a review comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.ops.cost import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.impact import SectionMove
    from pvc.ops.impact import Impact, WhatIf
    from pvc.ops.price import Lost

_SHOWN = 10


def summary(result: Impact) -> str:
    """Say in one sentence what moves."""
    if result.first_moved_byte is None:
        return f"{result.base} to {result.candidate}: no byte of the prompt moves."
    return (
        f"{result.base} to {result.candidate}: the prompt moves from byte "
        f"{result.first_moved_byte} of {result.prompt_bytes[0]} on."
    )


def to_lines(result: Impact, *, listing: bool = False) -> Iterator[str]:
    """Write an impact for people."""
    yield summary(result)
    if result.first_moved_byte is not None:
        yield from (f"  {cost.in_words()}" for cost in result.costs)
    for path, is_rendered in result.paths:
        if not is_rendered:
            yield f"  {path}: not in the prompt, 0 bytes lost"
    for move in result.sections:
        if move.change != "same" or move.lost_bytes:
            yield f"  {_section(move)}"
    for place in result.placements:
        where = f"plane {place.plane} (byte {place.start})"
        yield f"  the same edit in {where} loses {place.lost_bytes}"
    if result.is_sample:
        yield "  without values: sections stand where a sample of the placeholders puts them"
    yield from _session_lines(result, listing=listing)
    if result.what_if:
        for each in (result.what_if, *result.what_if.others):
            yield from _what_if_lines(each)


def _lost(lost: Lost) -> str:
    return (
        f"{lost.size_bytes} bytes, {lost.tokens} tokens ({lost.tokens_low} to {lost.tokens_high})"
    )


def _section(move: SectionMove) -> str:
    size = f"{move.before_bytes} to {move.after_bytes} bytes"
    plane = f", {move.plane}" if move.plane else ""
    return f"{move.change:<8} {move.name}{plane}: {size}, {move.lost_bytes} lost"


def _session_lines(result: Impact, *, listing: bool) -> Iterator[str]:
    hours = result.since_s / 3600
    known = result.hit + result.unaffected + result.unknown
    yield (
        f"{known} sessions pinned in the last {hours:g} hours: {result.hit} share a prefix that "
        f"would be lost, {result.unaffected} do not, {result.unknown} cannot be rendered here."
        + (f" {_about(result)}" if result.about else "")
    )
    if not result.prefixes:
        return
    yield "They keep their versions; what is lost is what the next sessions would share with them."
    shown = result.prefixes if listing else result.prefixes[:_SHOWN]
    for prefix in shown:
        count = len(prefix.sessions)
        yield (
            f"  {prefix.prompt.short}  {prefix.version}  {count} sessions, "
            f"{'about ' if prefix.is_about else ''}{prefix.lost.size_bytes} bytes from byte "
            f"{prefix.first_moved_byte}"
        )
        yield from (f"    {session}" for session in (prefix.sessions if listing else ()))
    if len(shown) < len(result.prefixes):
        yield f"  and {len(result.prefixes) - len(shown)} more prompts (--list shows them)"
    about = "about " if any(prefix.is_about for prefix in result.prefixes) else ""
    total = result.total
    yield f"Written again once each: {about}{_lost(total)}, as much as {_cost(total)}."


def _about(result: Impact) -> str:
    """Say of how many sessions the values are not here."""
    return (
        f"The values of {result.about} of them are not in this clone; placeholders stand in, so "
        "their figures are about right."
    )


def _cost(lost: Lost) -> str:
    return f"{lost.cost or 0:.0f} tokens of base input"


def _what_if_lines(what_if: WhatIf) -> Iterator[str]:
    provider = NAMES.get(what_if.provider, what_if.provider)
    yield f"In the order {', '.join(what_if.order)}, for {provider}:"
    yield "   as adopted    reordered"
    for one, other in zip(what_if.as_adopted, what_if.reordered, strict=True):
        yield f"  {one.lost_bytes:>11}  {other.lost_bytes:>11}  {one.label}"
    total = sum(one.lost_bytes for one in what_if.as_adopted)
    other_total = sum(one.lost_bytes for one in what_if.reordered)
    yield f"  {total:>11}  {other_total:>11}  bytes lost in all"


# --- Markdown ---------------------------------------------------------------------------------


def to_markdown(result: Impact) -> Iterator[str]:
    """Write an impact as a comment on a change."""
    yield f"### Prompt impact: `{result.tree}`"
    yield ""
    yield _plain(summary(result))
    if result.first_moved_byte is not None:
        yield ""
        yield from (f"- {_plain(cost.in_words())}" for cost in result.costs)
    rows = [move for move in result.sections if move.change != "same" or move.lost_bytes]
    if rows:
        yield ""
        yield "| section | change | plane | bytes | lost |"
        yield "|---|---|---|---:|---:|"
        for move in rows:
            size = f"{move.before_bytes} → {move.after_bytes}"
            cells = (_code(move.name), move.change, move.plane or "", size, move.lost_bytes)
            yield "| " + " | ".join(str(cell) for cell in cells) + " |"
    idle = [path for path, is_rendered in result.paths if not is_rendered]
    if idle:
        yield ""
        yield f"Not in the prompt, so 0 bytes lost: {', '.join(map(_code, idle))}."
    yield ""
    yield _plain(next(iter(_session_lines(result, listing=False))))
    if result.prefixes:
        about = "about " if any(prefix.is_about for prefix in result.prefixes) else ""
        price = f"{about}{_lost(result.total)}, {_cost(result.total)}"
        yield _plain(f"Price, once each: {price}.")
    if result.placements:
        yield ""
        for place in result.placements:
            yield f"- the same edit in plane {place.plane} loses {place.lost_bytes} bytes"


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def _code(text: str) -> str:
    """Write a name as code; a name can hold neither a line end nor a way out."""
    return "`" + text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"
