"""`pvc check` over real folders and repositories: where bytes come from, and what is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError, UsageError
from pvc.model.finding import Severity
from pvc.ops.check import Checked, CheckOptions, run

if TYPE_CHECKING:
    from pathlib import Path

    from workspace import Workspace

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\n'
DATED = "Today is 2026-11-30.\n"


def check(where: Path | str, *paths: str, **options: object) -> Checked:
    return run(str(where), CheckOptions(paths=paths, **options))  # type: ignore[arg-type]  # names of options


def places(result: Checked) -> list[str]:
    return [f"{one.finding.at} {one.finding.code}" for one in result.found]


def test_a_file_is_checked_with_nothing_set_up(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text(DATED)
    assert places(check(tmp_path, "AGENTS.md")) == ["AGENTS.md:1:10 volatile-date"]
    assert check("/", str(tmp_path / "AGENTS.md")).failed


def test_a_folder_is_checked_by_the_files_that_are_text(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "c.py", "node_modules/d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(DATED)
    assert [one.path for one in check(tmp_path, ".").found] == ["a.md", "b.txt"]


def test_without_a_path_only_prompts_are_checked(workspace: Workspace) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": DATED, "README.md": DATED})
    assert places(check(workspace.path)) == ["agent/a.md:1:10 volatile-date"]
    assert check(workspace.path).files == 2


def test_no_prompt_at_all_is_said(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="no prompt here"):
        check(workspace.path)
    with pytest.raises(NotFoundError, match="no file `x`"):
        check(workspace.path, "x")


def test_worktree_index_and_commit_are_three_states(workspace: Workspace) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": "One.\n"})
    workspace.write({"agent/a.md": DATED})
    workspace.git("add", "--all")
    workspace.write({"agent/a.md": "Current time: 09:41\n"})
    assert places(check(workspace.path)) == ["agent/a.md:1:15 volatile-time"]
    assert places(check(workspace.path, index=True)) == ["agent/a.md:1:10 volatile-date"]
    assert places(check(workspace.path, rev="HEAD")) == []


def test_checking_leaves_index_and_objects_alone(workspace: Workspace) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": "One.\n"})
    workspace.write({"agent/a.md": DATED, "agent/b.md": "New.\n"})
    before = ((workspace.path / ".git/index").read_bytes(), workspace.git("count-objects"))
    check(workspace.path)
    assert before == ((workspace.path / ".git/index").read_bytes(), workspace.git("count-objects"))


def test_bytes_are_those_that_git_stores(workspace: Workspace) -> None:
    workspace.write({".gitattributes": "*.md text\n", "agent/pvc.toml": MANIFEST})
    workspace.write({"agent/a.md": "One.\r\nTwo.\r\n"})
    assert places(check(workspace.path)) == []
    workspace.write({".gitattributes": "*.md -text\n"})
    assert places(check(workspace.path)) == ["agent/a.md:1:5 crlf"]


def test_no_filter_of_the_repository_is_run(workspace: Workspace) -> None:
    workspace.git("config", "filter.evil.clean", "touch ran; cat")
    workspace.write({".gitattributes": "*.md filter=evil\n", "agent/pvc.toml": MANIFEST})
    workspace.write({"agent/a.md": DATED})
    assert places(check(workspace.path)) == ["agent/a.md:1:10 volatile-date"]
    assert not (workspace.path / "ran").exists()


def test_a_range_reports_what_it_adds(workspace: Workspace) -> None:
    first = workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": DATED})
    workspace.commit({"agent/a.md": "Above.\n\n" + DATED, "agent/b.md": DATED})
    result = check(workspace.path, rev=f"{first}..HEAD")
    assert places(result) == ["agent/b.md:1:10 volatile-date"]
    assert result.known == 1


def test_a_baseline_is_an_earlier_output(workspace: Workspace, tmp_path: Path) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": DATED})
    baseline = tmp_path / "base.json"
    baseline.write_text(json.dumps(check(workspace.path).to_json()))
    workspace.write({"agent/a.md": "Above.\n" + DATED})
    result = check(workspace.path, baseline=str(baseline))
    assert (result.found, result.known, result.failed) == ((), 1, False)


def test_a_file_of_a_tree_is_checked_as_part_of_it(workspace: Workspace) -> None:
    manifest = MANIFEST + 'bindings = ["now"]\n'
    workspace.commit({"agent/pvc.toml": manifest, "agent/a.md": "{now}\n", "agent/b.md": DATED})
    assert places(check(workspace.path, "agent/a.md")) == ["agent/a.md:1:1 baked-clock"]


def test_an_ignore_of_the_manifest_is_used_or_reported(workspace: Workspace) -> None:
    ignore = '[check]\nignore = [{code = "volatile-date", path = "a*.md", reason = "a test"}]\n'
    workspace.commit({"agent/pvc.toml": MANIFEST + ignore, "agent/a1.md": DATED})
    result = check(workspace.path)
    assert (places(result), result.ignored) == ([], 1)
    workspace.write({"agent/a1.md": "One.\n"})
    assert places(check(workspace.path)) == ["agent/pvc.toml:5:19 ignore-unused"]


def test_one_folder_that_cannot_be_read_does_not_hide_the_others(workspace: Workspace) -> None:
    workspace.commit(
        {
            "bad/pvc.toml": MANIFEST + "nonsense = 1\n",
            "bad/a.md": "x\n",
            "good/pvc.toml": MANIFEST.replace("agent", "good"),
            "good/a.md": DATED,
            "raw/pvc.toml": MANIFEST.replace("agent", "raw"),
            "raw/a.md": b"ok\n\xff\n",
        }
    )
    assert places(check(workspace.path)) == [
        "bad/pvc.toml:1:1 unreadable",
        "good/a.md:1:10 volatile-date",
        "raw/a.md:2:1 unreadable",
    ]


def test_packs_are_read_and_not_reported(workspace: Workspace) -> None:
    packed = MANIFEST.replace('"plain"', '"loom"') + "[packs]\nbuiltin-loom = 1\n"
    workspace.commit({"agent/pvc.toml": packed, "agent/house.md": "Work in {workspce}.\n"})
    result = check(workspace.path)
    assert places(result) == ["agent/house.md:1:9 placeholder-unknown"]
    assert result.found[0].finding.hint == "did you mean `workspace`?"


def test_hygiene_is_mended_in_the_worktree_alone(workspace: Workspace) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": "One. \r\nTwo  \nThree"})
    workspace.git("update-index", "--refresh")
    before = workspace.git("ls-files", "-s")
    result = check(workspace.path, fix=True)
    assert result.fixed == ("agent/a.md",)
    assert (workspace.path / "agent/a.md").read_bytes() == b"One.\nTwo  \nThree\n"
    assert result.found == ()
    assert workspace.git("ls-files", "-s") == before


@pytest.mark.parametrize("options", [{"index": True, "fix": True}, {"index": True, "rev": "HEAD"}])
def test_words_that_exclude_each_other_are_refused(
    workspace: Workspace, options: dict[str, object]
) -> None:
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/a.md": "One.\n"})
    with pytest.raises(UsageError):
        check(workspace.path, **options)


@pytest.mark.parametrize(
    ("fail_on", "failed"),
    [((), False), ((Severity.HYGIENE,), True), ((Severity.CORRUPTING,), False)],
)
def test_which_severities_fail_is_for_the_caller_to_say(
    tmp_path: Path, fail_on: tuple[Severity, ...], *, failed: bool
) -> None:
    (tmp_path / "a.md").write_text("x")
    assert check(tmp_path, "a.md", fail_on=fail_on).failed is failed


@pytest.mark.parametrize("state", [{}, {"index": True}, {"rev": "HEAD"}])
def test_a_link_out_of_the_folder_is_said_and_not_followed(
    workspace: Workspace, tmp_path: Path, state: dict[str, object]
) -> None:
    (tmp_path / "secret.md").write_text(DATED)
    workspace.write({"agent/pvc.toml": MANIFEST, "agent/a.md": "One.\n"})
    (workspace.path / "agent/b.md").symlink_to(tmp_path / "secret.md")
    workspace.commit()
    (one,) = check(workspace.path, **state).found
    assert one.finding.code == "unreadable"
    assert one.finding.message == ("a version cannot hold this folder: `b.md` is a symbolic link")


def test_a_pack_need_not_be_complete_and_a_placeholder_of_it_leads_somewhere(
    workspace: Workspace,
) -> None:
    packed = MANIFEST.replace('"plain"', '"loom"') + 'kind = "pack"\n'
    workspace.commit({"house/pvc.toml": packed, "house/house.md": "Work in {workspce}.\n"})
    assert places(check(workspace.path)) == ["house/house.md:1:9 placeholder-unknown"]


def test_scripts_that_a_tree_carries_are_no_prose(workspace: Workspace) -> None:
    manifest = MANIFEST.replace('"plain"', '"harness"')
    workspace.commit(
        {
            "agent/pvc.toml": manifest,
            "agent/systemprompt.md": "You mend ships. Run scripts/build.sh first.\n",
            "agent/scripts/build.sh": "cd /home/ada/harbour \r\n",
        }
    )
    assert {one.finding.code for one in check(workspace.path).found} == {"foundation-missing"}
