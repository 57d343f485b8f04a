"""Kinds of change in the tool list: which tools, in which order, and the order inside a schema.

Rule 1: tools are told apart by name. One that only one side has is a change of the set, whatever
else moved; the same names in another order are a change of order.
Rule 2: in a schema, key order and the order of a list that is a set (`required`, `enum`, …) carry
no meaning. The order of `default`, `const`, `prefixItems` and `items` does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pvc.core.change import Match, became, words
from pvc.core.kind_texts import NAMED
from pvc.model.body import Kind, Region

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.body import Body, Divergence, Part

_SCHEMAS = ("input_schema", "parameters", "inputSchema")
_ORDERED = {"default", "const", "prefixItems", "items", "examples"}


def decide(a: Body, b: Body, divergence: Divergence) -> Match | None:
    """Name the kind of a divergence in the tools; null when it is the text of one leaf."""
    old, new = _names(a), _names(b)
    at = next((i for i, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), None)
    at = min(len(old), len(new)) if at is None else at
    here = _element_at(a, b, divergence)
    if at <= here and (at < len(old) or at < len(new)):
        was, now = old[at] if at < len(old) else "", new[at] if at < len(new) else ""
        if was and now and was in new and now in old:
            return Match(
                Kind.TOOL_ORDER, f"tool {at} was `{was}` and is `{now}`; both are in both lists"
            )
        if now and now not in old:
            return Match(Kind.TOOL_SET, f"tool `{now}` was added at place {at}")
        return Match(Kind.TOOL_SET, f"tool `{was}` was removed from place {at}")
    return _schema(a, b, divergence)


def _names(body: Body) -> list[str]:
    """Give the name of each tool; a tool without one is told apart by its type."""
    return [_name(part) for part in body.parts if part.region is Region.TOOLS]


def _name(part: Part) -> str:
    named = part.value.get("name") if isinstance(part.value, dict) else None
    if isinstance(named, str) and named and "function" not in part.value:
        return named  # as nearly always; the leaves need not be written for that
    leaves = {leaf.pointer.rsplit("/", 1)[-1]: leaf.text for leaf in reversed(part.leaves)}
    return leaves.get("name") or leaves.get("type") or ""


def _element_at(a: Body, b: Body, divergence: Divergence) -> int:
    found = []
    for body in (a, b):
        held = body.leaf_at(divergence.offset)
        if held is not None and held[0].region is Region.TOOLS:
            found.append(held[0].element)
    return max(found)


def _schema(a: Body, b: Body, divergence: Divergence) -> Match | None:
    """Name the kind of a divergence in a schema that is not one of wording."""
    pointer = divergence.path_a or ""
    if divergence.path_b != pointer or pointer.rsplit("/", 1)[-1] not in _SCHEMAS:
        return None
    held = [body.leaf_at(divergence.offset) for body in (a, b)]
    leaves = [found[0] for found in held if found]
    try:
        old, new = (json.loads(leaf.data) for leaf in leaves)
    except (ValueError, RecursionError):  # a schema that is bare text
        return None
    place, one, other = _first_difference(old, new, "")
    if _only_order(place, one, other):
        return Match(Kind.SCHEMA_ORDER, f"the same schema, in another order at `{place or '/'}`")
    texts = [place, *(leaf.text for leaf in a.element(leaves[0].element))]
    is_choice = place.endswith("/enum") and isinstance(one, list) and isinstance(other, list)
    if is_choice and NAMED.search(words(" ".join(texts))):
        was, now = (
            [_text(x) for x in xs if x not in ys] for xs, ys in ((one, other), (other, one))
        )
        said = f"a list of choices at `{place}`: {became(' '.join(was), ' '.join(now))}"
        return Match(Kind.CATALOG, said)
    return None


def _first_difference(old: Any, new: Any, pointer: str) -> tuple[str, Any, Any]:
    """Go down to the innermost values that differ first and cannot be told apart further."""
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = _before_order(old, new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        whole = _only_order(pointer, old, new)  # then the list is the place, not its first entry
        pairs = () if whole else zip(range(len(old)), old, new, strict=True)
    for token, one, other in pairs:
        if _text(one) != _text(other):
            return _first_difference(one, other, f"{pointer}/{token}")
    return pointer, old, new


def _before_order(old: dict[str, Any], new: dict[str, Any]) -> Iterable[tuple[Any, Any, Any]]:
    """Give the members that stand before the first one whose key differs."""
    for key, other in zip(old, new, strict=False):
        if key != other:
            return
        yield key, old[key], new[key]


def _only_order(pointer: str, old: Any, new: Any) -> bool:
    """Tell whether two values that differ hold the same, in an order that carries no meaning."""
    if isinstance(old, dict) and isinstance(new, dict):
        moved = next(((x, y) for x, y in zip(old, new, strict=False) if x != y), None)
        return moved is not None and moved[0] in new and moved[1] in old
    lists = isinstance(old, list) and isinstance(new, list)
    if not lists or pointer.rsplit("/", 1)[-1] in _ORDERED:
        return False
    return _text(old) != _text(new) and _bag(old) == _bag(new)


def _text(value: Any) -> str:
    return json.dumps(value)


def _bag(values: list[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def differing_texts(old: str, new: str, at: int) -> tuple[str, str, int]:
    """Go down into two schemas to the texts that differ first; others come back as they are."""
    try:
        values = json.loads(old), json.loads(new)
    except (ValueError, RecursionError):
        return old, new, at
    _, one, other = _first_difference(*values, "")
    if not isinstance(one, str) or not isinstance(other, str) or one == other:
        return old, new, at
    shared = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), None)
    return one, other, min(len(one), len(other)) if shared is None else shared
