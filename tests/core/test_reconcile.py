from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.reconcile import fresh, reconcile
from pvc.model.session import CONFIG, Mode, SystemEntry, effective

A, R = Mode.APPEND, Mode.REPLACE
BLOCKS = st.lists(st.binary(max_size=2), min_size=1, max_size=4)
ENTRIES = st.lists(
    st.builds(
        SystemEntry,
        st.binary(max_size=2),
        st.sampled_from(Mode),
        st.sampled_from(["", CONFIG, "x"]),
    ),
    max_size=8,
)


def entries(*rows: tuple[str, Mode, str]) -> list[SystemEntry]:
    return [SystemEntry(text.encode(), mode, author) for text, mode, author in rows]


@given(ENTRIES, BLOCKS)
def test_after_recording_a_second_resume_records_nothing(
    recorded: list[SystemEntry], config: list[bytes]
) -> None:
    found = reconcile(recorded, config)
    after = [*recorded, *found.record]
    assert reconcile(after, config).record == ()
    if found.record:
        assert effective(after) == tuple(config)


@given(BLOCKS)
def test_a_fresh_session_needs_nothing(config: list[bytes]) -> None:
    assert reconcile(fresh(config), config).record == ()


SEEDED = entries(("S", A, CONFIG), ("A", A, CONFIG))


@pytest.mark.parametrize(
    ("since", "config", "record", "discarded"),
    [
        (entries(("X", A, "ext")), "SA", 0, ()),
        (entries(("X", R, "ext")), "SA", 0, ()),
        (entries(("X", A, "ext")), "TA", 2, (2,)),
        (entries(("X", R, "ext"), ("Y", A, "ext")), "T", 1, (2, 3)),
        (entries(("X", A, "")), "SA", 2, ()),
        (entries(("X", A, "ext"), ("T", R, CONFIG)), "T", 0, ()),
    ],
    ids=[
        "an extension's append survives",
        "an extension's replace survives",
        "a change re-seeds and says what is lost",
        "of a replaced prompt only what stands is lost",
        "an unlabelled entry counts",
        "the window begins at the last re-seed",
    ],
)
def test_entries_of_others(
    since: list[SystemEntry], config: str, record: int, discarded: tuple[int, ...]
) -> None:
    found = reconcile([*SEEDED, *since], [char.encode() for char in config])
    assert (len(found.record), found.discarded) == (record, discarded)
