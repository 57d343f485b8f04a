"""Prompt → request body in a provider's shape, tools and system only.

The leaves of what is emitted are exactly those of `core.stream.head`, so a pin's head digest and a
comparison of emitted bodies speak of the same bytes.

Rule 1: blocks go out as they are, one system text each; where they end is the form's business.
Rule 2: markers are not content and stand on blocks only. Without any named, one stands on the last
block: it covers tools and system together.
Rule 3: a plane's marker stands on the last block that holds text of the plane. Two on one block are
one, of the longer lifetime.
Rule 4: what the provider would refuse is refused here: more markers than it takes, those that the
tools bring along included, an unknown lifetime, a longer one behind a shorter one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.core.json_text import dump
from pvc.core.stream import ANTHROPIC, CHAT, RESPONSES, SHAPES
from pvc.errors import UsageError
from pvc.providers.base import load_facts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pvc.core.json_text import Value
    from pvc.model.manifest import Marker
    from pvc.model.span import Plane


MARKER = "cache_control"


class BlockMarker(NamedTuple):
    """A cache marker on a block, by its number; an empty `ttl` is the provider's default."""

    block: int
    ttl: str = ""


def emit(
    shape: str,
    blocks: Sequence[bytes],
    *,
    tools: list[Value] | None = None,
    model: str = "",
    markers: Iterable[BlockMarker] = (),
) -> dict[str, Value]:
    """Write the front of a request; `tools` are in the shape's own form.

    Raises `UsageError` on a shape that pvc does not know, and on markers that the provider would
    refuse. Shapes without markers leave them out.
    """
    body: dict[str, Value] = {"model": model} if model else {}
    if tools:
        body["tools"] = tools
    texts = [block.decode() for block in blocks]
    if shape == ANTHROPIC:
        return body | {"system": _system(texts, tools or [], tuple(markers)), "messages": []}
    if shape == CHAT:
        parts: list[Value] = [{"type": "text", "text": text} for text in texts]
        content: Value = texts[0] if len(texts) == 1 else parts
        return body | {"messages": [{"role": "system", "content": content}] if texts else []}
    if shape == RESPONSES:
        return body | ({"instructions": "".join(texts)} if texts else {}) | {"input": []}
    raise UsageError(f"no request shape `{shape}`", hint="one of " + ", ".join(SHAPES))


def plane_markers(
    planes: Sequence[Collection[Plane]], wanted: Iterable[Marker]
) -> tuple[BlockMarker, ...]:
    """Place markers after planes; `planes` are those of each block (`core.planes`).

    A plane that no block holds has no marker.
    """
    placed: dict[int, str] = {}
    for marker in wanted:
        holding = [number for number, held in enumerate(planes) if marker.plane in held]
        if holding:
            ttls = [marker.ttl, *([placed[holding[-1]]] if holding[-1] in placed else [])]
            placed[holding[-1]] = max(ttls, key=_seconds)
    return tuple(BlockMarker(number, placed[number]) for number in sorted(placed))


# --- Anthropic's system list ----------------------------------------------------------------


def _system(texts: list[str], tools: list[Value], markers: tuple[BlockMarker, ...]) -> list[Value]:
    placed = dict(markers or ([BlockMarker(len(texts) - 1)] if texts else []))
    if len(placed) < len(markers) or not placed.keys() <= set(range(len(texts))):
        raise UsageError(f"markers on blocks {[*markers]}, and there are {len(texts)} blocks")
    _check([*_of_tools(tools), *(placed[number] for number in sorted(placed))])
    blocks: list[Value] = []
    for number, text in enumerate(texts):
        block: dict[str, Value] = {"type": "text", "text": text}
        if number in placed:
            ttl: dict[str, Value] = {"ttl": placed[number]} if placed[number] else {}
            block[MARKER] = {"type": "ephemeral", **ttl}
        blocks.append(block)
    return blocks


def _of_tools(tools: list[Value]) -> list[str]:
    """List the lifetimes of markers that the tools bring along; they stand in front."""
    controls = [tool.get(MARKER) for tool in tools if isinstance(tool, dict)]
    ttls = [control.get("ttl", "") for control in controls if isinstance(control, dict)]
    return [ttl if isinstance(ttl, str) else dump(ttl) for ttl in ttls]


def _check(ttls: list[str]) -> None:
    """Refuse markers, in the order of the request, that the provider would refuse."""
    most = load_facts("anthropic").breakpoints
    if most is not None and len(ttls) > most:
        raise UsageError(f"{len(ttls)} cache markers, and a request takes {most}")
    lifetimes = [_seconds(ttl) for ttl in ttls]
    if lifetimes != sorted(lifetimes, reverse=True):
        raise UsageError(
            "a cache marker of a longer lifetime stands behind a shorter one: "
            + ", ".join(ttl or load_facts("anthropic").default_ttl for ttl in ttls),
            hint="give the earlier one the longer lifetime",
        )


def _seconds(ttl: str) -> int:
    facts = load_facts("anthropic")
    lifetime = facts.lifetime_seconds.get(ttl or facts.default_ttl)
    if lifetime is None:
        raise UsageError(
            f"the provider has no lifetime `{ttl}`",
            hint="one of " + ", ".join(sorted(facts.lifetime_seconds)),
        )
    return lifetime
