"""Ways to go wrong without noticing: each is said before anything is recorded, or at once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone

TOKEN = "ghp_" + "a8Kd93jLmQ2xVb7Nc5Zt1Rw6Ye4Uo0Pi9SgH"
PARAGRAPHS = ("-m", "Why", "-m", "", "-m", "More words.\nA second line.\n")
JOINED = "Why\n\nMore words.\nA second line."


# --- reasons --------------------------------------------------------------------------------------


def test_several_reasons_are_paragraphs_in_every_command(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nOther.\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", *PARAGRAPHS)
    adopted.pvc("promote", "agent", "production", *PARAGRAPHS)
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.pvc("session", "append", "s", "--text", "x", *PARAGRAPHS)
    log = adopted.pvc("log", "agent", "--json").json
    assert JOINED in json.dumps(log).replace("\\n", "\n")
    move = adopted.git("log", "-1", "--format=%B", "refs/pvc/channels/agent/production")
    assert move.startswith(JOINED + "\n\nPvc-Channel")
    record = adopted.pvc("show", "s", "--json").json["pin"]
    assert record["reason"] == JOINED
    adopted.pvc("forget", "s", *PARAGRAPHS)
    ledger = adopted.git("show", f"refs/pvc/pins/{_writer(adopted)}:0000/01.forgotten")
    assert f'reason = "{JOINED}"' in ledger.replace("\\n", "\n")


@pytest.mark.parametrize(
    "words",
    [
        ("supersede", "agent", "-m", TOKEN, "--set", "10-role.md=new.md"),
        ("promote", "agent", "production", "-m", TOKEN),
        ("session", "append", "s", "--text", "x", "-m", TOKEN),
        ("forget", "s", "-m", TOKEN),
    ],
    ids=lambda words: words[0],
)
def test_a_secret_in_a_reason_is_named_by_every_command(
    adopted: Clone, words: tuple[str, ...]
) -> None:
    adopted.write("new.md", "# Role\n\nOther.\n")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.git("config", "pvc.secrets", "refuse")
    assert "the reason holds a GitHub token" in adopted.refused(*words, code=1)
    adopted.git("config", "pvc.secrets", "warn")
    done = adopted.pvc(*words)
    said = "the reason holds a GitHub token: `ghp_a8Kd…`; it is kept for good, and every sync"
    assert said in done.text + done.err


def _writer(clone: Clone) -> str:
    return (clone.path / ".git/pvc/writer").read_text().split()[0]


def test_no_words_at_all_are_no_reason(adopted: Clone) -> None:
    assert "needs a reason" in adopted.refused("supersede", "agent", "-m", "", "-m", " ", code=2)


# --- `--out` --------------------------------------------------------------------------------------


def _records(clone: Clone) -> list[str]:
    pins = clone.pvc("log", "--pins", "--json").json["pins"]
    return [pin["receipt"] for pin in pins]


@pytest.mark.parametrize("out", ["gone/prompt.md", "agent", "agent/10-role.md/x"])
@pytest.mark.parametrize(
    "words",
    [
        ("agent", "--session", "new", "--set", "cwd=/"),
        ("agent", "--session", "new", "--set", "cwd=/", "--must-record"),
        ("agent", "--session", "old", "--set", "cwd=/2", "--repin", "moved"),
        ("--resume", "--session", "old"),
    ],
    ids=" ".join,
)
def test_a_file_that_cannot_be_written_is_said_before_anything_is_pinned(
    adopted: Clone, words: tuple[str, ...], out: str
) -> None:
    adopted.pvc("pin", "agent", "--session", "old", "--set", "cwd=/")
    before = _records(adopted)
    said = adopted.refused("pin", *words, "--out", out, code=5)
    assert f"{out}: cannot be written" in said
    assert _records(adopted) == before
    adopted.pvc("pin", *words, "--out", "there.md")
    assert (adopted.path / "there.md").is_file()


def test_a_batch_pins_the_lines_whose_files_can_be_written(adopted: Clone) -> None:
    calls = [
        {"tree": "agent", "session": name, "set": {"cwd": "/"}, "out": out}
        for name, out in (("a", "gone/a.md"), ("b", "b.md"))
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pvc", "pin", "--batch"],
        cwd=adopted.path, env=adopted.environment, check=False, capture_output=True,
        input="".join(json.dumps(call) + "\n" for call in calls).encode(),
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["status"] for answer in answers] == ["error", "pinned"]
    assert (adopted.path / "b.md").is_file()
    assert [p["session"] for p in adopted.pvc("log", "--pins", "--json").json["pins"]] == ["b"]


def test_a_file_that_cannot_be_written_is_said_by_render_too(adopted: Clone) -> None:
    words = ("render", "agent", "--set", "cwd=/", "--out", "gone/x")
    assert "gone/x: cannot be written" in adopted.refused(*words, code=5)


# --- a folder beside the chain --------------------------------------------------------------------


def test_a_folder_with_uncommitted_edits_is_not_adopted_without_them(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nCommitted.\n")
    adopted.commit()
    adopted.write("agent/20-rules.md", "# Rules\n\nNot in {cwd}.\n")
    adopted.write("agent/30-new.md", "New.\n")
    before = adopted.refs()
    for more in ((), ("--dry-run",)):
        said = adopted.refused("supersede", "agent", "-m", "x", *more, code=1)
        assert "not committed: `20-rules.md`, `30-new.md`" in said
        assert "`--worktree`" in said
        assert "`--index`" in said
    assert adopted.refs() == before
    adopted.git("add", "agent/20-rules.md")
    adopted.pvc("supersede", "agent", "-m", "x", "--index")
    adopted.pvc("supersede", "agent", "-m", "x", "--worktree")
    assert "New." in adopted.git("show", "refs/pvc/trees/agent:30-new.md")


def test_edits_outside_of_the_folder_do_not_count(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nCommitted.\n")
    adopted.commit()
    adopted.write("elsewhere.md", "x\n")
    adopted.pvc("supersede", "agent", "-m", "x")


def test_after_a_revert_what_the_folder_has_otherwise_is_said(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nOther.\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "Other")
    done = adopted.pvc("supersede", "agent", "--revert-to", "1", "-m", "Back", "--json")
    assert done.json["folder_differs"] == ["10-role.md"]
    assert "the folder still differs from this version: 10-role.md; adopting" in done.err
    done = adopted.pvc("supersede", "agent", "--revert-to", "2", "-m", "And again", "--json")
    assert (done.json["folder_differs"], done.err) == ([], "")
