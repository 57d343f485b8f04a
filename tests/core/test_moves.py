from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pvc.core.moves import Block, Move, moves, renames

SAFETY = b"Never delete a branch that somebody else created.\nAsk before you reach the network.\n"
STYLE = b"Write plain sentences wherever that is possible, and keep every one of them short.\n"


def block(path: str, data: bytes) -> Block:
    return Block(path, data, 0, len(data))


def test_a_moved_block_is_found_whole_with_its_line_feed() -> None:
    found = moves([block("a", b"# A\n" + SAFETY)], [block("b", SAFETY)])
    assert found == [Move("b", 0, "a", 4, len(SAFETY))]


def test_a_deleted_byte_serves_once_and_the_first_place_wins() -> None:
    found = moves([block("a", SAFETY)], [block("b", SAFETY), block("c", SAFETY)])
    assert found == [Move("b", 0, "a", 0, len(SAFETY))]


def test_the_longest_match_is_served_first() -> None:
    two = block("c", STYLE + SAFETY)
    found = moves([block("a", SAFETY + b"# A\n"), two], [block("x", STYLE + SAFETY)])
    assert found == [Move("x", 0, "c", 0, len(STYLE + SAFETY))]


def test_what_a_longer_match_left_over_still_serves() -> None:
    tail = b"Refuse requests outside the scope of software engineering work.\n"
    came = [block("x", STYLE + SAFETY), block("y", SAFETY + tail)]
    found = moves([block("a", STYLE + SAFETY + tail)], came)
    assert found == [
        Move("x", 0, "a", 0, len(STYLE + SAFETY)),
        Move("y", len(SAFETY), "a", len(STYLE + SAFETY), len(tail)),
    ]


def test_a_move_survives_wrapping_at_another_width() -> None:
    wrapped = SAFETY.replace(b"\n", b" ").replace(b"branch that", b"branch\nthat")
    found = moves([block("a", SAFETY)], [block("b", wrapped)])
    moved = [wrapped[m.start : m.start + m.length] for m in found]
    assert b" ".join(moved).split() == SAFETY.split()
    assert not any(b"\n" in part for part in moved)


def test_items_without_full_stops_move_line_by_line() -> None:
    items = [b"- read the file before the edit\n", b"- run every test of the change\n"]
    gone = block("a", b"".join([*items, b"- say what is left to do\n"]))
    came = block("b", b"".join([b"## Order of the work to be done\n", *items]))
    assert moves([gone], [came]) == [Move("b", 32, "a", 0, len(b"".join(items)))]


def test_text_without_blanks_moves_too() -> None:
    text = "絶対に他人のブランチを消さないでください。ネットワークに触れる前に必ず尋ねること。"
    found = moves([block("a", text.encode())], [block("b", "新しい。".encode() + text.encode())])
    assert found == [Move("b", 12, "a", 0, len(text.encode()))]


def test_common_words_in_another_order_are_no_move() -> None:
    shuffled = b" ".join(sorted(SAFETY.split())) + b"\n"
    assert moves([block("a", SAFETY)], [block("b", shuffled)]) == []


def test_short_blocks_are_no_moves() -> None:
    assert moves([block("a", SAFETY[:40])], [block("b", SAFETY[:40])]) == []


SENTENCES = st.lists(st.sampled_from([SAFETY, STYLE, b"Go.\n", b"# Heading of it\n"]), max_size=6)


@given(st.lists(SENTENCES.map(b"".join), max_size=3), st.lists(SENTENCES.map(b"".join), max_size=3))
def test_moves_are_exact_and_serve_every_byte_once(old: list[bytes], new: list[bytes]) -> None:
    gone = {str(k): data for k, data in enumerate(old)}
    came = {str(k): data for k, data in enumerate(new)}
    found = moves(
        [block(path, data) for path, data in gone.items()],
        [block(path, data) for path, data in came.items()],
    )
    sources, targets = set(), set()
    for m in found:
        moved = came[m.path][m.start : m.start + m.length]
        assert moved == gone[m.source][m.source_start : m.source_start + m.length]
        for k in range(m.length):
            assert (m.source, m.source_start + k) not in sources
            assert (m.path, m.start + k) not in targets
            sources.add((m.source, m.source_start + k))
            targets.add((m.path, m.start + k))


def test_renames_pair_equal_content_first_then_the_most_similar() -> None:
    removed = {"a": SAFETY, "b": STYLE, "c": SAFETY + STYLE}
    added = {"x": SAFETY + b"Be brief.\n", "y": STYLE, "z": b"Nothing of the kind.\n"}
    assert renames(removed, added) == {"y": "b", "x": "a"}


def test_renames_of_equal_share_go_by_path() -> None:
    assert renames({"b": SAFETY, "a": SAFETY}, {"y": SAFETY, "x": SAFETY}) == {"x": "a", "y": "b"}


def test_an_empty_file_continues_none() -> None:
    assert renames({"a": b""}, {"b": b""}) == {}
