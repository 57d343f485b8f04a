"""Refs that a broken disk or a forger left: found, named, and never passed over."""

from pathlib import Path

import pytest

from cli.conftest import Clone

READERS = (
    ["render", "agent", "--set", "cwd=/"],
    ["pin", "agent", "--session", "new", "--set", "cwd=/"],
    ["supersede", "agent", "-m", "x"],
    ["log", "agent"],
)
DAMAGE = {
    "empty": b"",
    "zeros": bytes(41),
    "zeros without a line feed": bytes(40),
    "cut": b"1234567\n",
    "no hex": b"z" * 40 + b"\n",
    "no ASCII": b"\xff" * 40 + b"\n",
}


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed below"])
@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_ref_is_never_as_good_as_absent(
    adopted: Clone, data: bytes, *, packed: bool
) -> None:
    if packed:
        adopted.git("pack-refs", "--all")
    file = adopted.write(".git/refs/pvc/trees/agent", data)
    for words in READERS:
        assert "agent" in adopted.refused(*words, code=3)
    assert file.read_bytes() == data


def test_a_damaged_line_of_packed_refs_is_named(adopted: Clone) -> None:
    adopted.git("pack-refs", "--all")
    file = adopted.path / ".git/packed-refs"
    tip = adopted.git("rev-parse", "refs/pvc/trees/agent")
    file.write_text(file.read_text().replace(tip, "g" * 40))
    error = adopted.refused("pin", "agent", "--session", "s", "--set", "cwd=/", code=3)
    assert "refs/pvc/trees/agent" in error


def test_a_known_session_is_not_forgotten_with_a_damaged_ledger(hub: Clone, adopted: Clone) -> None:
    [ledger] = (adopted.path / ".git/refs/pvc/pins").iterdir()
    ledger.write_bytes(bytes(41))
    words = ["pin", "agent", "--session", "own", "--set", "cwd=/elsewhere", "--json"]
    done = adopted.pvc(*words)
    assert done.json["status"] == "unrecorded"
    assert ledger.name in done.err
    assert hub.refs()


def test_a_symbolic_ref_is_followed(adopted: Clone) -> None:
    adopted.git("update-ref", "refs/pvc/elsewhere", "refs/pvc/trees/agent")
    adopted.git("pack-refs", "--all")
    adopted.git("symbolic-ref", "refs/pvc/trees/agent", "refs/pvc/elsewhere")
    for words in READERS[:2]:
        adopted.pvc(*words)


@pytest.mark.parametrize("ref", ["refs/pvc/trees/other", "refs/pvc/channels/other/live"])
def test_a_ref_that_holds_another_tree_is_refused(adopted: Clone, ref: str) -> None:
    adopted.git("update-ref", ref, "refs/pvc/trees/agent")
    adopted.git("update-ref", "refs/pvc/trees/other", "refs/pvc/trees/agent")
    word = "other@live" if "channels" in ref else "other"
    for words in (["render", word], ["pin", word, "--session", "s"], ["show", word]):
        values = [] if words[0] == "show" else ["--set", "cwd=/"]
        assert "agent@1" in adopted.refused(*words, *values, code=3)


@pytest.mark.parametrize("target", ["HEAD", "HEAD^{tree}", "HEAD:agent/pvc.toml"])
def test_a_ref_that_holds_no_version_is_refused(adopted: Clone, target: str) -> None:
    oid = adopted.git("rev-parse", target)
    for ref in ("trees/other", "channels/agent/live"):
        adopted.write(f".git/refs/pvc/{ref}", oid + "\n")
    for word in ("other", "agent@live"):
        for words in (["render", word], ["pin", word, "--session", "s"]):
            done = adopted.pvc(*words, "--set", "cwd=/", code=4 if target == "HEAD" else 3)
            assert "Traceback" not in done.err


def test_a_git_dir_that_is_a_file_leads_to_its_repository(adopted: Clone, tmp_path: Path) -> None:
    adopted.git("worktree", "add", "-q", str(tmp_path / "tree"))
    worktree = Clone(tmp_path / "tree")
    for variable in (str(tmp_path / "tree/.git"), ".git"):
        words = ["pin", "agent", "--session", "s", "--set", "cwd=/"]
        assert worktree.pvc(*words, GIT_DIR=variable).code == 0
    assert adopted.pvc("show", "s").code == 0
