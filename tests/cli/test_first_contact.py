"""The first minutes with a repository of one's own: nothing goes wrong without a word."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone


def test_a_misspelt_folder_is_not_made(ada: Clone) -> None:
    ada.write("prompts/10-role.md", "You mend boats.\n")
    ada.commit()
    error = ada.refused("init", "promts", code=4)
    assert "no folder `promts`" in error
    assert "did you mean `prompts`?" in error
    assert not (ada.path / "promts").exists()
    assert ada.refs() == ""


def test_folders_that_are_there_are_named(ada: Clone) -> None:
    ada.write("texts/a.md", "x\n")
    ada.commit()
    assert "texts" in ada.refused("init", "zzz", code=4)


@pytest.mark.parametrize("suffix", [".j2", ".txt", ".yaml", ".prompt"])
@pytest.mark.parametrize("form", [(), ("--form", "plain"), ("--form", "loom")])
def test_files_that_no_form_reads_are_not_passed_over(
    ada: Clone, suffix: str, form: tuple[str, ...]
) -> None:
    ada.write(f"prompts/system{suffix}", "You keep the timetable.\n")
    ada.write(f"prompts/more{suffix}", "Be brief.\n")
    ada.commit()
    error = ada.refused("init", "prompts", *form, code=1)
    assert f"2 {suffix}" in error
    assert f"--files '**/*{suffix}'" in error
    assert sorted(path.name for path in (ada.path / "prompts").iterdir()) == [
        f"more{suffix}",
        f"system{suffix}",
    ]
    assert ada.refs() == ""


def test_files_may_be_named(ada: Clone) -> None:
    ada.write("prompts/system.j2", "You keep the timetable.\n")
    ada.commit()
    ada.pvc("init", "prompts", "--files", "**/*.j2")
    ada.commit("Init")
    ada.pvc("supersede", "prompts", "-m", "First")
    assert ada.pvc("render", "prompts").out == b"You keep the timetable.\n"


def test_a_tree_that_renders_to_nothing_is_not_adopted(ada: Clone) -> None:
    ada.write("agent/a.md", "")
    ada.commit()
    ada.pvc("init", "agent", "--form", "plain")
    ada.commit("Init")
    assert "renders to nothing" in ada.refused("supersede", "agent", "-m", "x", code=1)
    ada.pvc("supersede", "agent", "-m", "x", "--allow-empty")
    error = ada.refused("pin", "agent", "--session", "s", "--out", "p.md", code=1)
    assert "the prompt is empty" in error
    assert not (ada.path / "p.md").exists()
    assert ada.pvc("pin", "agent", "--session", "s", "--allow-empty").text.startswith("pinned")


def test_an_empty_observed_prompt_is_not_pinned(ada: Clone) -> None:
    ada.write("sent.txt", "")
    ada.refused("pin", "--session", "s", "--rendered", "sent.txt", code=1)
    ada.pvc("pin", "--session", "s", "--rendered", "sent.txt", "--allow-empty")


def plain(clone: Clone, text: str, bindings: str = '["branch", "cwd"]') -> None:
    manifest = f'format = 1\nname = "agent"\nform = "plain"\nbindings = {bindings}\n'
    clone.write("agent/pvc.toml", manifest)
    clone.write("agent/role.md", text)
    clone.commit()


@pytest.mark.parametrize(
    "written", ["{brnch}", "{Branch}", "{{branch}}", "{ branch }", "`{branc}`", "{{ cwd }}"]
)
def test_a_mistyped_placeholder_is_not_adopted(ada: Clone, written: str) -> None:
    plain(ada, f"Work in {{cwd}}, on {{branch}}.\nAgain on {written}.\n")
    error = ada.refused("supersede", "agent", "-m", "x", code=1)
    assert "is not filled as it is written" in error
    assert "agent/role.md" not in ada.refs()
    done = ada.pvc("check", "agent", code=1)
    assert "role.md:2:" in done.text
    assert "placeholder-mistyped" in done.text


def test_a_name_that_no_file_asks_for_is_meant_sooner(ada: Clone) -> None:
    plain(ada, "Note: {noet}.\nMode: {node}.\n", '["note", "node"]')
    assert "did you mean `{note}`?" in ada.refused("supersede", "agent", "-m", "x", code=1)
    plain(ada, "Note: {note}.\nMode: {nope}.\n", '["note"]')
    assert "nothing fills `{nope}`" in ada.pvc("check", "agent").text


@pytest.mark.parametrize("written", ["{task}", "{{ task }}"])
def test_an_undeclared_placeholder_is_said(ada: Clone, written: str) -> None:
    plain(ada, f"Work in {{cwd}}, on {{branch}}.\nYour task: {written}.\n")
    done = ada.pvc("supersede", "agent", "-m", "x")
    assert "nothing fills" in done.text + done.err
    assert "placeholder-undeclared" in ada.pvc("check", "agent").text


@pytest.mark.parametrize("written", ["`{task}`", '{"task": 1}', "${task}", "f{task}", "{a, b}"])
def test_other_braces_are_left_alone(ada: Clone, written: str) -> None:
    plain(ada, f"Work in {{cwd}}, on {{branch}}.\nAnswer as {written}.\n")
    assert "placeholder-" not in ada.pvc("check", "agent").text


def test_a_finding_that_is_accepted_is_adopted(ada: Clone) -> None:
    plain(ada, "Work in {cwd}, on {branch}: {brnch}.\n")
    manifest = (ada.path / "agent/pvc.toml").read_text()
    row = '{ code = "placeholder-mistyped", path = "role.md", reason = "a joke" }'
    ada.write("agent/pvc.toml", f"{manifest}[check]\nignore = [{row}]\n")
    ada.commit()
    ada.pvc("supersede", "agent", "-m", "x")


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("clio", {}),
        ("harness", {"systemprompt.md": "You mend boats.\n"}),
        ("panto", {"layers/user/APPEND_SYSTEM.md": "Be brief.\n"}),
        ("raku", {"identity.md": "You mend boats.\n", "AGENTS.md": "Be brief.\n"}),
    ],
)
def test_a_new_tree_stands_on_its_forms_pack(ada: Clone, form: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        ada.write(f"desk/{path}", text)
    (ada.path / "desk").mkdir(exist_ok=True)
    ada.pvc("init", "desk", "--form", form)
    manifest = ada.path / "desk/pvc.toml"
    assert f"builtin-{form} = 1" in manifest.read_text()
    found = ada.run([sys.executable, "-m", "pvc", "check", "desk"]).text
    assert "foundation-missing" not in found
    manifest.write_text(manifest.read_text().partition("[packs]")[0])
    found = ada.run([sys.executable, "-m", "pvc", "check", "desk"]).text
    assert "foundation-missing" in found or "stand on the pack `builtin-panto`" in found


def test_init_says_what_is_wrong_at_once(ada: Clone) -> None:
    ada.write("prompts/role.md", "Work in {cwd}.\n")
    ada.commit()
    assert "nothing fills `{cwd}`" in ada.pvc("init", "prompts", "--name", "agent").text


def test_a_file_that_is_no_fragment_can_be_left_out(ada: Clone) -> None:
    for path in ("identity/clio", "operating/contract", "safety/suggest"):
        name = path.replace("/", ".")
        text = f"---\nid: {name}\nversion: 1\ndescription: x\n---\nBe brief.\n"
        ada.write(f"src/{path}.md", text)
    ada.write("src/notes/page.md", "---\nWrite the page and nothing else: it is read.\n---\n")
    error = ada.refused("import", "clio", "src", "--name", "t", code=3)
    assert "notes/page.md" in error
    assert "--files" in error
    globs = [
        word for path in ("identity", "operating", "safety") for word in ("--files", f"{path}/*.md")
    ]
    done = ada.pvc("import", "clio", "src", "--name", "t", *globs)
    assert "notes/page.md" in done.text
