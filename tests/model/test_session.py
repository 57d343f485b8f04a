from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pvc.model.session import Mode, SystemEntry, effective, surviving

ENTRIES = st.lists(
    st.builds(SystemEntry, st.binary(max_size=3), st.sampled_from([*Mode, Mode.APPEND])),
    max_size=12,
)


def walked(entries: list[SystemEntry]) -> list[bytes]:
    blocks: list[bytes] = []
    for entry in entries:
        if entry.mode is Mode.REPLACE:
            blocks = []
        blocks.append(entry.data)
    return blocks


@given(ENTRIES, st.integers(0, 14))
def test_a_session_cut_at_n_is_the_session_as_it_was_at_n(
    entries: list[SystemEntry], n: int
) -> None:
    assert list(effective(entries, n)) == walked(entries[:n])
    assert effective(entries, n) == effective(entries[:n])


@given(ENTRIES)
def test_positions_name_the_surviving_blocks(entries: list[SystemEntry]) -> None:
    positions = surviving(entries)
    assert tuple(entries[i].data for i in positions) == effective(entries)
    assert list(positions) == sorted(positions)
