from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.dialects.panto_wire import read_log, write_line
from pvc.errors import DecodeError
from pvc.model.session import Message, Mode

SYSTEM = st.builds(
    Message,
    st.just("system"),
    TEXTS.map(str.encode),
    st.sampled_from(Mode),
    st.sampled_from(["", "x"]),
)
OTHER = st.builds(Message, st.sampled_from(["user", "assistant"]), TEXTS.map(str.encode))
OLD = b'{"id":7,"message":{"role":"system","content":[{"type":"text","text":"A"}]}}\n'


@given(st.lists(SYSTEM | OTHER))
def test_a_log_that_was_written_is_read_again(messages: list[Message]) -> None:
    data = b"".join(write_line(message, time="now") for message in messages)
    assert read_log(data).messages == tuple(messages)


def test_lines_of_other_kinds_are_passed_over_and_an_old_one_appends() -> None:
    log = read_log(b'{"type":"title"}\n\n' + OLD)
    assert log.messages == (Message("system", b"A", Mode.APPEND),)
    null = OLD.replace(b'"role"', b'"mode":null,"role"')
    assert read_log(null).messages == log.messages


@given(st.integers(1, len(OLD) - 2))
def test_a_last_line_that_was_cut_off_is_given_apart(at: int) -> None:
    log = read_log(OLD + OLD[:at])
    assert (len(log.messages), log.cut) == (1, OLD[:at])


def test_a_whole_last_line_needs_no_line_feed() -> None:
    log = read_log(OLD + OLD.rstrip(b"\n"))
    assert (len(log.messages), log.cut) == (2, b"")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "log:2: a line of the log is not JSON"),
        (b"\xff", "log:2: a line of the log is not UTF-8"),
        (b"[1]", "log:2: a line of the log is no object"),
        (
            b'{"message":{"role":"system","mode":"prepend","content":[]}}',
            "log:2: no mode `prepend`",
        ),
        (b'{"message":{"role":"system","content":[{"type":"image"}]}}', "log:2: .* no text"),
        (b'{"message":{"role":"system","content":"\\ud83d"}}', "log:2: half of a surrogate"),
    ],
)
def test_a_line_inside_that_is_none_is_refused_with_its_number(line: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        read_log(OLD + line + b"\n" + OLD)
