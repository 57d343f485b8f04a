"""`pvc import`: prompts that exist already become a tree, byte for byte, or nothing happens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pvc.packs import builtin_packs

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Clone

IDENTITY = b"---\nid: identity.clio\nversion: 1\ndescription: Who.\n---\n\r\nYou are Clio.  \n\n"
CONTRACT = b"---\nid: operating.contract\nversion: 1\ndescription: How.\n---\nAsk first.\xff\n"


def put(folder: Path, files: dict[str, bytes]) -> dict[str, bytes]:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return files


def held(clone: Clone, folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """What git holds of the files below a folder at HEAD."""
    return {path: clone.run(["git", "show", f"HEAD:{folder}/{path}"]).out for path in files}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "Old Prompts"
    path.mkdir(parents=True)
    return path


def test_a_clio_folder_is_taken_over_and_stands_on_the_words(ada: Clone, outside: Path) -> None:
    files = put(
        outside,
        {"identity/clio.md": IDENTITY, "operating/contract.md": CONTRACT, "notes.txt": b"\r\n\xfe"},
    )
    ada.git("config", "core.autocrlf", "true")
    done = ada.pvc("import", "clio", str(outside), "--name", "clio", "--json").json
    assert (done["folder"], done["packs"], done["not_understood"]) == (
        "clio",
        ["builtin-clio"],
        ["notes.txt"],
    )
    assert [(each["section"], each["plane"]) for each in done["understood"]] == [
        ("identity.clio", "foundation"),
        ("operating.contract", "foundation"),
    ]
    assert "bad-byte" in {finding["code"] for finding in done["findings"]}
    ada.commit("Take over")
    assert held(ada, "clio", files) == files
    ada.pvc("supersede", "clio", "-m", "Take over", code=1)  # without a worker there is a finding
    ada.pvc("supersede", "clio", "-m", "Take over", "--accept-findings")


def test_a_pack_file_is_a_loom_tree(ada: Clone, outside: Path) -> None:
    loom = next(pack for pack in builtin_packs() if pack.name == "builtin-loom")
    data = next(file.data for file in loom.files if file.path.endswith(".loom"))
    put(outside, {"agent.prompt": data})
    done = ada.pvc("import", "loom", str(outside / "agent.prompt"), "--into", "p/x", "--json").json
    assert (done["name"], done["folder"], done["files"], done["findings"]) == (
        "agent",
        "p/x",
        1,
        [],
    )
    roles = {each["section"]: each["role"] for each in done["understood"]}
    assert (roles["identity"], roles["_network_open"]) == ("prompt", "on demand")
    assert (ada.path / "p/x/agent.loom").read_bytes() == data


def test_a_lone_text_is_a_plain_tree_that_renders_to_itself(ada: Clone, outside: Path) -> None:
    data = b"\xef\xbb\xbf  Mind the {tide}.\r\n\r\n"
    put(outside, {"system.txt": data})
    ada.pvc("import", "plain", str(outside / "system.txt"))
    ada.commit("Take over")
    ada.pvc("supersede", "system", "-m", "Take over")
    assert ada.pvc("render", "system").out == data


def test_a_harness_folder_says_what_is_never_sent(ada: Clone, outside: Path) -> None:
    put(
        outside,
        {
            "systemprompt.md": b"Use {{tide}}.\n",
            "skills/tidy/SKILL.md": b"---\ntrigger: x\n---\n",
            "README.md": b"r",
            ".gitattributes": b"* text\n",
            "skills/.gitignore": b"*\n",
        },
    )
    script = outside / "scripts/run.sh"
    put(outside, {"scripts/run.sh": b"#!/bin/sh\n"})
    script.chmod(0o755)
    text = ada.pvc("import", "harness", str(outside), "--name", "desk").text
    assert "systemprompt                      surface     prompt     systemprompt.md" in text
    assert "  scripts/run.sh                    surface     on demand  scripts/run.sh" in text
    assert "In no section, so never sent:\n  README.md\n" in text
    assert "git reads these itself:\n  .gitattributes\n  skills/.gitignore\n" in text
    assert "corrupting: `{{` is sent as it stands" in text
    ada.commit("Take over")
    assert ada.git("ls-files", "-s", "desk/scripts").startswith("100755")


def test_what_git_would_ignore_is_listed(ada: Clone, outside: Path) -> None:
    ada.write(".gitignore", "notes*\n")
    put(outside, {"a.md": b"a", "deep/notes.md": b"n"})
    done = ada.pvc("-C", ".", "import", "plain", str(outside), "--name", "n", "--json").json
    assert done["ignored"] == ["deep/notes.md"]


def test_a_name_is_made_of_the_folders(ada: Clone, outside: Path) -> None:
    put(outside, {"a.md": b"a"})
    assert ada.pvc("import", "plain", str(outside), "--json").json["name"] == "old-prompts"


@pytest.mark.parametrize(
    ("form", "files", "words", "code", "told"),
    [
        ("loom", {"a.loom": b"%% section x\n"}, (), 3, "a.loom:1"),
        ("plain", {"a.md": b"\xff"}, (), 3, "a.md"),
        ("clio", {"a.md": b"no fence"}, (), 3, "a.md: missing or malformed YAML frontmatter"),
        ("plain", {}, (), 4, "the folder has no files"),
        ("plain", {"pvc.toml": b""}, (), 2, "so it is a tree already"),
        ("plain", {"a.md": b"", "A.md": b""}, (), 1, "one name on some file systems"),
        ("plain", {".pvc/a.md": b""}, (), 1, "keeps its own part"),
        ("plain", {"a.md": b""}, ("--name", "no name"), 2, "no name"),
        ("plain", {"a.md": b""}, ("--name", "full"), 1, "`full` is there already"),
        ("plain", {"a.md": b""}, ("--name", "taken"), 1, "there is a tree `taken` already"),
        ("plain", {"a.md": b""}, ("--into", "../../x"), 2, "outside of the repository"),
    ],
)
def test_what_cannot_be_taken_over_is_refused_and_nothing_is_written(
    ada: Clone,
    outside: Path,
    form: str,
    files: dict[str, bytes],
    words: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    put(outside, files)
    ada.write("full/a.md", "mine")
    ada.write("other/pvc.toml", 'format = 1\nname = "taken"\nform = "plain"\n')
    before = sorted(ada.path.rglob("[!.]*.*"))
    assert told in ada.refused("import", form, str(outside), *words, code=code)
    assert sorted(ada.path.rglob("[!.]*.*")) == before
    assert ada.refs() == ""


def test_names_are_bytes_whatever_the_locale(ada: Clone, outside: Path) -> None:
    files = put(outside, {"ı/é.md": b"a", "I.md": b"b"})
    ada.pvc("import", "plain", str(outside), "--name", "n", PYTHONUTF8="0", LC_ALL="tr_TR.UTF-8")
    ada.commit("Take over")
    assert held(ada, "n", files) == files
    put(outside, {"x.md": b""})
    os.rename(os.fsencode(outside / "x.md"), os.fsencode(outside) + b"/\xff.md")  # noqa: PTH104 - bytes
    assert "`\\udcff.md` is not UTF-8" in ada.refused("import", "plain", str(outside), code=1)


def test_a_link_is_not_followed(ada: Clone, outside: Path) -> None:
    put(outside, {"a.md": b"a"})
    (outside / "b.md").symlink_to("/etc/hostname")
    (outside / "more").symlink_to("/etc")
    told = ada.refused("import", "plain", str(outside), code=1)
    assert "`b.md` is a symbolic link; `more` is a symbolic link" in told
    os.mkfifo(outside / "c.md")
    (outside / "b.md").unlink()
    (outside / "more").unlink()
    assert "`c.md` is no plain file" in ada.refused("import", "plain", str(outside), code=1)


def test_nothing_there_is_said(ada: Clone, tmp_path: Path) -> None:
    assert "no such folder or file" in ada.refused("import", "plain", str(tmp_path / "x"), code=4)


@pytest.mark.parametrize(
    ("files", "form", "packs"),
    [
        ({"identity/clio.md": IDENTITY}, "clio", "[packs]\nbuiltin-clio = 1\n"),
        ({"systemprompt.md": b"x"}, "harness", "[packs]\nbuiltin-harness = 1\n"),
        ({"AGENTS.md": b"x"}, "plain", ""),
    ],
)
def test_init_tells_the_form(ada: Clone, files: dict[str, bytes], form: str, packs: str) -> None:
    put(ada.path / "agent", files)
    assert ada.pvc("init", "agent", "--json").json["form"] == form
    manifest = (ada.path / "agent/pvc.toml").read_text()
    assert manifest.endswith(f'form = "{form}"\n' + (f"\n{packs}" if packs else ""))
