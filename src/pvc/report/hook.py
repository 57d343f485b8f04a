"""What a hook has to say, for the terminal of whoever commits or pushes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.report.check import to_lines as check_lines
from pvc.report.impact import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.ops.hook import HookResult


def to_lines(result: HookResult) -> Iterator[str]:
    """Write refusals, findings, impacts and reminders, one a line; nothing where all is well."""
    for error in result.refused:
        yield f"pvc: refused {error}"
        if error.hint:
            yield f"  hint: {error.hint}"
    if result.checked and result.checked.found:
        yield from check_lines(result.checked)
    for impact in result.impacts:
        if impact.first_moved_byte is not None:
            yield f"pvc: {summary(impact)}"
            if impact.hit:
                yield f"  {impact.hit} pinned sessions share that prefix; pvc impact {impact.tree}"
    for name, label in result.moved_on:
        yield f"pvc: the folder of {name} moved on since {label}; pvc supersede {name} -m REASON"
    for name, label in result.behind:
        yield f"pvc: {label} was edited in the chain, and the folder of {name} lacks that"
