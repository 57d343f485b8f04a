"""Bad input: one clear line, a hint, the right exit code, and nothing half-written."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Clone


def test_not_a_repository(tmp_path: Path) -> None:
    for words in (["log"], ["supersede", "x", "-m", "y"], ["pin", "x", "--session", "s"]):
        assert "git" in Clone(tmp_path).refused(*words, code=4)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["render", "agnet", "--set", "cwd=/"], "did you mean `agent`?"),
        (["render", "agent@9", "--set", "cwd=/"], "agent"),
        (["render", "agent@production", "--set", "cwd=/"], "production"),
        (["show", "session:nobody"], "nobody"),
        (["show", "b3:0000"], "b3:0000"),
        (["show", "nothing-at-all"], "nothing-at-all"),
        (["supersede", "agnet", "-m", "x"], "did you mean `agent`?"),
        (["pin", "agnet", "--session", "s"], "agnet"),
        (["pin", "agent@9", "--session", "s", "--set", "cwd=/"], "9"),
        (["pin", "agent", "--session", "s", "--resume"], "s"),
        (["blame", "agent", "--set", "cwd=/", "--section", "90-none.md"], "10-role.md"),
        (["miss", "session:x", "session:y"], "x"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_named(adopted: Clone, words: list[str], says: str) -> None:
    before = adopted.refs()
    assert says in adopted.refused(*words, code=4)
    assert adopted.refs() == before


def test_a_tree_that_is_not_committed_is_told_from_one_that_is_not_there(adopted: Clone) -> None:
    (adopted.path / "other").mkdir()
    adopted.pvc("init", "other")
    assert "git add other && git commit" in adopted.refused("supersede", "other", "-m", "x", code=4)
    assert "git add other;" in adopted.refused("supersede", "other", "-m", "x", "--index", code=4)
    assert "there is `agent`" in adopted.refused("supersede", "third", "-m", "x", code=4)


def test_edits_that_are_not_committed_are_pointed_out(adopted: Clone) -> None:
    words = ("supersede", "agent", "-m", "x")
    adopted.pvc(*words)
    adopted.write("agent/10-role.md", "other\n")
    said = adopted.refused(*words, code=1)
    assert "edits in `agent` are not committed: `10-role.md`" in said
    assert "--worktree" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "mondy"], "did you mean `monday`?"),
        (["show", "0123abcd"], "a digest is written `b3:0123abcd`"),
        (["log", "--pins", "agnt"], "did you mean `agent`?"),
    ],
    ids=["session", "digest", "pins of a tree"],
)
def test_a_near_name_is_offered(adopted: Clone, words: list[str], says: str) -> None:
    adopted.pvc("pin", "agent", "--session", "monday", "--set", "cwd=/")
    assert says in adopted.refused(*words, code=4)


def test_init_changes_neither_name_nor_form(adopted: Clone) -> None:
    assert "its form `plain`" in adopted.refused("init", "agent", "--form", "loom", code=2)
    assert "its name `agent`" in adopted.refused("init", "agent", "--name", "b", code=2)
    assert "-C DIR" in adopted.refused("init", str(adopted.path.parent / "far"), code=2)


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ('{"same_acount": true}', "did you mean `same_account`?"),
        ('{"seconds_between": "soon"}', "a number from 0 on"),
        ('{"seconds_between": -1}', "a number from 0 on"),
    ],
)
def test_a_context_that_cannot_be_meant_is_refused(ada: Clone, context: str, says: str) -> None:
    ada.write("a.json", '{"system": "Be kind.", "messages": []}')
    ada.write("context.json", context)
    words = ("miss", "a.json", "a.json", "--context", "context.json")
    assert says in ada.refused(*words, code=2)


def test_one_request_body_alone_is_compared_with_nothing(ada: Clone) -> None:
    ada.write("a.json", '{"system": "Be kind.", "messages": []}')
    assert "pvc miss A B" in ada.refused("miss", "a.json", code=2)


def test_a_file_that_is_no_request_is_named(ada: Clone) -> None:
    ada.write("a.json", '{"foo": 1}')
    assert "a.json: not a request body that pvc reads" in ada.refused(
        "miss", "a.json", "a.json", code=3
    )


def test_an_ambiguous_digest_prefix_names_what_it_begins(adopted: Clone) -> None:
    # 16 ^ 4 prefixes of four digits: of 1,500 prompts two share one (always the same two, for the
    # prompts are always the same). A receipt, new in each run, may begin so too.
    lines = [
        json.dumps({"tree": "agent", "session": f"s{i}", "set": {"cwd": f"/srv/{i}"}})
        for i in range(1500)
    ]
    adopted.write("lines", "\n".join(lines) + "\n")
    answers = adopted.run(
        ["bash", "-c", f"{sys.executable} -m pvc pin --batch < lines"]
    ).text.splitlines()
    digests = {
        json.loads(answer)[field] for answer in answers for field in ("prompt_digest", "receipt")
    }
    prompts = [json.loads(answer)["prompt_digest"][:7] for answer in answers]
    twice = next(prefix for prefix in prompts if prompts.count(prefix) > 1)
    begun = sorted(digest[:15] for digest in digests if digest.startswith(twice))
    error = adopted.refused("show", twice, code=2)
    assert f"{', '.join(begun)}: `{twice}` begins {len(begun)} digests" in error


def test_a_word_that_is_tree_and_session_is_refused(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "agent", "--set", "cwd=/")
    error = adopted.refused("show", "agent", code=2)
    assert "session:agent" in error
    assert "agent@1" in error
    adopted.pvc("show", "session:agent")
    adopted.pvc("show", "agent@1")


def test_a_corrupt_pack_names_line_and_what_was_expected(ada: Clone) -> None:
    ada.write("t/pvc.toml", 'format = 1\nname = "t"\nform = "loom"\n')
    ada.write("t/p.loom", "%% loom-prompt-pack 1\n%% version v\n%% sektion a\nx\n")
    ada.commit()
    error = ada.refused("supersede", "t", "-m", "x", code=3)
    assert "line 3" in error
    assert "sektion a" in error
    assert ada.refs() == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('fiels = ["*.md"]', "did you mean `files`?"),
        ("bindings = 3", "bindings"),
        ("x =", "pvc.toml"),
    ],
)
def test_a_bad_manifest_names_the_key(plain: Clone, line: str, says: str) -> None:
    plain.write("agent/pvc.toml", f'format = 1\nname = "agent"\nform = "plain"\n{line}\n')
    plain.commit()
    done = plain.pvc("supersede", "agent", "-m", "x", code=4 if line == "x =" else 2)
    assert says in done.err
    assert plain.refs() == ""


@pytest.mark.parametrize(
    ("env", "code", "says"),
    [
        ('{"cwd": 3}', 2, "/cwd"),
        ('{"cdw": "/"}', 2, "did you mean `cwd`?"),
        ("{}", 2, "cwd"),
        ("[]", 2, "object"),
        ('{"cwd": "/", }', 3, "env.json:1"),
        ('{"cwd": "/", "cwd": "/x"}', 3, "cwd"),
        ('{"cwd": "\\ud800"}', 2, "cwd"),
    ],
)
def test_a_bad_environment_names_the_pointer(
    adopted: Clone, env: str, code: int, says: str
) -> None:
    adopted.write("env.json", env)
    for words in (["render", "agent"], ["pin", "agent", "--session", "s"]):
        assert says in adopted.refused(*words, "--env", "env.json", code=code)
    assert "No pins" in adopted.pvc("log", "--pins").text


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("bad.md", b"\xff\xfe", "UTF-8"),
        ("big.md", b"x" * 100_000_000, "big.md"),
        ("Role.md", b"one", "role.md"),
    ],
    ids=["invalid utf-8", "100 MB", "case folding"],
)
def test_files_that_no_version_may_hold(plain: Clone, name: str, data: bytes, says: str) -> None:
    plain.write(f"agent/{name}", data)
    if name == "Role.md":
        plain.write("agent/role.md", b"two")
    plain.commit()
    error = plain.pvc("supersede", "agent", "-m", "x", code=3 if name == "bad.md" else 1).err
    assert says in error
    assert plain.refs() == ""


def test_a_symbolic_link_is_refused_with_its_path(plain: Clone) -> None:
    (plain.path / "agent/link.md").symlink_to("10-role.md")
    plain.commit()
    assert "link.md" in plain.refused("supersede", "agent", "-m", "x", code=1)
    assert plain.refs() == ""


def test_a_path_with_dots_is_refused(adopted: Clone) -> None:
    assert ".." in adopted.refused("supersede", "agent", "-m", "x", "--from", "../x", code=2)


def test_a_damaged_cache_file_is_made_again(adopted: Clone) -> None:
    folder = adopted.path / ".git/pvc/cache/v1"
    files = list(folder.iterdir())
    assert files
    for damage in (b"", b"garbage", files[0].read_bytes()[:-5], files[0].read_bytes() + b"x"):
        files[0].write_bytes(damage)
        name = f"s{len(damage)}"
        data = adopted.pvc("pin", "agent", "--session", name, "--set", "cwd=/", "--out", "-").out
        assert b"Work in /." in data


def test_without_a_name_git_is_told_how(plain: Clone) -> None:
    nameless = dict.fromkeys(
        (f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")), ""
    )
    plain.git("config", "user.useConfigOnly", "true")
    error = plain.refused("supersede", "agent", "-m", "x", code=2, **nameless)
    assert "user.name" in error
    assert "user.email" in error
    assert plain.refs() == ""


def test_a_record_that_no_clone_could_read_back_is_refused(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    words = (word for _ in range(3) for word in ("-m", "a" * 100_000))
    error = adopted.refused("session", "append", "s", "--text", "x", *words, code=2)
    assert "session `s` is not recorded: its record has 300" in error
    assert len(adopted.pvc("session", "log", "s").text.splitlines()) == 1


def test_an_empty_reason_is_refused(plain: Clone) -> None:
    assert "-m" in plain.refused("supersede", "agent", "-m", " ", code=2)


def test_names_that_lead_nowhere_are_not_adopted(ada: Clone) -> None:
    (ada.path / "t").mkdir()
    ada.pvc("init", "t")
    ada.write("t/conduct.md", "Stay in {workspce}.\n")
    ada.commit()
    error = ada.refused("supersede", "t", "-m", "x", code=1)
    assert "workspce" in error
    assert "refs/pvc/trees" not in ada.refs()
    ada.pvc("supersede", "t", "-m", "x", "--accept-findings")


def test_a_pin_that_cannot_be_recorded_does_not_stop_a_launch(adopted: Clone) -> None:
    spool = adopted.path / ".git/pvc/spool"
    shutil.rmtree(spool, ignore_errors=True)
    spool.write_text("a file where a folder should be")
    words = ["pin", "agent", "--session", "s", "--set", "cwd=/", "--json"]
    done = adopted.pvc(*words)
    assert done.json["status"] == "unrecorded"
    assert done.err
    assert adopted.pvc(*words, "--must-record", code=5).json["status"] == "error"


def test_control_characters_never_reach_the_terminal(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "red \x1b[31mtext\x07\n")
    adopted.commit("esc \x1b[2J here")
    adopted.pvc("supersede", "agent", "-m", "why \x1b[31m not")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    for words in (["log", "agent"], ["show", "s"], ["blame", "s"], ["log", "--pins"]):
        assert "\x1b" not in adopted.pvc(*words).text


def test_a_reader_that_leaves_is_no_error(adopted: Clone) -> None:
    line = 'python -m pvc render agent --set cwd=/ | head -c 1 > /dev/null; echo "${PIPESTATUS[0]}"'
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = adopted.run(["bash", "-c", line], PATH=path)
    assert done.text.strip() in {"0", "141"}
    assert "Traceback" not in done.err


def test_a_version_that_somebody_else_adopted_first_is_not_lost(
    plain: Clone, make_clone: Callable[..., Clone], tmp_path: Path
) -> None:
    hub = tmp_path / "hub.git"
    plain.git("init", "-q", "--bare", "-b", "main", str(hub))
    plain.git("remote", "add", "origin", str(hub))
    plain.git("push", "-q", "origin", "main")
    bob = make_clone("bob", "Bob Lindqvist", hub)
    bob.write("agent/10-role.md", "Bob's\n")
    bob.commit()
    plain.pvc("supersede", "agent", "-m", "Ada was first")
    bob.pvc("supersede", "agent", "-m", "Bob was second")
    plain.pvc("sync", "origin")
    done = bob.pvc("sync", code=1)
    assert "Ada was first" in done.text + done.err
    assert "Bob was second" in done.text + done.err
    assert "Bob's" in bob.pvc("render", "agent", "--set", "cwd=/").text
