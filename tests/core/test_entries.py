from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pvc.core import program
from pvc.core.entries import entry_number, with_entries
from pvc.model.span import lift

BASE = ("plain", 1, (), ((("section", "a", False, (("lit", b"base\n", "a.md", "a", 0),)),),))
WIRE = (
    "panto",
    1,
    (("wire", "choice", False, ("string", "messages"), "", ()),),
    ((("wire", "wire", b"\n--\n", (("section", "a", False, (("lit", b"S\n", "a", "a", 0),)),)),),),
)
ENTRIES = st.lists(
    st.tuples(st.sampled_from(["append", "append", "replace"]), st.binary(max_size=4)), max_size=8
).map(lambda rows: [(n, mode, data) for n, (mode, data) in enumerate(rows, 1)])


def run(compiled: program.Program, entries: list[tuple[int, str, bytes]], **values: str) -> bytes:
    return lift(*program.run(with_entries(compiled, entries), values)).data


@given(ENTRIES)
def test_a_prompt_is_the_blocks_that_a_walk_leaves(entries: list[tuple[int, str, bytes]]) -> None:
    blocks = [b"base\n"]
    for _, mode, data in entries:
        blocks = [*([] if mode == "replace" else blocks), data]
    assert run(BASE, entries) == b"\n\n".join(blocks)


@given(ENTRIES, st.binary(max_size=4))
def test_an_append_leaves_every_byte_before_it(
    entries: list[tuple[int, str, bytes]], data: bytes
) -> None:
    before = program.run(with_entries(BASE, entries), {})
    after = program.run(with_entries(BASE, [*entries, (99, "append", data)]), {})
    assert after[0].startswith(before[0])
    assert after[2][: len(before[2])] == before[2]
    assert len(after[2]) == len(before[2]) + 1


def test_a_form_that_sends_sections_apart_takes_entries_as_sections() -> None:
    entries = [(1, "append", b"one\n"), (2, "append", b"two")]
    assert run(WIRE, entries) == b"S\n--\none\n--\ntwo"
    data, _, ends = program.run(with_entries(WIRE, entries), {"wire": "messages"})
    assert (data, ends) == (b"S\none\ntwo", (2, 6, 9))
    assert run(WIRE, [*entries, (3, "replace", b"R\n\n")]) == b"R"


def test_an_entrys_bytes_name_its_position() -> None:
    spans = program.run(with_entries(BASE, [(7, "append", b"{x}")]), {})[1]
    assert spans[-1][2] == ("binding", "entry-7", "/entries/7", "", "0")
    assert (entry_number("/entries/7"), entry_number("/entries/x"), entry_number("/cwd")) == (
        7,
        None,
        None,
    )
