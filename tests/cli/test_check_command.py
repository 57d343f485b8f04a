"""`pvc check` as people call it: words, exit codes, formats."""

import json

import pytest

from cli.conftest import Clone


def test_a_grave_finding_is_exit_code_one(plain: Clone) -> None:
    plain.write("agent/10-role.md", "Today is 2026-11-30.\n")
    done = plain.pvc("check", code=1)
    assert done.text.split("\n")[0] == (
        "agent/10-role.md:1:10: volatile volatile-date: `2026-11-30` is the date of one day"
    )
    assert plain.pvc("check", "--fail-on", "none").text == done.text
    assert plain.pvc("check", "--rev", "HEAD").text == "3 files: nothing found.\n"


def test_a_version_is_checked_by_its_name(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "Today is 2026-11-30.\n")
    adopted.pvc("supersede", "agent", "--worktree", "-m", "x")
    adopted.pvc("check", "agent@1")
    done = adopted.pvc("check", "agent@2", "--json", code=1)
    assert [one["path"] for one in done.json["findings"]] == ["agent@2:10-role.md"]


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_formats_for_programs_are_one_json_document(plain: Clone, form: str) -> None:
    assert json.loads(plain.pvc("check", "--format", form).out)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("check", "nowhere"), 4, "no file `nowhere` here"),
        (("check", "--rev", "nowhere"), 4, "`nowhere` is no commit here"),
        (("check", "--fail-on", "grave"), 2, "`grave` is no severity"),
        (("check", "--tools", "agent/10-role.md"), 3, "agent/10-role.md"),
        (("check", "--baseline", "agent/10-role.md"), 3, "no baseline"),
        (("check", "--fix", "--index"), 2, "mends files of the worktree alone"),
        (("check", "agent", "/"), 2, "outside"),
    ],
)
def test_bad_words_are_one_line(
    plain: Clone, words: tuple[str, ...], code: int, message: str
) -> None:
    assert message in plain.refused(*words, code=code)


def test_escapes_in_a_file_do_not_reach_the_terminal(plain: Clone) -> None:
    plain.write("agent/10-role.md", "Session id: \x1b]0;a1\x07b2c3d4e5f\n/home/ada\x1b[2J/x\n")
    assert "\x1b" not in plain.pvc("check", code=1).text
