"""Folders in odd states: what is adopted is what stands there, or one line says why not."""

import shutil

import pytest

from cli.conftest import Clone


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_the_worktree_is_read_where_git_was_told_not_to_look(plain: Clone, flag: str) -> None:
    plain.git("update-index", flag, "agent/10-role.md")
    plain.write("agent/10-role.md", "Edited\n")
    assert "Edited" in plain.pvc("render", "agent", "--worktree", "--set", "cwd=/").text
    assert plain.git("ls-files", "-v", "agent/10-role.md")[0] in "hS"


def test_what_a_sparse_checkout_left_out_is_not_removed(plain: Clone) -> None:
    plain.git("sparse-checkout", "set", "--no-cone", "/agent/pvc.toml", "/agent/20-rules.md")
    assert not (plain.path / "agent/10-role.md").exists()
    plain.write("agent/20-rules.md", "In {cwd}.\n")
    text = plain.pvc("render", "agent", "--worktree", "--set", "cwd=/").text
    assert text == "# Role\n\nYou mend harbour software.\n\nIn /.\n"


def test_a_file_becomes_a_folder_and_a_file_again(adopted: Clone) -> None:
    role = adopted.path / "agent/10-role.md"
    before = role.read_bytes()
    role.unlink()
    adopted.write("agent/10-role.md/inner.md", "Inner\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "A folder")
    shutil.rmtree(role)
    role.write_bytes(before)
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "A file")
    for number in (1, 2, 3):
        words = ["blame", f"agent@{number}", "--set", "cwd=/", "--json"]
        runs = adopted.pvc(*words).json["runs"]
        assert [run["start"] for run in runs][1:] == [run["end"] for run in runs][:-1]


def test_a_folder_that_moved_is_followed_by_its_name(adopted: Clone) -> None:
    adopted.git("mv", "agent", "elsewhere")
    adopted.write("elsewhere/10-role.md", "Moved\n")
    adopted.commit("Move it")
    adopted.pvc("supersede", "agent", "-m", "Moved")
    runs = adopted.pvc("blame", "agent", "--set", "cwd=/", "--json").json["runs"]
    assert runs[0]["source"]["path"] == "elsewhere/10-role.md"
    assert runs[0]["source"]["subject"] == "Move it"


@pytest.mark.parametrize("prefix", ["+refs/pvc", "refs/heads/*", "--force", "a b", "refs/he:ads"])
def test_a_prefix_that_is_no_name_is_refused(hub: Clone, adopted: Clone, prefix: str) -> None:
    adopted.git("config", "pvc.refPrefix", prefix)
    before = hub.refs() + adopted.refs()
    assert "pvc.refPrefix" in adopted.refused("sync", code=2)
    assert hub.refs() + adopted.refs() == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitattributes", "*.md text # " + "x" * 2100 + "\n"),
        ("docs/.gitattributes", "*.md text # " + "x" * 2100 + "\n"),
        (".gitmodules", '[submodule "a"]\n\tpath = -x\n\turl = u\n'),
    ],
)
def test_what_no_clone_could_fetch_is_not_adopted(adopted: Clone, name: str, text: str) -> None:
    """git's own fsck refuses it, so one such version would end everybody's sync."""
    adopted.write(f"agent/{name}", text)
    adopted.git("add", "-A")
    adopted.git("commit", "-q", "-m", "odd")
    before = adopted.refs()
    for more in ([], ["--dry-run"]):
        said = adopted.refused("supersede", "agent", "-m", "Odd", *more, code=1)
        assert f"{name}: git refuses" in said
        assert "no clone could fetch it" in said
    assert adopted.refs() == before
