from __future__ import annotations

import re
from array import array
from itertools import pairwise
from sys import byteorder
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import CHARS, ENVIRONMENT, ENVIRONMENTS, SOURCES, WHITE
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects import loom
from pvc.errors import CorruptError, UsageError
from pvc.model.graphemes import extends
from pvc.model.source import Source
from pvc.model.span import FromBinding, FromSource, Rendered, lift

LONG_TEXTS = st.lists(CHARS, max_size=60).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.binary(), st.text()),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
)


def render(source: Source, environment: dict[str, Any]) -> Rendered:
    return lift(*program.run(compile_pack(loom.read(source)), environment))


def pack(text: str) -> Source:
    return Source("pack.loom", f"%% loom-prompt-pack 1\n%% version v\n{text}".encode())


def value_at(environment: dict[str, Any], pointer: str) -> bytes:
    value: Any = environment
    for key in pointer.split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    assert isinstance(value, str)
    return value.encode()


# --- properties -----------------------------------------------------------------------------


@given(SOURCES, ENVIRONMENTS)
def test_deleting_bytes_never_moves_an_origin(source: Source, environment: dict[str, Any]) -> None:
    out = render(source, environment)  # building it holds that the spans tile the bytes
    for span in out.spans:
        match span.origin:
            case FromSource(_, _, offset):
                origin = source.data
            case FromBinding(_, pointer, offset):
                origin = value_at(environment, pointer)
            case _:
                assert out.data[span.start : span.end] in (b"\n\n", b"\n", b", ")
                continue
        assert out.data[span.start : span.end] == origin[offset : offset + len(span)]


@given(SOURCES, ENVIRONMENTS)
def test_equal_inputs_give_equal_bytes(source: Source, environment: dict[str, Any]) -> None:
    other = dict(reversed([*environment.items()]))
    other["tools"] = [*reversed(environment["tools"])]
    assert render(source, environment).data == render(source, other).data


@given(ENVIRONMENTS)
def test_a_value_is_never_scanned_again(environment: dict[str, Any]) -> None:
    source = pack("%% section a\n<{workspace}>\n")
    environment = environment | {"workspace": "{shell}{{shell}}%% section b"}
    assert render(source, environment).data == b"<{shell}{{shell}}%% section b>"


@given(LONG_TEXTS)
def test_tidying_agrees_with_a_reference_by_lines(text: str) -> None:
    lines = [re.sub(f"[{WHITE}]+\\Z", "", line) for line in text.split("\n")]
    expected = re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    data = text.encode()
    kept = program.tidied(data)
    assert b"".join(data[start:end] for start, end in kept).decode() == expected
    assert all(a[1] < b[0] for a, b in pairwise(kept))


@given(LONG_TEXTS)
def test_trimming_agrees_with_a_reference_by_pattern(text: str) -> None:
    marks = "".join({c for c in text if extends(ord(c))})
    space = f" (?![{marks}])" if marks else " "
    front = re.match(f"(?:{space}|[{WHITE.replace(' ', '')}])*", text)
    assert front
    data = text.encode()
    start, end = program.trimmed(data)
    assert data[start:end].decode() == re.sub(f"[{WHITE}]+\\Z", "", text[front.end() :])


@given(VALUES)
def test_what_is_dumped_is_loaded(value: object) -> None:
    data = program.dump(value)
    loaded = program.load(data)
    assert loaded == value
    assert program.dump(loaded) == data


@given(SOURCES)
def test_a_compiled_pack_survives_being_stored(source: Source) -> None:
    compiled = compile_pack(loom.read(source))
    assert program.load(program.dump(compiled)) == compiled


PLACES = st.lists(st.integers(0, 5), max_size=6).map(lambda places: array("I", places).tobytes())
LINES = st.lists(st.sampled_from(["s1", "b2", "i7", "i-7", "n", "t", "f", "s0", "b9"]))


def is_value_or_corrupt(data: bytes) -> None:
    try:
        value = program.load(data)
    except CorruptError:
        return
    assert program.load(program.dump(value)) == value


@given(st.one_of(st.binary(), st.text("(b-0123456789 \n;sintf").map(str.encode)))
def test_loading_anything_gives_a_value_or_corruption(data: bytes) -> None:
    is_value_or_corrupt(data)


@given(LINES, PLACES, st.binary(max_size=4))
def test_loading_what_looks_like_a_program_gives_a_value_or_corruption(
    words: list[str], places: bytes, texts: bytes
) -> None:
    line = " ".join([str(len(places) // 4), *words])
    is_value_or_corrupt(line.encode() + b"\n" + places + texts)


# --- cases ----------------------------------------------------------------------------------


NUMBER = (1).to_bytes(4, byteorder)
NOTHING = bytes(4)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\n", b"0", b"0\n", b"0 \n", b"x n\n", b"-1 n\n", b"0 x\n", b"0 i\n", b"0 i1_0\n"),
        *(b"0 s1\n\xff", b"0 b3\nab", b"0 b2\nabc", b"0 s-1\na", b"0 n\n0", b"0 nn\n", b"0 \xb2\n"),
        *(b"1 n\n", b"1 n\n" + NUMBER, b"2 n\n" + NUMBER * 2, b"1 n\n" + NOTHING[:3]),
        *(b"2 n\n" + NUMBER + b"\xff" * 4, b"1 n\n" + b"\xff" * 4, b"1\n" + NUMBER),
    ],
)
def test_a_damaged_program_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptError):
        program.load(data)


