"""Request bodies of every shape for hypothesis: plain ones, odd ones, and a later one of each.

Strings hold what readers stumble over: zero bytes, half surrogates, escapes, text beyond ASCII.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

TEXTS = st.one_of(
    st.sampled_from(["", "ok", "a\0b", "ü", "漢字 text", "\ud83d", "é", 'q"\\\n', "\\ud83d"]),
    st.text(max_size=12),
)
NUMBERS = st.sampled_from([0, 1, -1, 1.5, 2**53 + 1, 12345678901234567890])
SCALARS = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
MARK = st.just({"type": "ephemeral"})


def optional(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give objects in which any of the keys may be left out."""
    return st.fixed_dictionaries({}, optional=keys)


def typed(kind: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give blocks of a type, with a key that nobody knows."""
    return optional(**keys, cache_control=MARK, odd=VALUES).map(lambda made: {"type": kind, **made})


TEXT_BLOCK = typed("text", text=TEXTS)
BLOCKS = st.one_of(
    TEXT_BLOCK,
    typed("tool_use", id=TEXTS, name=TEXTS, input=VALUES),
    typed("tool_result", tool_use_id=TEXTS, content=st.none() | TEXTS | st.lists(TEXT_BLOCK)),
    typed("thinking", thinking=TEXTS, signature=TEXTS),
    VALUES,
)
CONTENT = st.one_of(st.none(), TEXTS, st.lists(BLOCKS, max_size=4))
ROLES = st.sampled_from(["user", "assistant", "system", "developer"])
TOOLS = optional(name=TEXTS, description=TEXTS, input_schema=VALUES, cache_control=MARK)
FUNCTIONS = optional(name=TEXTS, description=TEXTS, parameters=VALUES, strict=st.booleans())
CHAT_TOOLS = optional(type=st.just("function"), function=FUNCTIONS | VALUES)
PARTS = st.lists(typed("text", text=TEXTS) | VALUES, max_size=3)
CALLS = optional(id=TEXTS, type=TEXTS, function=optional(name=TEXTS, arguments=TEXTS) | VALUES)
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "model": st.sampled_from(["claude-sonnet-5", "gpt-5.5"]),
    "tool_choice": st.none() | st.just({"type": "any"}),
    "max_tokens": NUMBERS,
}

BODIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "anthropic.messages": optional(
        tools=st.lists(TOOLS | VALUES, max_size=3),
        system=CONTENT,
        messages=st.lists(optional(role=ROLES, content=CONTENT, odd=VALUES), max_size=5),
        **SETTINGS,
    ),
    "openai.chat": optional(
        tools=st.lists(CHAT_TOOLS, max_size=3),
        response_format=VALUES,
        messages=st.lists(
            optional(
                role=ROLES,
                content=st.none() | TEXTS | PARTS,
                tool_calls=st.none() | st.lists(CALLS | VALUES, max_size=2),
                name=TEXTS,
            ),
            max_size=5,
        ),
        **SETTINGS,
    ),
    "openai.responses": optional(
        tools=st.lists(TOOLS, max_size=3),
        text=optional(format=VALUES),
        instructions=st.none() | TEXTS,
        input=TEXTS
        | st.lists(
            optional(role=ROLES, content=st.none() | TEXTS | PARTS)
            | typed("function_call", call_id=TEXTS, name=TEXTS, arguments=TEXTS)
            | typed("function_call_output", call_id=TEXTS, output=VALUES),
            max_size=5,
        ),
        **SETTINGS,
    ),
}
LISTS = ("tools", "system", "messages", "input")


@st.composite
def pairs(draw: st.DrawFn, shape: str) -> tuple[bytes, bytes]:
    """Give a body and a later one: elements of its lists put in, taken out, replaced, or none."""
    a = draw(BODIES[shape])
    other = draw(BODIES[shape])
    b = json.loads(json.dumps(a))
    for key in LISTS:
        mine, theirs = b.get(key), other.get(key)
        if not isinstance(mine, list) or not draw(st.booleans()):
            continue
        at = draw(st.integers(0, len(mine)))
        new = theirs if isinstance(theirs, list) else []
        mine[at : at + draw(st.integers(0, 1))] = new[: draw(st.integers(0, 2))]
    for name in SETTINGS:
        if name in other and draw(st.booleans()):
            b[name] = other[name]
    return dump(draw, a), dump(draw, b)


def dump(draw: st.DrawFn, value: Any) -> bytes:
    """Write JSON in one of the layouts that programs write."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")]))
    plain = draw(st.booleans())
    text = json.dumps(value, separators=separators, ensure_ascii=plain)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8, only an escape
        return json.dumps(value, separators=separators).encode()
