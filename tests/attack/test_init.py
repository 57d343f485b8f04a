"""`init` where it must not work: nothing is left behind."""

import os

import pytest

from cli.conftest import Clone


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["Bad Name!"], 2),
        (["new", "--name", "BAD"], 2),
        ([".git/tree"], 1),
        (["a\nb"], 1),
        (["x\udcff"], 1),
        (["../outside"], 2),
        (["agent/10-role.md"], 4),
    ],
)
def test_a_folder_that_can_be_no_tree_is_left_alone(
    plain: Clone, words: list[str], code: int
) -> None:
    before = sorted(plain.path.parent.rglob("*"))
    plain.refused("init", *words, code=code)
    assert plain.refs() == ""
    assert sorted(plain.path.parent.rglob("*")) == before


@pytest.mark.parametrize("kind", ["folder", "dangling link", "pipe", "no TOML"])
def test_a_manifest_that_is_none_is_left_alone(ada: Clone, kind: str) -> None:
    folder = ada.path / "t"
    folder.mkdir()
    manifest = folder / "pvc.toml"
    if kind == "folder":
        manifest.mkdir()
    elif kind == "dangling link":
        manifest.symlink_to("nowhere")
    elif kind == "pipe":
        os.mkfifo(manifest)
    else:
        manifest.write_text("= 1")
    ada.refused("init", "t", code=3 if kind == "no TOML" else 1)
    assert ada.refs() == ""
    assert [path.name for path in folder.iterdir()] == ["pvc.toml"]
