"""Settings read from git's files: what git would say, mostly without asking it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pvc.errors import UsageError
from pvc.launch import settings
from pvc.launch.place import Place, find

if TYPE_CHECKING:
    from pathlib import Path

    from workspace import Workspace


class _Alone(Place):
    """A place that has no git to ask."""

    __slots__ = ()

    def git(self, *words: str) -> bytes | None:
        raise AssertionError(words)


def alone(workspace: Workspace) -> Place:
    place = find(str(workspace.path))
    return _Alone(place.git_dir, place.common_dir)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def local(workspace: Workspace, text: str) -> None:
    with (workspace.path / ".git/config").open("a") as file:
        file.write(text)


PLAIN = [
    "",
    "[pvc]\n\tprivacy = digest\n",
    "[PVC]\nPrivacy=keyed",
    "[pvc]\nprivacy = bytes\n[other]\nprivacy = digest\n[pvc]\nprivacy=keyed\n",
    '[pvc "price"]\n\tprivacy = digest\n[pvc]\n# privacy = keyed\npushBodies = "yes"\n',
    "[pvcx]\nprivacy = digest\n",
    "[include]\n\tpath = missing\n",
    "[include]\n\tpath = ../more\n",
    "[pvc]\nprivacy = bytes\n[include]\n\tpath = ../more\n",
    "[include]\n\tpath = ../more\n[pvc]\nprivacy = bytes\n",
    '[includeIf "gitdir:/nowhere/"]\n\tpath = ../other\n',
    "[pvc]\r\nprivacy = digest\r\n",
]
ODD = [
    '[pvc]\nprivacy = "digest"\n',
    "[pvc]\nprivacy = digest ; because\n",
    "[pvc] privacy = digest\n",
    "[pvc]\nprivacy = di\\\ngest\n",
    '[includeIf "gitdir:/nowhere/"]\n\tpath = ../more\n',
    '[includeIf "gitdir:**"]\n\tpath = ../more\n',
]


@pytest.mark.parametrize("text", PLAIN, ids=repr)
def test_plain_files_say_what_git_says_and_git_is_not_asked(
    workspace: Workspace, text: str
) -> None:
    write(workspace.path / "more", "[pvc]\n\tprivacy = keyed\n")
    write(workspace.path / "other", "[user]\n\tname = x\n")
    local(workspace, text)
    said = workspace.git("config", "--default", "inputs", "--get", "pvc.privacy")
    assert settings.read(alone(workspace)).privacy == said


@pytest.mark.parametrize("text", ODD, ids=repr)
def test_what_only_git_takes_apart_is_asked_of_git(workspace: Workspace, text: str) -> None:
    write(workspace.path / "more", "[pvc]\n\tprivacy = keyed\n")
    local(workspace, text)
    said = workspace.git("config", "--default", "inputs", "--get", "pvc.privacy")
    assert settings.read(find(str(workspace.path))).privacy == said
    with pytest.raises(AssertionError):
        settings.read(alone(workspace))


def test_files_count_in_git_s_order(workspace: Workspace, tmp_path: Path) -> None:
    """System, the user's two, the repository's; each is seen until a later one speaks."""
    home = tmp_path / "home"
    del os.environ["GIT_CONFIG_GLOBAL"], os.environ["GIT_CONFIG_NOSYSTEM"]
    os.environ.update(HOME=str(home), GIT_CONFIG_SYSTEM=str(tmp_path / "system"))
    places = {
        "keyed": tmp_path / "system",
        "bytes": home / ".config/git/config",
        "digest": home / ".gitconfig",
        "inputs": workspace.path / ".git/config",
    }
    assert settings.read(alone(workspace)).privacy == "inputs"
    for word, path in places.items():
        write(path, (path.read_text() if path.exists() else "") + f"[pvc]\nprivacy = {word}\n")
        assert settings.read(alone(workspace)).privacy == word
        assert workspace.git("config", "pvc.privacy") == word


@pytest.mark.parametrize(
    "variables",
    [
        {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "pvc.privacy",
            "GIT_CONFIG_VALUE_0": "digest",
        },
        {"GIT_CONFIG_PARAMETERS": "'pvc.privacy'='digest'"},
    ],
    ids=str,
)
def test_variables_count_above_all_files(workspace: Workspace, variables: dict[str, str]) -> None:
    local(workspace, "[pvc]\nprivacy = bytes\n")
    os.environ.update(variables)
    assert settings.read(find(str(workspace.path))).privacy == "digest"


def test_variables_that_set_other_things_need_no_git(workspace: Workspace) -> None:
    local(workspace, "[pvc]\nprivacy = bytes\n")
    os.environ.update(
        GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*"
    )
    assert settings.read(alone(workspace)).privacy == "bytes"


def test_a_worktree_s_own_file_counts_where_git_reads_it(workspace: Workspace) -> None:
    workspace.commit({"a": "b"})
    workspace.git("config", "extensions.worktreeConfig", "true")
    workspace.git("worktree", "add", "--quiet", "../side")
    side = workspace.path.parent / "side"
    workspace.git("-C", str(side), "config", "--worktree", "pvc.privacy", "digest")
    assert settings.read(find(str(side))).privacy == "digest"
    assert settings.read(alone(workspace)).privacy == "inputs"


@pytest.mark.parametrize("name", ["privacy", "secrets"])
def test_a_slip_of_the_pen_is_no_setting(workspace: Workspace, name: str) -> None:
    local(workspace, f"[pvc]\n{name} = digset\n")
    with pytest.raises(UsageError, match="digset"):
        settings.read(find(str(workspace.path)))


def test_files_that_git_cannot_read_stop_the_launch(workspace: Workspace) -> None:
    local(workspace, '[pvc]\nprivacy = "digest\n')
    with pytest.raises(UsageError, match="git cannot read"):
        settings.read(find(str(workspace.path)))
