"""How a form with many inputs makes one text of fragments and values: parts and conditions.

A pack of such a form has a recipe in place of bindings and a layout. Like them it is data:
`core.compile_recipe` turns any recipe into a program without knowing its form.

Rule 1: a part says what stands there, never how it is computed; what a condition may ask is the
closed list below.
Rule 2: a field is the path of a value in the environment, and every byte of a value keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str, ...]


# --- conditions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Is:
    """The value at `field` is this text or truth value; null stands for an absent one."""

    field: Path
    value: str | bool | None


@dataclass(frozen=True, slots=True)
class Held:
    """The text at `field` is not blank."""

    field: Path


@dataclass(frozen=True, slots=True)
class Above:
    """The number at `field` is above zero."""

    field: Path


@dataclass(frozen=True, slots=True)
class Filled:
    """The list at `field` has an entry; with `trimmed`, one that is not blank."""

    field: Path
    trimmed: bool = True


@dataclass(frozen=True, slots=True)
class Has:
    """The list at `field` has `text`, its entries `trimmed` or as they are."""

    field: Path
    text: str
    trimmed: bool = True


@dataclass(frozen=True, slots=True)
class Heads:
    """The text at `field` begins with a first-level heading of exactly that word."""

    field: Path
    word: str


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """All conditions hold."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one condition holds."""

    conditions: tuple[Condition, ...]


Condition = Is | Held | Above | Filled | Has | Heads | Not | Every | Some


# --- parts ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """Bytes that `rule` of the form adds."""

    data: bytes
    rule: str


@dataclass(frozen=True, slots=True)
class Body:
    """The fragment of that name, its placeholders filled from `fills`; absent, it is empty."""

    name: str
    fills: tuple[tuple[str, Parts], ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """The text at `field`, as given; in a fill it stands in for the placeholder."""

    name: str
    field: Path


@dataclass(frozen=True, slots=True)
class Count:
    """The number at `field`, as JavaScript prints it."""

    name: str
    field: Path


@dataclass(frozen=True, slots=True)
class Names:
    """The texts at `field`: unique, in UTF-16 order, each between backticks or bare."""

    name: str
    field: Path
    joint: bytes = b", "
    wrap: bytes = b""
    trimmed: bool = True


@dataclass(frozen=True, slots=True)
class Hints:
    """One line for each hint at `field` whose tool is among the names at `admitted`."""

    name: str
    field: Path
    admitted: Path


@dataclass(frozen=True, slots=True)
class Entries:
    """The objects at `field`, each a section of its own `id` with its trimmed `body`."""

    name: str
    field: Path
    joint: bytes


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Parts as one text without white space at its ends."""

    parts: Parts


@dataclass(frozen=True, slots=True)
class When:
    """Parts that stand there only when the condition holds."""

    condition: Condition
    parts: Parts


@dataclass(frozen=True, slots=True)
class Choose:
    """The parts of the choice at `field`."""

    field: Path
    choices: tuple[tuple[str, Parts], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts glued by `joint`; an empty one leaves no joint."""

    joint: bytes
    parts: Parts


@dataclass(frozen=True, slots=True)
class Named:
    """A section of the prompt, trimmed at both ends."""

    name: str
    parts: Parts


@dataclass(frozen=True, slots=True)
class Refuse:
    """The launch is refused when the condition holds; `pointer` is where it is wrong."""

    condition: Condition
    message: str
    pointer: str
    hint: str = ""


Part = (
    Words
    | Body
    | Value
    | Count
    | Names
    | Hints
    | Entries
    | Trimmed
    | When
    | Choose
    | Joined
    | Named
    | Refuse
)
Parts = tuple[Part, ...]
