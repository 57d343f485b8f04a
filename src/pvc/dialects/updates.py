"""How each form words an update of its dynamic plane. Pure.

    ## Context update            harness and the forms that have no wording of their own

    ### wiki

    The text of the section.

    No longer current: references

    ## Current context           raku: facts as bullets, sections, the pack's closing lines

    - branch: main

    The text of a section.

Rule 1: an update holds the sections that are new, whole, and the names of those withdrawn. What did
not change is not said again.
Rule 2: a text stands as it is, without the line ends around it; it is never templated.
Rule 3: the channel is explained once, in the prompt; an update explains nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects.raku import closing_lines
from pvc.dialects.raku_context import RunContext
from pvc.model.manifest import Form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pvc.model.pack import Pack

HEADING = "## Context update"
WITHDRAWN = "No longer current: "
LINE_ENDS = "\r\n"


@dataclass(frozen=True, slots=True)
class Told:
    """What one update says. `facts` are the names that are short values, not sections."""

    sections: Mapping[str, str]
    facts: frozenset[str]
    withdrawn: Sequence[str]


def message(pack: Pack, told: Told) -> str:
    """Write an update in the words of the pack's form; empty when it has nothing to say."""
    if not told.sections and not told.withdrawn:
        return ""
    if pack.form == Form.RAKU:
        return _raku(pack, told)
    facts = [
        f"- {name}: {_bare(told.sections[name])}" for name in told.sections if name in told.facts
    ]
    parts = [HEADING, *(["\n".join(facts)] if facts else [])]
    parts += [
        f"### {name}\n\n{_bare(text)}"
        for name, text in told.sections.items()
        if name not in told.facts
    ]
    parts += _withdrawn(told)
    return "\n\n".join(parts) + "\n"


def context_of(told: Mapping[str, str], facts: frozenset[str]) -> RunContext:
    """Give the dynamic plane as the run context of form `raku`."""
    return RunContext.of(
        facts=[[name, text] for name, text in told.items() if name in facts],
        tail=[[name, text] for name, text in told.items() if name not in facts],
    )


def _raku(pack: Pack, told: Told) -> str:
    context, closing = context_of(told.sections, told.facts), closing_lines(pack)
    withdrawn = RunContext.of(tail=[["withdrawn", line] for line in _withdrawn(told)])
    whole = RunContext(context.facts, (), (*context.tail, *withdrawn.tail))
    return whole.tail_message(closing) or ""


def _withdrawn(told: Told) -> list[str]:
    return [WITHDRAWN + ", ".join(told.withdrawn)] if told.withdrawn else []


def _bare(text: str) -> str:
    return text.strip(LINE_ENDS)
