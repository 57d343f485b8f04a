"""The words after `pvc pin`, read by hand, and the help page that click shows for them."""

from __future__ import annotations

import pytest

from pvc.cli.commands.pin import command
from pvc.errors import UsageError
from pvc.launch.arguments import FLAGS, VALUED, read


def test_the_help_page_and_the_reader_know_the_same_options() -> None:
    shown = {word for param in command.params for word in param.opts if word.startswith("-")}
    assert shown == {*VALUED, *FLAGS} - {"-C"}


@pytest.mark.parametrize(
    "words",
    [
        ["agent", "--session", "s", "--set", "a=b=c", "--set", "x="],
        ["--session=s", "--set=a=b=c", "--set=x=", "agent"],
        ["--set", "a=b=c", "--session", "s", "--set", "x=", "--", "agent"],
    ],
)
def test_a_call_is_read_alike_however_it_is_written(words: list[str]) -> None:
    call = read(words).call
    assert (call.tree, call.session, call.chain) == ("agent", "s", "main")
    assert call.environment == {"a": "b=c", "x": ""}


@pytest.mark.parametrize(
    "words",
    [
        ["agent", "--session"],
        ["agent", "--session", "s", "--session", "t"],
        ["agent", "--session", "s", "--resume=yes"],
        ["agent", "--session", "s", "-x"],
        ["agent", "--session", "s", "--tools"],
        ["--", "agent", "--session", "s"],
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        read(words)
