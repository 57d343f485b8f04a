"""Words of a hostile command line: each refused in one line, or taken as what it says."""

from typing import Any

import pytest

from attack.conftest import shell
from cli.conftest import Clone

MANY = "9" * 5000
NOT_UTF8 = "s\udcff"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["render", f"agent@{MANY}"], 4),
        (["show", f"agent@{MANY}"], 4),
        (["pin", f"agent@{MANY}", "--session", "s"], 4),
        (["render", "agent@\u0667"], 4),
        (["blame", "agent", "--set", "cwd=/", "--byte", MANY], 2),
        (["blame", "agent", "--set", "cwd=/", "--byte", f"0..{MANY}"], 2),
        (["blame", "agent", "--set", "cwd=/", "--byte", "\u0660"], 2),
        (["log", "-n", "0"], 2),
        (["log", "agent", "-n", "-5"], 2),
        (["log", "--pins", "-n", "-3"], 2),
        (["log", "--pins", "nosuch"], 4),
        (["pin", "agent", "--session", NOT_UTF8, "--set", "cwd=/"], 2),
        (["show", NOT_UTF8], 4),
        (["show", "session:" + NOT_UTF8], 4),
        (["miss", NOT_UTF8, "b"], 4),
        (["miss", "a" * 300, "b"], 4),
        (["supersede", "agent"], 2),
        (["supersede", "agent", "-m", "x", "--n\u202eosuch"], 2),
        (["\x1b[31mnosuch"], 2),
    ],
    ids=lambda value: ascii(" ".join(value))[:60] if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_one_line(adopted: Clone, words: list[str], code: int) -> None:
    error = adopted.refused(*words, code=code)
    assert "\x1b" not in error
    assert "\u202e" not in error


def test_a_session_of_256_characters_is_compared(adopted: Clone) -> None:
    for name in ("a" * 256, "b"):
        adopted.pvc("pin", "agent", "--session", name, "--set", "cwd=/")
    assert adopted.pvc("miss", "a" * 256, "b").code == 0


def test_an_explicit_session_is_never_a_file(adopted: Clone) -> None:
    adopted.write("session:s", "{}")
    assert "no pin" in adopted.refused("miss", "session:s", "session:s", code=4)


def test_words_mean_the_same_in_every_locale(adopted: Clone) -> None:
    words = ["pin", "agent", "--session", "\u00e9", "--set", "cwd=\u00e9", "--out", "-"]
    expected = adopted.pvc(*words).out
    odd: Any = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    again = adopted.pvc(*words, **odd)
    assert again.out == expected
    assert again.err.startswith("same ")
    assert adopted.pvc("show", "\u00e9", "--bytes", **odd).out == expected


def test_answers_are_utf8_whatever_the_stream_was_told(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "\u00e9", "--set", "cwd=/")
    done = adopted.pvc("log", "--pins", "--json", PYTHONIOENCODING="ascii")
    assert done.json["pins"][0]["session"] == "\u00e9"
    refused = adopted.pvc(
        "pin", "agent", "--session", "\u00e9", "--set", "cwd=\u00e9", "--json", code=1,
        PYTHONIOENCODING="ascii",
    )  # fmt: skip
    assert "\u00e9" in refused.json["message"]


def test_json_holds_nothing_that_a_terminal_obeys(adopted: Clone) -> None:
    name = "\u202eabc\u2028\x9bx"
    adopted.pvc("pin", "agent", "--session", name, "--set", "cwd=/")
    for words in (["log", "--pins"], ["log", "--pins", "--json"], ["show", name, "--json"]):
        text = adopted.pvc(*words).text
        assert not set("\u202e\u2028\x9b") & set(text)
    assert adopted.pvc("log", "--pins", "--json").json["pins"][0]["session"] == name


def test_a_context_of_the_wrong_type_is_named(adopted: Clone) -> None:
    adopted.write("a.json", '{"model": "m", "messages": []}')
    adopted.write("context.json", '{"seconds_between": "soon"}')
    words = ["miss", "a.json", "a.json", "--context", "context.json"]
    assert "seconds_between" in adopted.refused(*words, code=2)


def test_bodies_are_compared_out_of_pipes(adopted: Clone) -> None:
    body = '{"model": "gpt-5", "messages": [{"role": "system", "content": "x"}]}'
    done = shell(adopted, f"PVC miss <(echo '{body}') <(echo '{body}') --json")
    assert done.code == 0, done.err
    assert done.json["first_divergence"] is None
