from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import FakeHistory, Generated, commit_id, generate, quality
from core.history_oracle import blame_backwards, bytewise
from pvc.core.annotation import dump, load
from pvc.core.blame import Step, annotate, first
from pvc.core.diff import Granularity, edits

CASES = sorted((Path(__file__).parents[1] / "cases/blame").glob("*.json"))


def versions_of(history: FakeHistory, path: str, **options: Any) -> list[int]:
    """The version that introduced each byte of `path`."""
    numbers = history.numbers()
    runs = annotate(history, **options).runs(path)
    return [numbers[run.commit] for run in runs for _ in range(run.start, run.end)]


def load_case(path: Path) -> tuple[dict[str, Any], FakeHistory]:
    case = json.loads(path.read_bytes())
    encoding = case["options"].get("encoding", "utf-8")
    trees = [{p: t.encode(encoding) for p, t in tree.items()} for tree in case["versions"]]
    return case, FakeHistory.of(trees)


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_hand_checked_cases(path: Path, granularity: Granularity) -> None:
    case, history = load_case(path)
    for name, pieces in case["expect"].items():
        got = versions_of(history, name, moves=case["options"]["moves"], granularity=granularity)
        wanted = [piece["v"] for piece in pieces for _ in piece["text"].encode()]
        assert len(got) == len(wanted)
        for at, (version, accepted) in enumerate(zip(got, wanted, strict=True)):
            allowed = accepted if isinstance(accepted, list) else [accepted]
            earlier = granularity is Granularity.BYTE and version < max(allowed)
            assert version in allowed or earlier, f"{name} byte {at}: {version}, not {accepted}"


@pytest.fixture(scope="module", params=range(100, 106))
def generated(request: pytest.FixtureRequest) -> Generated:
    return generate(request.param, 60, files=5, paragraphs=8)


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("granularity", Granularity)
def test_walking_backwards_gives_the_same_origin_of_every_byte(
    generated: Generated, *, moves: bool, granularity: Granularity
) -> None:
    forward = annotate(generated.history, moves=moves, granularity=granularity)
    backward = blame_backwards(generated.history, find_moves=moves, granularity=granularity)
    assert bytewise(forward) == backward


SENTENCES = [
    b"Rule one stands here and is long enough to be told apart.\n",
    b"Another sentence that says something else, also long.\n",
]
SCRAPS = st.sampled_from([*SENTENCES, b"a ", b"b. ", b"\n", b"\xff", "漢".encode()])
TREES = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "b/c", "\udcff"]), st.lists(SCRAPS, max_size=8).map(b"".join)
    ),
    min_size=1,
    max_size=6,
)


@given(TREES)
def test_both_directions_agree_on_any_bytes(trees: list[dict[str, bytes]]) -> None:
    history = FakeHistory.of(trees)
    assert bytewise(annotate(history)) == blame_backwards(history)


@given(TREES)
def test_runs_tile_every_file_and_show_where_its_bytes_stood(
    trees: list[dict[str, bytes]],
) -> None:
    history = FakeHistory.of(trees)
    annotation = annotate(history)
    assert annotation.paths == tuple(sorted(trees[-1], key=os.fsencode))
    for path, data in trees[-1].items():
        runs = annotation.runs(path)
        assert [0, *(run.end for run in runs)] == [*(run.start for run in runs), len(data)]
        assert all(run.start < run.end for run in runs)
        for run in runs:
            end = run.offset + run.end - run.start
            assert history.blobs[run.blob][run.offset : end] == data[run.start : run.end]


@given(TREES, st.data())
def test_resuming_anywhere_equals_the_cold_answer(
    trees: list[dict[str, bytes]], data: st.DataObject
) -> None:
    history = FakeHistory.of(trees)
    ignored = frozenset(
        data.draw(st.sets(st.sampled_from([step.commit for step in history.taken])))
    )
    at = data.draw(st.integers(0, len(trees)))
    before = annotate(history.part(0, at), ignored=ignored)
    kept = dump(before)
    resumed = annotate(history.part(at), ignored=ignored, resume=load(kept))
    assert dump(resumed) == dump(annotate(history, ignored=ignored))
    annotate(history.part(at), ignored=ignored, resume=before)
    assert dump(before) == kept


