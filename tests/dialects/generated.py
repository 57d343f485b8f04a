"""Loom packs, environments and texts for properties, full of what readers trip over."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pvc.model.source import Source

WHITE = "\t\n\v\f\r \x85\u200e\u200f\u2028\u2029"
# No white space to Loom, a mark that joins, one that is joined to, and what placeholders are of.
OTHERS = "ab_0{}%#é\u00a0\u3000\ufeff\x1c\u0301\u200d\u0600😀"
CHARS = st.sampled_from(WHITE + OTHERS)
NAMES = ("workspace", "shell", "tools", "network", "enforcement", "protected", "unknown")
TEXTS = st.lists(
    st.one_of(CHARS, st.sampled_from(["\n\n", "  \n", "{", "}", *(f"{{{n}}}" for n in NAMES)])),
    max_size=30,
).map("".join)
SECTION_NAMES = st.sampled_from(["a", "b", "c9", "_enforcement_enforced", "_network_open", "_x"])


def _source(sections: list[tuple[str, str]]) -> Source:
    parts = [f"%% section {name}\n{text}\n%% # note\n{text}\n" for name, text in sections]
    text = "%% loom-prompt-pack 1\n%% version v1\n" + "".join(parts)
    return Source("pack.loom", text.encode())


def _no_directive(text: str) -> bool:
    return not any(line.startswith("%%") for line in text.split("\n"))


SOURCES = st.lists(
    st.tuples(SECTION_NAMES, TEXTS.filter(_no_directive)),
    max_size=5,
    unique_by=lambda section: section[0],
).map(_source)

LISTS = st.lists(TEXTS, max_size=4)
ENVIRONMENTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "workspace": TEXTS,
        "platform": TEXTS,
        "shell": TEXTS,
        "tools": LISTS,
        "available_tools": LISTS,
        "enforcement": st.sampled_from(["FullyEnforced", "BestEffort"]),
        "network": st.one_of(
            st.just({"kind": "NetworkOpen"}),
            st.fixed_dictionaries({"kind": st.just("NetworkProxied"), "allow": LISTS}),
        ),
        "protected_paths": LISTS,
        "repository_guidance": st.one_of(st.none(), TEXTS),
    }
)

ENVIRONMENT: dict[str, Any] = {
    "workspace": "/w",
    "platform": "linux/x86_64",
    "shell": "/bin/sh",
    "enforcement": "FullyEnforced",
    "network": {"kind": "NetworkOpen"},
}
