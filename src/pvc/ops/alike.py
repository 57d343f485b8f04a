"""Two pins, made comparable where the values of one or both are not in this clone.

    both here            compared as they were pinned
    one prompt digest    one prompt, whatever it is
    one values' digest   the same placeholders on both sides: what differs is text
    others               placeholders on both sides; that the values differ is known, which is not

Rule 1: what digests prove is said as proven. Digests under another key, or under none, prove
nothing of each other.
Rule 2: a placeholder is never compared with a value: that would be a difference of our own making.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.stand_in import tagged

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.ops.absent import Absence
    from pvc.ops.told import Teller, Told


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a pin, or what stands in for them."""

    value: Value
    absent: tuple[Absence, ...] = ()


@dataclass(frozen=True, slots=True)
class Same:
    """What the digests of two pins prove; null is nothing."""

    prompt: bool | None
    values: bool | None
    tools: bool | None

    @classmethod
    def of(cls, a: Pin, b: Pin) -> Same:
        """Compare the digests of two pins."""

        def same(one: Digest | None, other: Digest | None) -> bool | None:
            if one is None or other is None:
                return one == other
            return one == other if a.key == b.key else None

        return cls(
            same(a.prompt, b.prompt), same(a.environment, b.environment), same(a.tools, b.tools)
        )


@dataclass(frozen=True, slots=True)
class Alike:
    """Two prompts of pins, and their tools, that can be compared."""

    prompts: tuple[Told, Told]
    tools: tuple[Tools, Tools]
    same: Same

    @property
    def absent(self) -> tuple[Absence, ...]:
        """Everything that placeholders stand for."""
        prompts = (row for told in self.prompts for row in told.absent)
        return (*prompts, *(row for tools in self.tools for row in tools.absent))


def alike(teller: Teller, a: Pin, b: Pin, *, marked: bool = False) -> Alike:
    """Give two pins' prompts for a comparison; `marked` placeholders differ where values do."""
    same = Same.of(a, b)
    return Alike(_prompts(teller, (a, b), same, marked=marked), _tools(teller, (a, b), same), same)


def _prompts(
    teller: Teller, pins: tuple[Pin, Pin], same: Same, *, marked: bool
) -> tuple[Told, Told]:
    one, other = map(teller.told, pins)
    if one.is_exact and other.is_exact:
        return one, other
    if same.prompt:
        best = one if one.is_exact else other
        return best, best
    if any(pin.observed for pin in pins):
        return one, other
    digests = [pin.prompt if same.values else pin.environment for pin in pins]
    marks = [tagged(each.short if each else "none") if marked else None for each in digests]
    one, other = (
        teller.told(pin, mark=mark, bare=True) for pin, mark in zip(pins, marks, strict=True)
    )
    return one, other


def _tools(teller: Teller, pins: tuple[Pin, Pin], same: Same) -> tuple[Tools, Tools]:
    one, other = (Tools(*teller.tools(pin)) for pin in pins)
    if (one.absent or other.absent) and same.tools is None:
        # Two names would be a difference of our own making.
        held = one if one.absent else other
        return Tools(held.value, one.absent), Tools(held.value, other.absent)
    return one, other