@pytest.mark.parametrize("distance", [1, 7, 30])
def test_resuming_from_checkpoints_equals_the_cold_answer(
    generated: Generated, distance: int
) -> None:
    history = generated.history
    annotation = annotate(history.part(0, distance))
    for at in range(distance, len(history.taken), distance):
        annotation = annotate(history.part(at, at + distance), resume=load(dump(annotation)))
    assert dump(annotation) == dump(annotate(history))


def test_resuming_reads_only_what_changed_since() -> None:
    trees = [{"a": b"One two.\n", "b": b"Same.\n"}, {"a": b"One three.\n", "b": b"Same.\n"}]
    history = FakeHistory.of(trees)
    before = annotate(history.part(0, 1))
    history = history.part(1)
    annotate(history, resume=before)
    assert history.reads == 2


def test_steps_that_do_not_follow_are_refused() -> None:
    history = FakeHistory.of([{"a": b"One.\n"}, {"a": b"Two.\n"}])
    with pytest.raises(ValueError, match="changes a from"):
        annotate(history.part(1))


def test_new_bytes_are_new_in_their_commit(generated: Generated) -> None:
    history = generated.history
    parents = {
        (step.commit, change.path): change.old for step in history.taken for change in step.changes
    }
    for path in (annotation := annotate(history)).paths:
        for run in annotation.runs(path):
            old = parents[run.commit, run.path]
            if old is not None:
                new = history.blobs[run.blob]
                inside = [
                    edit.new_start <= run.offset
                    and run.offset + run.end - run.start <= edit.new_end
                    for edit in edits(history.blobs[old], new)
                ]
                assert any(inside)


def test_other_commit_ids_and_change_order_give_the_same_versions(generated: Generated) -> None:
    again = FakeHistory.of(generated.trees, salt="other")
    again.taken = [Step(s.commit, s.changes[::-1]) for s in again.taken]
    for path in generated.truth:
        assert versions_of(again, path) == versions_of(generated.history, path)


def test_commits_that_change_nothing_change_no_origin(generated: Generated) -> None:
    steps = generated.history.taken
    padded = FakeHistory(
        generated.history.blobs,
        [s for k, step in enumerate(steps) for s in (step, Step(commit_id(k, "idle"), ()))],
    )
    assert bytewise(annotate(padded)) == bytewise(annotate(generated.history))


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_record_does_not_depend_on_hash_seeds(seed: str) -> None:
    code = (
        "import sys; from core.generated import generate; from pvc.core.annotation import dump;"
        "from pvc.core.blame import annotate;"
        "sys.stdout.buffer.write(dump(annotate(generate(9, 25, files=3, paragraphs=5).history)))"
    )
    child = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    assert child.stdout == dump(annotate(generate(9, 25, files=3, paragraphs=5).history))


@given(st.lists(st.text(alphabet="aé漢😀 \n.", max_size=30), min_size=1, max_size=5))
def test_no_run_ends_inside_a_code_point(texts: list[str]) -> None:
    annotation = annotate(FakeHistory.of([{"a": text.encode()} for text in texts]))
    for run in annotation.runs("a"):
        texts[-1].encode()[run.start : run.end].decode()


