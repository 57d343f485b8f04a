"""`pvc pin` as a process on real repositories: what it answers, what it leaves on the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from shutil import which
from typing import TYPE_CHECKING

import pytest

from launches import compiled, environment, python
from pvc.launch import cache
from pvc.model.digest import Digest
from pvc.store.codec import decode

if TYPE_CHECKING:
    from pathlib import Path

    from launches import Launches

PROMPT = b"You are an agent.\nAnn"
TOOLS = [
    {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}},
    {"name": "write", "description": "Write a file.", "input_schema": {"type": "object"}},
]


def write_json(folder: Path, name: str, value: object) -> str:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return name


# --- the first pin ----------------------------------------------------------------------------


def test_a_pin_answers_with_the_digest_of_the_prompt_and_the_receipt_of_its_record(
    launches: Launches,
) -> None:
    done = launches.pin("agent", "--session", "s", "--set", "who=Ann", "--out", "prompt.txt")
    (path,) = launches.spooled
    assert done.code == 0, done.err
    assert done.out.decode().split() == [
        "pinned",
        Digest.of(PROMPT),
        "agent@1",
        "receipt",
        Digest.of(path.read_bytes()),
    ]
    assert (launches.path / "prompt.txt").read_bytes() == PROMPT
    assert done.err == ""


def test_the_record_names_every_input_by_digest(launches: Launches) -> None:
    tools = write_json(launches.path, "tools.json", TOOLS)
    env = write_json(launches.path, "env.json", {"cwd": "/srv", "who": "Ann"})
    words = ("--env", env, "--tools", tools, "--model", "m-1", "--chain", "helper")
    answer = launches.pin("agent", "--session", "s", *words, "--json").answer
    pin = decode(launches.spooled[0].read_bytes())
    bodies = {
        f"b3:{path.name}": path.read_bytes() for path in (launches.home / "spool/b").iterdir()
    }
    assert (pin.session, pin.chain, pin.n, pin.label) == ("s", "helper", 0, "agent@1")
    assert (pin.provider, pin.model) == ("anthropic.messages", "m-1")
    assert bodies[str(pin.environment)] == b'{"cwd":"/srv","who":"Ann"}'
    assert json.loads(bodies[str(pin.tools)]) == TOOLS
    assert answer["head_digest"] == pin.head
    assert answer["receipt"] == pin.receipt


def test_set_is_laid_over_the_environment_file(launches: Launches) -> None:
    env = write_json(launches.path, "env.json", {"who": "Bob", "cwd": "/x"})
    words = ("--env", env, "--set", "who=Ann", "--set", "cwd=", "--out", "-")
    assert launches.pin("agent", "--session", "s", *words).out == PROMPT


def test_guidance_files_are_fenced_into_one_value(launches: Launches) -> None:
    (launches.path / "NOTES.md").write_bytes(b"Be brief.")
    words = ("agent", "--session", "s", "--guidance", "NOTES.md")
    assert "unknown key `repository_guidance`" in launches.pin(*words).err
    both = launches.pin(*words, "--set", "repository_guidance=x")
    assert both.code == 2
    assert "as a value and as files" in both.err


# --- a session that is known ------------------------------------------------------------------


def test_the_same_values_again_are_the_same_pin(launches: Launches) -> None:
    first = launches.pin("agent", "--session", "s", "--set", "who=Ann", "--json").answer
    again = launches.pin("agent", "--session", "s", "--set", "who=Ann", "--json").answer
    assert (first["status"], again["status"]) == ("pinned", "same")
    assert first["receipt"] == again["receipt"]
    assert len(launches.spooled) == 1


@pytest.mark.parametrize("is_folded", [False, True])
def test_other_values_are_refused_with_the_first_byte_and_its_owner(
    launches: Launches, *, is_folded: bool
) -> None:
    launches.pin("agent", "--session", "s", "--set", "who=Ann")
    if is_folded:
        launches.fold()
    done = launches.pin("agent", "--session", "s", "--set", "who=Bob", "--json")
    divergence = done.answer["first_divergence"]
    assert (done.code, done.answer["status"]) == (1, "refused")
    assert divergence["byte"] == len(PROMPT) - 3
    assert (divergence["pinned"], divergence["given"]) == (
        "n agent.\nAnn"[-11:],
        "n agent.\nBob"[-11:],
    )
    assert divergence["owner"] == "the value `/who` for `{who}` in section `body`"
    assert "--repin" in done.answer["hint"]


@pytest.mark.parametrize("is_folded", [False, True])
def test_a_known_session_keeps_its_version(launches: Launches, *, is_folded: bool) -> None:
    launches.pin("agent", "--session", "s", "--set", "who=Ann")
    if is_folded:
        launches.fold()
    launches.adopt(b"You are another agent.\n")
    done = launches.pin("agent", "--session", "s", "--set", "who=Ann", "--out", "-")
    assert (done.code, done.out) == (0, PROMPT)
    assert (
        "agent@2 was adopted since; session s stays at agent@1 (--repin REASON moves it)"
        in done.err
    )


@pytest.mark.parametrize("is_folded", [False, True])
def test_resume_gives_the_pinned_bytes_without_values(
    launches: Launches, *, is_folded: bool
) -> None:
    launches.pin("agent", "--session", "s", "--set", "who=Ann")
    if is_folded:
        launches.fold()
    launches.adopt(b"You are another agent.\n")
    done = launches.pin("agent", "--session", "s", "--resume", "--out", "-")
    assert (done.code, done.out) == (0, PROMPT)


def test_repin_records_the_change_and_what_it_supersedes(launches: Launches) -> None:
    first = launches.pin("agent", "--session", "s", "--set", "who=Ann", "--json").answer
    launches.adopt(b"You are another agent.\n")
    second = launches.pin("agent", "--session", "s", "--repin", "moved", "--json").answer
    pin = next(pin for pin in launches.ledger().session("s") if pin.n == 1)
    assert (second["status"], second["version"]) == ("pinned", "agent@2")
    assert (pin.supersedes, pin.reason, pin.receipt) == (
        first["receipt"],
        "moved",
        second["receipt"],
    )
    assert launches.pin("agent", "--session", "s", "--json").answer["receipt"] == pin.receipt


def test_repin_without_a_change_is_the_same_pin(launches: Launches) -> None:
    launches.pin("agent", "--session", "s")
    answer = launches.pin("agent", "--session", "s", "--repin", "again", "--json").answer
    assert answer["status"] == "same"
    assert len(launches.spooled) == 1


def test_a_changed_tool_is_refused_and_named(launches: Launches) -> None:
    before = write_json(launches.path, "a.json", TOOLS)
    launches.pin("agent", "--session", "s", "--tools", before)
    changed = [TOOLS[0], {**TOOLS[1], "description": "Write a file!"}]
    after = write_json(launches.path, "b.json", changed)
    done = launches.pin("agent", "--session", "s", "--tools", after, "--json")
    assert done.code == 1
    assert done.answer["first_divergence"]["region"] == "tools"
    assert done.answer["first_divergence"]["pointer"] == "/tools/1/description"


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (["--model", "a"], ["--model", "b"], "the model is another"),
        (["--provider", "openai.chat"], ["--provider", "openai.responses"], "the provider is"),
    ],
)
def test_a_changed_setting_is_refused(
    launches: Launches, first: list[str], second: list[str], told: str
) -> None:
    launches.pin("agent", "--session", "s", *first)
    done = launches.pin("agent", "--session", "s", *second)
    assert done.code == 1
    assert told in done.err
    assert launches.pin("agent", "--session", "s").code == 0


def test_two_chains_of_one_session_are_two_pins(launches: Launches) -> None:
    launches.pin("agent", "--session", "s", "--set", "who=Ann")
    done = launches.pin("agent", "--session", "s", "--chain", "helper", "--set", "who=Bob")
    assert done.code == 0
    assert len(launches.spooled) == 2


def test_bytes_that_were_sent_are_kept_and_given_back(launches: Launches) -> None:
    (launches.path / "body.json").write_bytes(b'{"system":"x"}\xff')
    launches.pin("--session", "s", "--request", "body.json")
    launches.fold()
    done = launches.pin("--session", "s", "--resume", "--out", "-")
    assert done.out == b'{"system":"x"}\xff'
    (launches.path / "body.json").write_bytes(b'{"system":"y"}\xff')
    refused = launches.pin("--session", "s", "--request", "body.json")
    assert refused.code == 1
    assert "first at byte 11" in refused.err


# --- versions and channels --------------------------------------------------------------------


def test_a_version_number_and_a_channel_name_older_versions(launches: Launches) -> None:
    for number in (2, 3):
        launches.adopt(b"Version %d.\n" % number)
    git = launches.workspace.git
    second = git("rev-parse", "refs/pvc/trees/agent~1")
    tree = git("rev-parse", f"{second}^{{tree}}")
    move = git("commit-tree", tree, "-p", second, "-m", "promote")
    git("update-ref", "refs/pvc/channels/agent/production", move)
    cache.write(str(launches.path / ".git"), move, compiled("agent", 2, second, b"Version 2.\n"))
    for name, text in (
        ("agent@1", b"You"),
        ("agent@2", b"Version 2"),
        ("agent@production", b"Version 2"),
    ):
        done = launches.pin(name, "--session", name, "--out", "-")
        assert done.out.startswith(text), done.err
    assert launches.pin("agent@4", "--session", "x").code == 4
    assert launches.pin("agent@0", "--session", "x").code == 4
    assert launches.pin("agent@beta", "--session", "x").code == 4


def test_refs_are_read_packed_too(launches: Launches) -> None:
    launches.workspace.git("pack-refs", "--all")
    assert launches.pin("agent", "--session", "s").code == 0


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["nope", "--session", "s"], 4, "no tree or pack `nope` here"),
        (["agent"], 2, "no session is named"),
        (["--session", "s"], 2, "no tree is named"),
        (["agent", "other", "--session", "s"], 2, "one tree at a time"),
        (["agent", "--session", "s", "--sett", "a=b"], 2, "did you mean `--set`?"),
        (["agent", "--session", "s", "--set", "who"], 2, "KEY=TEXT"),
        (["agent", "--session", "s", "--set", "whom=x"], 2, "did you mean `who`?"),
        (["agent", "--session", "s", "--env", "none.json"], 4, "none.json: no such file"),
        (["agent", "--session", "s", "--env", "bad.json"], 3, "bad.json:1:9"),
        (["agent", "--session", "s", "--env", "list.json"], 2, "an environment is a JSON object"),
        (["agent", "--session", "s", "--resume"], 4, "session `s` is not pinned here"),
        (["agent", "--session", "s", "--resume", "--set", "who=x"], 2, "takes no values"),
        (["agent", "--session", "a\nb"], 2, "control characters"),
        (["Agent", "--session", "s"], 4, "no tree or pack `Agent` here"),
        (["agent", "--session", "s", "--provider", "acme"], 2, "no provider shape `acme`"),
        (["agent", "--session", "s", "--out", "no/such/folder"], 5, "cannot be written"),
        (["agent", "--session", "s", "-C", "nowhere"], 4, "nowhere: no such file"),
        (["--batch", "agent"], 2, "standard input, not `agent`"),
    ],
)
def test_bad_input_gets_one_line_a_hint_and_its_code(
    launches: Launches, words: list[str], code: int, told: str
) -> None:
    (launches.path / "bad.json").write_text('{"who": }')
    (launches.path / "list.json").write_text("[]")
    done = launches.pin(*words)
    assert (done.code, done.out) == (code, b""), done.err
    assert told in done.err
    assert done.err.startswith("pvc: ")
    assert "Traceback" not in done.err


def test_outside_of_a_repository_it_says_so(tmp_path: Path, launches: Launches) -> None:
    done = launches.pin("agent", "--session", "s", "-C", str(tmp_path))
    assert done.code == 4
    assert "not in a git repository" in done.err


def test_control_characters_do_not_reach_a_terminal(launches: Launches) -> None:
    for words in (["ag\x1b[2Jent"], ["agent", "--set", "\x1b]0;x\x07=1"], ["agent", "--x\x9b1m"]):
        done = launches.pin("--session", "s", *words)
        shown = done.out + done.err.encode()
        assert not {0x1B, 0x07, 0x9B} & set(shown.decode().encode("latin-1", "replace"))
        assert "\\u00" in done.err


def test_a_fault_of_ours_exits_with_70_and_its_traceback(launches: Launches) -> None:
    script = (
        "import sys; from pvc.launch import pin; from pvc.main import main\n"
        "def broken(*_): raise ZeroDivisionError('broken')\n"
        "pin.Pinner.pin = broken; sys.argv = ['pvc', 'pin', 'agent', '--session', 's']; main()"
    )
    done = python(launches.path, "-c", script)
    assert done.code == 70
    assert "ZeroDivisionError: broken" in done.err


# --- what cannot be recorded ------------------------------------------------------------------


def test_a_launch_goes_on_when_the_spool_cannot_be_written(launches: Launches) -> None:
    launches.home.mkdir(exist_ok=True)
    (launches.home / "spool").write_bytes(b"not a folder")
    words = ("agent", "--session", "s", "--set", "who=Ann", "--out", "prompt.txt")
    done = launches.pin(*words, "--json")
    assert (done.code, done.answer["status"], done.answer["receipt"]) == (0, "unrecorded", None)
    assert "session `s` is not recorded" in done.err
    assert (launches.path / "prompt.txt").read_bytes() == PROMPT
    must = launches.pin(*words, "--must-record")
    assert (must.code, must.out) == (5, b"")


def test_a_full_disk_leaves_nothing_half_written(launches: Launches) -> None:
    launches.pin("agent", "--session", "first")
    script = (
        "import resource, signal, sys; from pvc.main import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "sys.argv = ['pvc', 'pin', 'agent', '--session', 's', '--json']; main()"
    )
    done = python(launches.path, "-c", script)
    assert (done.code, done.answer["status"]) == (0, "unrecorded")
    assert len(launches.spooled) == 1
    assert not list((launches.home / "spool").glob(".tmp*"))


def test_what_no_clone_would_read_back_is_not_acknowledged(launches: Launches) -> None:
    (launches.path / "reason").write_text("a" * 300_000)
    launches.pin("agent", "--session", "s", "--set", "who=Ann")
    script = (
        "import sys; from pvc.main import main\n"
        "sys.argv = ['pvc', 'pin', 'agent', '--session', 's', '--set', 'who=Bob', '--repin',\n"
        "            open('reason').read(), '--json', *sys.argv[1:]]; main()"
    )
    done = python(launches.path, "-c", script)
    assert (done.code, done.answer["status"], done.answer["receipt"]) == (0, "unrecorded", None)
    assert "its record has 300" in done.err
    assert "the limit is 262144" in done.err
    assert python(launches.path, "-c", script, "--must-record").code == 5
    assert len(launches.spooled) == 1


def test_a_prompt_that_no_clone_would_read_back_is_not_kept(launches: Launches) -> None:
    most = 64 << 20
    (launches.path / "env").write_bytes(b'{"who":"%s"}' % (b"a" * (most - 10)))
    words = ("agent", "--session", "s", "--env", "env", "--privacy", "bytes", "--json")
    done = launches.pin(*words)
    assert (done.code, done.answer["status"], done.answer["receipt"]) == (0, "unrecorded", None)
    assert f"its body has {most + 8} bytes; the limit is {most}" in done.err
    assert launches.spooled == []
    assert not list((launches.home / "spool/b").iterdir())


def test_a_damaged_record_of_the_session_is_not_overwritten(launches: Launches) -> None:
    launches.pin("agent", "--session", "s")
    (path,) = launches.spooled
    damaged = path.read_bytes().replace(b"agent", b"other", 1)[:-3]
    path.write_bytes(damaged)
    done = launches.pin("agent", "--session", "s", "--json")
    assert done.answer["status"] == "unrecorded"
    assert "damaged" in done.err
    assert path.read_bytes() == damaged


def test_out_goes_into_a_pipe_as_it_is(launches: Launches) -> None:
    os.mkfifo(launches.path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=launches.path, stdout=subprocess.PIPE) as reader:
        launches.pin("agent", "--session", "s", "--set", "who=Ann", "--out", "pipe")
        assert reader.communicate(timeout=10)[0] == PROMPT


# --- many in one process ----------------------------------------------------------------------


def test_batch_answers_in_order_and_only_what_is_durable(launches: Launches) -> None:
    lines: list[object] = [
        {"id": i, "tree": "agent", "session": f"s{i}", "set": {"who": "Ann"}} for i in range(150)
    ]
    lines[40:40] = ["no object", {"id": "bad", "tree": "agent"}]
    lines.append({"id": "x", "tree": "agent", "session": "s3", "set": {"who": "Bob"}})
    lines.append({"id": "y", "session": "s3", "repin": "r", "tree": "agent", "env": {"who": "Bob"}})
    lines.append({"id": "z", "session": "s3", "resume": True})
    done = launches.pin("--batch", data="\n".join(map(json.dumps, lines)).encode())
    answers = done.answers
    assert [a["id"] for a in answers[:40]] == list(range(40))
    assert [a["status"] for a in answers[40:42]] == ["error", "error"]
    assert [a["status"] for a in answers[-3:]] == ["refused", "pinned", "same"]
    assert sum(a["status"] == "pinned" for a in answers) == 151
    assert len(launches.ledger().newest(None)) == 151
    assert done.code == 1


@pytest.mark.skipif(which("strace") is None, reason="strace counts the syncs")
def test_batch_shares_its_syncs(launches: Launches) -> None:
    lines = [{"tree": "agent", "session": f"s{i}"} for i in range(64)]
    words = [
        "-f",
        "-e",
        "trace=fsync",
        "-o",
        "trace",
        sys.executable,
        "-m",
        "pvc",
        "pin",
        "--batch",
    ]
    subprocess.run(
        ["strace", *words],
        cwd=launches.path,
        input="\n".join(map(json.dumps, lines)).encode(),
        env=environment(),
        capture_output=True,
        check=True,
    )
    assert (launches.path / "trace").read_text().count("fsync(") < 64 + 12
