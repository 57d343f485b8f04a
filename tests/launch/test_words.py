from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pvc.launch import words
from pvc.launch.answer import CONTROL, plain

TEXTS = st.text(st.sampled_from("ab \\\n\r\t\x1b\x9b\u202e…é漢"), max_size=70)
ROWS = st.lists(st.tuples(st.just("7"), TEXTS, TEXTS, TEXTS.map(str.encode) | st.binary()))


def test_no_character_that_a_terminal_obeys_counts_as_printable() -> None:
    assert not [code for code in CONTROL if chr(code).isprintable()]


@given(ROWS)
def test_a_line_has_padded_cells_and_an_excerpt_all_escaped(
    rows: list[tuple[str, str, str, bytes]],
) -> None:
    wide = max((len(owner) for _, owner, _, _ in rows), default=0)
    named = max((len(section) for _, _, section, _ in rows), default=0)
    assert list(words.run_lines(rows, colour=False)) == [
        f"      7  {plain(owner.ljust(wide))}  {plain(section.ljust(named))}"
        f"  {words.printable(words.excerpt(data))}"
        for _, owner, section, data in rows
    ]