def test_what_is_said_twice_is_written_once() -> None:
    words = ("when", ("is", ("session", "mode"), "a condition of a rich form"), b"text" * 20)
    once, often = program.dump((words,)), program.dump((words,) * 50)
    assert len(often) < len(once) + 50 * 4 + 4
    assert program.load(often) == (words,) * 50


def test_equal_numbers_and_truth_values_stay_what_they_are() -> None:
    loaded = program.load(program.dump((1, True, 0, False, "1", b"1", (1,), (True,))))
    assert repr(loaded) == repr((1, True, 0, False, "1", b"1", (1,), (True,)))


def test_a_program_holds_nothing_that_changes() -> None:
    with pytest.raises(TypeError, match="list"):
        program.dump(["a"])


@pytest.mark.parametrize(
    ("change", "at", "message", "hint"),
    [
        ({"tols": []}, "/tols", "unknown key `tols`", "did you mean `tools`?"),
        ({"workspace": 7}, "/workspace", "takes text, not a number", ""),
        ({"workspace": None}, "/workspace", "takes text, not null", ""),
        ({"workspace": True}, "/workspace", "not a truth value", ""),
        ({"workspace": 1.5}, "/workspace", "not a number", ""),
        ({"workspace": ["a"]}, "/workspace", "not a list", ""),
        ({"shell": "\ud800"}, "/shell", "lone surrogate", ""),
        ({"tools": "bash"}, "/tools", "a list of texts, not text", ""),
        ({"tools": ["a", 2]}, "/tools/1", "takes text, not a number", ""),
        (
            {"enforcement": "FullEnforced"},
            "/enforcement",
            "not one of",
            "did you mean `FullyEnforced`?",
        ),
        ({"network": {"kind": "Moon"}}, "/network/kind", "not one of", "known: "),
        ({"network": {}}, "/network", "an object with `kind`", ""),
        ({"network": {"kind": "NetworkOpen", "allow": []}}, "/network/allow", "unknown key", ""),
        ({"network": {"kind": "NetworkProxied", "allow": [1]}}, "/network/allow/0", "text", ""),
        ({"repository_guidance": 3}, "/repository_guidance", "takes text, not a number", ""),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_pointer(
    change: dict[str, Any], at: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        render(pack(""), ENVIRONMENT | change)
    assert caught.value.at == at
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["workspace", "platform", "shell", "enforcement", "network"])
def test_a_value_that_is_missing_is_named_with_what_to_type(name: str) -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if key != name}
    with pytest.raises(UsageError, match=f"no `{name}`") as caught:
        render(pack(""), environment)
    assert caught.value.hint.startswith(f"--set {name}=")


def test_all_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(UsageError, match="no `workspace`, `platform`, `shell`") as caught:
        render(pack(""), {"tools": []})
    assert caught.value.hint == (
        "--set workspace=… --set platform=… --set shell=… "
        "--set enforcement=FullyEnforced --set network=NetworkBlocked"
    )


def test_an_environment_is_an_object() -> None:
    with pytest.raises(UsageError, match="JSON object"):
        program.run(compile_pack(loom.read(pack(""))), ["workspace"])


def test_a_choice_may_be_given_as_text() -> None:
    source = pack("%% section a\n{network}\n%% section _network_open\nopen\n")
    assert render(source, ENVIRONMENT | {"network": "NetworkOpen"}).data == b"open"


def test_blank_guidance_is_no_guidance() -> None:
    source = pack("%% section a\n[{repository_guidance_text}]\n")
    out = render(source, ENVIRONMENT | {"repository_guidance": " \u2028\n"})
    assert out.data == b"[]"


def test_a_list_entry_keeps_its_place_in_the_value() -> None:
    source = pack("%% section a\n{tools}\n")
    out = render(source, ENVIRONMENT | {"tools": ["  zed ", "", "alpha", "zed"]})
    assert out.data == b"alpha, zed"
    origins = [span.origin for span in out.spans if isinstance(span.origin, FromBinding)]
    assert [(origin.pointer, origin.offset) for origin in origins] == [
        ("/tools/2", 0),
        ("/tools/0", 2),
    ]


def test_bytes_inside_a_value_can_vanish_and_the_rest_knows_its_place() -> None:
    source = pack("%% section a\n{repository_guidance_text}\n")
    out = render(source, ENVIRONMENT | {"repository_guidance": "one  \n\n\n\ntwo"})
    assert out.data == b"one\n\ntwo"
    origins = [span.origin for span in out.spans if isinstance(span.origin, FromBinding)]
    assert [origin.offset for origin in origins] == [0, 5, 9]
    assert [(span.start, span.end) for span in out.spans] == [(0, 3), (3, 5), (5, 8)]


@pytest.mark.parametrize("white", ["\u200e", " ", "\u2028\u0085"])
def test_long_runs_of_white_space_are_cut_in_linear_time(white: str) -> None:
    data = (white * 200_000).encode()
    assert program.trimmed(data) == (0, 0)
    assert program.tidied(data) == []


def test_a_section_with_nothing_left_takes_its_joint_along() -> None:
    source = pack("%% section a\nA\n%% section b\n{unknown}\n%% section c\nC\n")
    out = render(source, ENVIRONMENT)
    assert out.data == b"A\n\nC"
    assert [span.section for span in out.spans] == ["a", "", "c"]
