"""What session and worker prompts share: gates on tools, words, the scope of a turn. Pure."""

from __future__ import annotations

from pvc.dialects.clio_table import TOOL_NAMES
from pvc.model.recipe import (
    Body,
    Entries,
    Every,
    Filled,
    Has,
    Is,
    Joined,
    Named,
    Names,
    Not,
    Part,
    Parts,
    Path,
    Some,
    Trimmed,
    When,
    Words,
)

BLANK_LINE = b"\n\n"
GAP = Words(BLANK_LINE, "joint")


def heading(text: str, rule: str) -> Words:
    """Give a first-level heading that the form puts on by itself."""
    return Words(f"# {text}".encode(), rule)


def words(name: str, *fills: tuple[str, Parts]) -> Trimmed:
    """Give the sentence `words.NAME` of the words pack."""
    return Trimmed((Body(f"words.{name}", fills),))


def fragment(name: str, *fills: tuple[str, Parts]) -> Trimmed:
    """Give the body of a fragment, trimmed."""
    return Trimmed((Body(name, fills),))


def additional(*path: str) -> Entries:
    """Give the fragments that the harness adds, each a section under its own id."""
    return Entries("additional", (*path, "additional"), BLANK_LINE)


def tools_work(*path: str) -> Not:
    """Whether tools can be called, as far as anybody knows."""
    return Not(Is((*path, "providerSupportsTools"), value=False))


def on_surface(tool: str, *path: str) -> Has:
    """Whether `tool` is among the attached ones."""
    return Has((*path, "toolNames"), tool)


def allowed(tool: str, *path: str) -> Every:
    """Whether the turn's constraints leave `tool`."""
    turn = (*path, "turnConstraints")
    tools = (*turn, "allowedTools")
    listed = Some((Is(tools, None), Has(tools, tool, trimmed=False)))
    if tool != "dispatch":
        return Every((listed,))
    return Every((listed, Not(Is((*turn, "delegation"), "forbidden"))))


def turn_scope(*path: str) -> When:
    """Say what the turn allows; nothing when it sets no limits."""
    turn: Path = (*path, "turnConstraints")
    tools: Path = (*turn, "allowedTools")
    lines: list[tuple[Part, Is | Every]] = [
        (words("turn-answer"), Is((*turn, "mode"), "answer")),
        (words("turn-proposal"), Is((*turn, "mode"), "proposal")),
        (words("turn-change"), Is((*turn, "mode"), "change")),
        (words("turn-no-delegation"), Is((*turn, "delegation"), "forbidden")),
        (words("turn-no-skills"), Is((*turn, "skills"), "disabled")),
        (
            words("turn-tools", (TOOL_NAMES, (Names("allowedTools", tools, trimmed=False),))),
            Every((Not(Is(tools, None)), Filled(tools, trimmed=False))),
        ),
        (
            words("turn-no-tools"),
            Every((Not(Is(tools, None)), Not(Filled(tools, trimmed=False)))),
        ),
    ]
    said = tuple(When(condition, (part,)) for part, condition in lines)
    scope = Joined(b"\n", (heading("Current task scope", "turn-heading"), *said))
    return When(Some(tuple(condition for _, condition in lines)), (Named("turn-scope", (scope,)),))


def tool_names(*path: str) -> tuple[str, Parts]:
    """Fill `{TOOL_NAMES}` with the attached tools, sorted, each between backticks."""
    return (TOOL_NAMES, (Names("toolNames", (*path, "toolNames"), wrap=b"`"),))
