"""What is kept of a pin: the inputs, the bytes too, or nothing; and what can be said then."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from blake3 import blake3

from launches import Launches, process
from pvc.launch import record

if TYPE_CHECKING:
    from launches import Done
    from workspace import Workspace

WORDS = "correct horse battery staple"
PROMPT = b"You are an agent.\n" + WORDS.encode()
TOOLS = [{"name": "read", "description": f"reads {WORDS}", "input_schema": {"type": "object"}}]


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    """A tree of one version that every command can read, not the launch path alone."""
    files = {
        "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'
        'dynamic = ["notes"]\n',
        "agent/a.md": "You are an agent.\n{who}",
    }
    workspace.commit(dict(files))
    done = process(workspace.path, "supersede", "agent", "-m", "First")
    assert done.code == 0, done.err
    return Launches(workspace)


def pin(launches: Launches, session: str, *words: str, who: str = WORDS) -> dict[str, Any]:
    (launches.path / "tools.json").write_text(json.dumps(TOOLS))
    given = ["--session", session, "--set", f"who={who}", "--tools", "tools.json", "--json"]
    done = launches.pin("agent", *given, *words)
    assert done.code == 0, done.err
    return done.answer


def spooled(launches: Launches) -> dict[str, record.Record]:
    records = [record.read(path.read_bytes()) for path in launches.spooled]
    return {str(values["session"]): values for values in records}


def kept(launches: Launches) -> list[bytes]:
    return [path.read_bytes() for path in sorted((launches.home / "spool/b").iterdir())]


def everywhere(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("privacy", "bodies"), [("inputs", 2), ("bytes", 3), ("digest", 0), ("keyed", 0)]
)
@pytest.mark.parametrize("by", ["option", "setting"])
def test_what_is_kept_is_what_privacy_says(
    launches: Launches, privacy: str, bodies: int, by: str
) -> None:
    if by == "setting":
        launches.workspace.git("config", "pvc.privacy", privacy)
    answer = pin(launches, "s", *(["--privacy", privacy] if by == "option" else []))
    assert len(kept(launches)) == bodies
    assert (WORDS.encode() in everywhere(launches.home)) == bool(bodies)
    values = spooled(launches)["s"]
    assert values.get("privacy", "inputs") == privacy
    assert values["format"] == (1 if privacy == "inputs" else 3)
    assert (values["prompt.digest"] == answer["prompt_digest"]) == (privacy != "keyed")
    assert answer["receipt"] == record.receipt(record.write(values))


def test_the_default_writes_the_records_that_it_always_wrote(launches: Launches) -> None:
    launches.workspace.git("config", "pvc.privacy", "inputs")
    pin(launches, "s")
    assert "privacy" not in spooled(launches)["s"]


def test_an_option_counts_above_the_setting(launches: Launches) -> None:
    launches.workspace.git("config", "pvc.privacy", "digest")
    pin(launches, "s", "--privacy", "inputs")
    assert len(kept(launches)) == 2


def test_a_line_of_a_batch_says_its_own(launches: Launches) -> None:
    line = {"session": "s", "tree": "agent", "set": {"who": WORDS}, "privacy": "digest"}
    done = launches.pin("--batch", data=json.dumps(line).encode() + b"\n")
    assert done.answers[0]["status"] == "pinned"
    assert kept(launches) == []


@pytest.mark.parametrize("words", [("--privacy", "none"), ("--resume", "--privacy", "digest")])
def test_a_privacy_that_says_nothing_is_refused(launches: Launches, words: tuple[str, ...]) -> None:
    done = launches.pin("agent", "--session", "s", *words)
    assert done.code == 2
    assert not (launches.home / "spool").exists()


@pytest.mark.parametrize("privacy", ["inputs", "bytes", "digest", "keyed"])
def test_a_session_is_the_same_by_its_own_record_whatever_is_set_now(
    launches: Launches, privacy: str
) -> None:
    first = pin(launches, "s", "--privacy", privacy)
    launches.workspace.git("config", "pvc.privacy", "digest")
    for _ in range(2):
        again = pin(launches, "s")
        assert (again["status"], again["receipt"]) == ("same", first["receipt"])
        launches.fold()
    done = launches.pin("agent", "--session", "s", "--set", "who=Eve", "--json")
    assert (done.code, done.answer["status"]) == (1, "refused")


# --- bytes ------------------------------------------------------------------------------------


def test_kept_bytes_are_given_back_when_the_version_is_gone(launches: Launches) -> None:
    pin(launches, "s", "--privacy", "bytes")
    launches.fold()
    launches.workspace.git("update-ref", "-d", "refs/pvc/trees/agent")
    launches.workspace.git("reflog", "expire", "--expire=now", "--all")
    launches.workspace.git("gc", "--quiet", "--prune=now")
    for path in (launches.home / "cache/v1").iterdir():
        path.unlink()
    shown = process(launches.path, "show", "s", "--bytes")
    assert shown.out == PROMPT
    resumed = launches.pin("--session", "s", "--resume", "--out", "-")
    assert (resumed.code, resumed.out) == (0, shown.out)
    words = process(launches.path, "show", "s").out.decode()
    assert "as they were kept; what they were rendered from is gone" in words


# --- keyed ------------------------------------------------------------------------------------


def key_file() -> Path:
    return Path(os.environ["HOME"]) / ".config/pvc/key"


def test_a_key_is_made_once_and_readable_by_nobody_else(launches: Launches) -> None:
    pin(launches, "s", "--privacy", "keyed")
    key = key_file().read_bytes()
    assert key_file().stat().st_mode & 0o777 == 0o600
    assert len(bytes.fromhex(key.decode())) == 32
    pin(launches, "t", "--privacy", "keyed")
    assert key_file().read_bytes() == key
    first, second = spooled(launches).values()
    assert first["key"] == second["key"]
    assert first["environment.digest"] == second["environment.digest"]


def test_who_guesses_right_cannot_tell(launches: Launches) -> None:
    """No digest of the record is that of the true values, tools, prompt or head."""
    open_answer = pin(launches, "open")
    pin(launches, "s", "--privacy", "keyed")
    guess, closed = spooled(launches)["open"], spooled(launches)["s"]
    digests = {value for name, value in guess.items() if name.endswith(".digest")}
    assert open_answer["prompt_digest"] in digests
    assert not digests & set(closed.values())
    written = record.write(closed)
    assert not [digest for digest in digests if str(digest)[3:].encode() in written]


def test_the_keyed_digest_is_blake3_under_the_key_of_the_plain_one(launches: Launches) -> None:
    answer = pin(launches, "s", "--privacy", "keyed")
    key = bytes.fromhex(key_file().read_text())
    plain = bytes.fromhex(answer["prompt_digest"][3:])
    sealed = spooled(launches)["s"]
    assert sealed["prompt.digest"] == "k3:" + blake3(plain, key=key).hexdigest()
    assert sealed["key"] == blake3(b"pvc key", key=key).hexdigest()[:16]


def test_who_has_the_key_finds_a_session_by_the_digest_that_was_answered(
    launches: Launches,
) -> None:
    answer = pin(launches, "s", "--privacy", "keyed")
    launches.fold()
    found = process(launches.path, "show", answer["prompt_digest"], "--json")
    assert json.loads(found.out)["pin"]["session"] == "s"
    key_file().rename(key_file().with_name("elsewhere"))
    assert process(launches.path, "show", answer["prompt_digest"]).code == 4


def lost_key(launches: Launches) -> Done:
    key_file().unlink()
    return launches.pin("agent", "--session", "s", "--set", f"who={WORDS}")


def open_key(launches: Launches) -> Done:
    key_file().chmod(0o644)
    return launches.pin("agent", "--session", "t", "--privacy", "keyed", "--set", "who=x")


def odd_key(launches: Launches) -> Done:
    key_file().write_text("no key\n")
    return launches.pin("agent", "--session", "t", "--privacy", "keyed", "--set", "who=x")


def key_within(launches: Launches) -> Done:
    launches.workspace.git("config", "pvc.key", str(launches.path / "key"))
    return launches.pin("agent", "--session", "t", "--privacy", "keyed", "--set", "who=x")


@pytest.mark.parametrize(
    ("attempt", "code", "words"),
    [
        (lost_key, 4, "its key"),
        (open_key, 2, "others may read"),
        (odd_key, 2, "holds no key"),
        (key_within, 2, "outside of the repository"),
    ],
)
def test_a_key_that_cannot_be_used_is_said_and_nothing_is_recorded_without_it(
    launches: Launches, attempt: Any, code: int, words: str
) -> None:
    pin(launches, "s", "--privacy", "keyed")
    done = attempt(launches)
    assert done.code == code
    assert words in done.err
    assert list(spooled(launches)) == ["s"]


# --- digest and keyed: what cannot be done, and what can --------------------------------------


@pytest.mark.parametrize("privacy", ["digest", "keyed"])
@pytest.mark.parametrize(
    "words", [("show", "s", "--bytes"), ("blame", "s"), ("pin", "--session", "s", "--resume")]
)
@pytest.mark.parametrize("is_folded", [False, True])
def test_what_was_not_kept_is_said_to_be(
    launches: Launches, privacy: str, words: tuple[str, ...], *, is_folded: bool
) -> None:
    pin(launches, "s", "--privacy", privacy)
    if is_folded:
        assert launches.fold().flagged == ()
    done = process(launches.path, *words)
    assert f"the values of session `s` were not kept: it was pinned with privacy `{privacy}`" in (
        done.err
    )
    if words[0] == "blame":  # what depends on no value is shown, the rest is its placeholder
        assert done.code == 0
    else:
        assert done.code == 4
        assert "pvc show s --env FILE" in done.err


@pytest.mark.parametrize("privacy", ["digest", "keyed"])
def test_nothing_can_be_added_to_what_is_not_kept(launches: Launches, privacy: str) -> None:
    pin(launches, "s", "--privacy", privacy)
    (launches.path / "more.md").write_text("More.")
    for command in (
        ["session", "append", "s", "more.md"],
        ["context", "s", "--section", "notes=more.md"],
    ):
        done = process(launches.path, *command)
        assert done.code in (1, 4), done.err
        assert f"privacy `{privacy}`" in done.err
    assert len(spooled(launches)) == 1
    assert kept(launches) == []


@pytest.mark.parametrize("privacy", ["inputs", "digest", "keyed"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--set", f"who={WORDS}"], 0),
        (["--set", f"who={WORDS}", "--tools", "tools.json"], 0),
        (["--rendered", "whole"], 0),
        (["--set", "who=Eve"], 1),
        (["--set", f"who={WORDS}", "--set", "cwd=/"], 1),
        (["--tools", "other.json"], 1),
        (["--rendered", "other.json"], 1),
    ],
    ids=str,
)
def test_values_that_somebody_has_can_be_proved(
    launches: Launches, privacy: str, words: list[str], code: int
) -> None:
    pin(launches, "s", "--privacy", privacy)
    (launches.path / "other.json").write_text("[]")
    (launches.path / "whole").write_bytes(PROMPT)
    done = process(launches.path, "show", "s", *words, "--json")
    assert done.code == code, done.err
    assert done.answer["schema"] == "pvc.proof/1"
    assert done.answer["proved"] == (code == 0)


def test_proved_values_give_the_prompt_again(launches: Launches) -> None:
    pin(launches, "s", "--privacy", "keyed")
    words = ["show", "s", "--bytes", "--set"]
    done = process(launches.path, *words, f"who={WORDS}")
    assert done.out == PROMPT
    wrong = process(launches.path, *words, "who=Eve")
    assert (wrong.code, b"Eve" in wrong.out) == (1, False)