SAFETY = b"Never delete a branch that somebody else created.\nAsk before you reach the network.\n"
PLACES: dict[str, tuple[list[dict[str, bytes]], str, dict[bool, list[int]]]] = {
    "a move keeps its origin": (
        [{"a": b"# A\n" + SAFETY, "b": b"# B\n"}, {"a": b"# A\n", "b": b"# B\n" + SAFETY}],
        "b",
        {True: [0] * (4 + len(SAFETY)), False: [0] * 4 + [1] * len(SAFETY)},
    ),
    "a copy is new": (
        [{"a": SAFETY}, {"a": SAFETY, "b": SAFETY}],
        "b",
        {moves: [1] * len(SAFETY) for moves in (True, False)},
    ),
    "a rename keeps everything": (
        [{"a": SAFETY}, {"b": SAFETY}],
        "b",
        {moves: [0] * len(SAFETY) for moves in (True, False)},
    ),
    "a rename with an edit": (
        [{"a": SAFETY}, {"b": SAFETY + b"New.\n"}],
        "b",
        {moves: [0] * len(SAFETY) + [1] * 5 for moves in (True, False)},
    ),
    "a file split in two": (
        [{"a": SAFETY + SAFETY.upper()}, {"a": SAFETY.upper(), "b": SAFETY}],
        "b",
        {True: [0] * len(SAFETY), False: [1] * len(SAFETY)},
    ),
}


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize(("trees", "path", "wanted"), PLACES.values(), ids=PLACES)
def test_text_that_changes_its_place(
    trees: list[dict[str, bytes]], path: str, wanted: dict[bool, list[int]], *, moves: bool
) -> None:
    assert versions_of(FakeHistory.of(trees), path, moves=moves) == wanted[moves]


def test_moved_bytes_name_the_file_that_they_were_written_in() -> None:
    history = FakeHistory.of([{"a": b"# A\n" + SAFETY}, {"a": b"# A\n", "b": SAFETY}])
    (run,) = annotate(history).runs("b")
    assert (run.path, run.offset, run.end) == ("a", 4, len(SAFETY))


def test_deletions_introduce_nothing() -> None:
    history = FakeHistory.of([{"a": b"One. Two. Three.\n"}, {"a": b"One. Three.\n"}])
    assert set(versions_of(history, "a")) == {0}


REVERT = FakeHistory.of(
    [
        {"a": b"Be brief.\n"},
        {"a": b"Be brief. Answer in English.\n"},
        {"a": b"Be brief. Answer in French.\n"},
        {"a": b"Be brief. Answer in English.\n"},
    ]
)


def test_first_names_who_wrote_what_was_put_back() -> None:
    runs = annotate(REVERT).runs("a")
    assert [REVERT.numbers()[run.commit] for run in runs] == [0, 1, 3, 1, 0]
    found = first(REVERT, runs)
    (back,) = [run for run in runs if REVERT.numbers()[run.commit] == 3]
    assert list(found) == [back]
    (origin,) = found[back]
    assert REVERT.numbers()[origin.commit] == 1
    assert (origin.start, origin.end, origin.offset) == (back.start, back.end, back.offset)


def test_first_finds_nothing_where_nothing_was_put_back(generated: Generated) -> None:
    annotation = annotate(generated.history)
    runs = [run for path in annotation.paths for run in annotation.runs(path)]
    for run, origins in first(generated.history, runs).items():
        assert [run.start, *(r.end for r in origins)] == [*(r.start for r in origins), run.end]
        numbers = generated.history.numbers()
        assert all(numbers[r.commit] < numbers[run.commit] for r in origins)


def test_an_ignored_commit_passes_its_bytes_to_what_they_replaced() -> None:
    history = FakeHistory.of(
        [{"a": b"Say colour.\n"}, {"a": b"Say color.\n"}, {"a": b"Say color. Go.\n"}]
    )
    ignored = frozenset([commit_id(1), commit_id(2)])
    runs = annotate(history, ignored=ignored).runs("a")
    assert [(r.start, r.end, history.numbers()[r.commit], r.passed) for r in runs] == [
        (0, 4, 0, False),
        (4, 9, 0, True),
        (9, 10, 0, False),
        (10, 14, 2, False),
        (14, 15, 0, False),
    ]


def test_ignoring_space_passes_blanks_to_their_neighbours() -> None:
    history = FakeHistory.of([{"a": b"if x:\n  go on\n"}, {"a": b"if  x:\n    go off\n"}])
    got = versions_of(history, "a", ignore_space=True)
    assert got == [0] * 14 + [1] * 3 + [0]


def test_generated_histories_are_attributed_to_the_right_version() -> None:
    generated = generate(7, 200, files=8, paragraphs=15)
    answer = {path: versions_of(generated.history, path) for path in generated.truth}
    got = quality(generated, answer)
    assert got.wrong <= 0.006
    assert got.stale / got.changed <= 0.005
    assert got.crumbs <= 1.2 * got.true_crumbs
