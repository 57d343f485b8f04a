"""Form `harness`: what an adoption changed among the skills, told to sessions that stay. Pure.

    - new: tidy — Put the worktree in order before a release.
    - changed: deploy — Ship a build.
    - gone: rollback

Rule 1: this is a delta and no second copy of the tree: a skill that did not change is not named.
Rule 2: of a skill only its name and its description are told, the description on one line and cut
at `MOST` characters: the skill itself is read when it is used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pvc.dialects.harness_files import SKILL_FILE, SKILLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.source import Sources

MOST = 160
SECTION = "skills"
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_DESCRIPTION = re.compile(r"^description:[ \t]+(.*?)[ \t\r]*$", re.MULTILINE)


class Skill(NamedTuple):
    """A skill of a tree: what it is for, and its whole text to compare by."""

    description: str
    data: bytes


def skills(sources: Sources) -> dict[str, Skill]:
    """Find the skills of a version, by name."""
    found = {}
    for source in sources.under(SKILLS):
        parts = source.path.split("/")
        if len(parts) == 3 and parts[2] == SKILL_FILE:
            found[parts[1]] = Skill(_description(source.data), source.data)
    return found


def delta(before: Mapping[str, Skill], after: Mapping[str, Skill]) -> str:
    """Write what changed between two catalogues; empty when nothing did."""
    lines = []
    for name in sorted({*before, *after}, key=str.encode):
        old, new = before.get(name), after.get(name)
        if new is None:
            lines.append(f"- gone: {name}")
        elif old is None or old.data != new.data:
            told = f" — {new.description}" if new.description else ""
            lines.append(f"- {'new' if old is None else 'changed'}: {name}{told}")
    return "\n".join(lines)


def _description(data: bytes) -> str:
    front = _FRONT_MATTER.match(data.decode(errors="replace"))
    found = _DESCRIPTION.search(front[1] or "") if front else None
    text = found[1].strip("\"'") if found else ""
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"
