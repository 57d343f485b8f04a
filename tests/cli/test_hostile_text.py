"""Names, reasons and values of others: no line of their own, nothing a terminal obeys or hides."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest

from pvc.launch.answer import escape_json, plain

if TYPE_CHECKING:
    from cli.conftest import Clone

FORGED = "why\n2026-11-30 12:00:00  b3:000000000000  agent@1  a session that never was"
HIDDEN = (
    "a\u202eb\u200ec\u200fd\u061ce\u200bf\u2060g\ufeffh\u00adi\U000e0041j\x9b2Jk\x1b[2Jl\u2028m\x7f"
)
ALLOWED = "é 漢字 \U0001f600 \u0915\u094d\u200d\u0937 می\u200cخواهم"


def _is_clean(text: str) -> bool:
    """Whether every character shows itself, joiners and line ends of our own apart."""
    return all(
        char in "\n\u200c\u200d" or unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp")
        for char in text
    )


def test_all_that_is_hidden_or_acted_on_is_escaped_and_nothing_else() -> None:
    assert _is_clean(plain(HIDDEN))
    assert "\n" not in plain(FORGED)
    assert plain(ALLOWED) == ALLOWED
    assert json.loads(escape_json(json.dumps(HIDDEN, ensure_ascii=False))) == HIDDEN


@pytest.fixture
def hostile(adopted: Clone) -> Clone:
    """Reasons, authors, names and values with line feeds and hidden characters everywhere."""
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/2", "--repin", FORGED)
    adopted.pvc("pin", "agent", "--session", "h\u202e\u200b", "--set", f"cwd={HIDDEN}")
    words = ["session", "append", "s", "--text", "x", "--author", f"who\n{HIDDEN}"]
    adopted.pvc(*words, "-m", FORGED)
    adopted.write("agent/10-role.md", "# Role\n\nOther.\n")
    adopted.write("x\u202e\u200b.md", "today is 2026-01-01\n")
    adopted.git("-c", f"user.name=Eve{HIDDEN[:8]}", "add", "-A")
    adopted.git("commit", "-q", "-m", HIDDEN, "--author", f"Eve \u202e\u200e\x9b <{'e'}@x>")
    adopted.pvc("supersede", "agent", "-m", f"{HIDDEN}\n\n{FORGED}")
    adopted.pvc("promote", "agent", "production", "-m", HIDDEN)
    return adopted


def _commands() -> list[tuple[str, ...]]:
    other = "h\u202e\u200b"
    return [
        ("log",), ("log", "agent"), ("log", "--pins"), ("session", "log", "s"), ("show", "s"),
        ("session", "log", "s", "--lines"), ("show", "agent"), ("blame", "s"), ("blame", other),
        ("blame", "agent", "--set", f"cwd={HIDDEN}"), ("blame", "agent/10-role.md"),
        ("diff", "agent@1", "agent@2"), ("check",), ("verify",), ("impact", "agent"), ("sync",),
        ("blame", "s", "--json"), ("log", "--pins", "--json"), ("show", "agent", "--json"),
        ("pin", "agent", "--session", "s", "--set", f"cwd={HIDDEN}"), ("miss", "s", other),
        ("show", f"no\n{HIDDEN}"), ("render", f"agnet{HIDDEN}"), ("check", f"no\n{HIDDEN}"),
        ("pin", f"x\n{HIDDEN}", "--session", "n"), ("session", "resume", "s"),
        ("gc", "--dry-run"), ("forget", "s", "--dry-run"), ("context", "s"),
    ]  # fmt: skip


def test_no_command_lets_it_through(hostile: Clone) -> None:
    for words in _commands():
        done = hostile.run([sys.executable, "-m", "pvc", *words])
        assert done.code in (0, 1, 2, 4), done.err
        for text in (done.text, done.err):
            assert _is_clean(text), (words, text)
            lines = text.split("\n")
            assert not any(line.startswith("2026-11-30 12:00:00") for line in lines), words


def test_a_file_name_makes_no_line_of_its_own(adopted: Clone) -> None:
    adopted.write("x\nAGENTS.md:1:1: corrupting made-up: a finding.md", "today is 2026-01-01\n")
    text = adopted.pvc("check", ".", code=1).text
    assert not any(line.startswith("AGENTS.md") for line in text.split("\n"))


def test_a_baseline_nested_deep_is_one_line(adopted: Clone) -> None:
    adopted.write("b.json", "[" * 100_000)
    assert "nested deeper" in adopted.refused("check", "--baseline", "b.json", code=3)


def test_nothing_is_mended_through_a_linked_folder(adopted: Clone) -> None:
    mine = adopted.path.parent / "mine"
    mine.mkdir()
    (mine / "v.md").write_bytes(b"x\r\n")
    (adopted.path / "d").symlink_to(mine)
    (adopted.path / "inner").symlink_to("agent")
    for word in ("d/v.md", "inner/10-role.md", "agent/../d/v.md"):
        assert "leads through the link" in adopted.refused("check", "--fix", word, code=1)
    assert (mine / "v.md").read_bytes() == b"x\r\n"
