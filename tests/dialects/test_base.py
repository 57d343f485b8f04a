from __future__ import annotations

import pytest

from pvc.dialects.base import dialect, read_layers, read_pack
from pvc.errors import DecodeError, NotFoundError, PvcError, UnsupportedError, UsageError
from pvc.model.manifest import Form
from pvc.model.source import Source, Sources
from pvc.model.span import Plane

TREE = 'format = 1\nname = "agent"\nform = "plain"\n'
PACK = 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n'
HOUSE = ".pvc/packs/house/"


def sources(files: dict[str, str], *, tree: str = TREE) -> Sources:
    return Sources.of(Source(p, t.encode()) for p, t in ({"pvc.toml": tree} | files).items())


def test_layers_are_the_packs_in_byte_order_and_then_the_tree() -> None:
    files = {"a.md": "", ".pvc/lock.toml": "", "notes.txt": ""}
    for name in ("house", "b", "house-rules"):
        files[f".pvc/packs/{name}/pvc.toml"] = PACK.replace("house", name)
        files[f".pvc/packs/{name}/x.md"] = ""
    tree = TREE + "packs = {house-rules = 1, b = 1, house = 2}\n"
    layers = read_layers(sources(files, tree=tree))
    assert [layer.manifest.name for layer in layers] == ["b", "house", "house-rules", "agent"]
    assert [[s.path for s in layer.files] for layer in layers] == [
        [".pvc/packs/b/x.md"],
        [".pvc/packs/house/x.md"],
        [".pvc/packs/house-rules/x.md"],
        ["a.md"],
    ]


def test_a_pack_by_itself_is_foundation() -> None:
    pack = read_pack(sources({"a.md": "A"}, tree=PACK))
    assert [section.plane for section in pack.sections] == [Plane.FOUNDATION]


def test_an_entry_is_the_only_file() -> None:
    (layer,) = read_layers(sources({"a.md": "", "b.md": ""}, tree=TREE + 'entry = "b.md"\n'))
    assert [source.path for source in layer.files] == ["b.md"]


def test_a_pack_names_its_files_relative_to_its_own_folder() -> None:
    manifest = PACK + 'files = ["x.md"]\n[[section]]\npath = "x.md"\nplane = "launch"\n'
    files = {HOUSE + "pvc.toml": manifest, HOUSE + "x.md": "X", HOUSE + "y.md": "Y"}
    pack = read_pack(sources(files, tree=TREE + "packs = {house = 1}\n"))
    assert [(s.name, s.plane) for s in pack.sections] == [(HOUSE + "x.md", Plane.LAUNCH)]


@pytest.mark.parametrize(
    ("files", "tree", "kind", "message"),
    [
        ({}, TREE + "packs = {house = 1}\n", NotFoundError, "pack `house` is not among"),
        ({HOUSE + "pvc.toml": PACK}, TREE, DecodeError, r"not named under `\[packs\]`"),
        ({HOUSE + "x.md": ""}, TREE, NotFoundError, "no `.pvc/packs/house/pvc.toml`"),
        (
            {HOUSE + "pvc.toml": PACK.replace("house", "hut")},
            TREE + "packs = {house = 1}\n",
            DecodeError,
            "not the manifest of pack `house`",
        ),
        (
            {HOUSE + "pvc.toml": TREE.replace("agent", "house")},
            TREE + "packs = {house = 1}\n",
            DecodeError,
            "not the manifest of pack `house`",
        ),
        (
            {HOUSE + "pvc.toml": PACK.replace("plain", "loom")},
            TREE + "packs = {house = 1}\n",
            UsageError,
            "of form `loom`, the tree of `plain`",
        ),
        ({"a.md": ""}, TREE + 'files = ["b.md"]\n', UsageError, "`b.md` is no file here"),
        ({"a.md": ""}, TREE + 'entry = "pvc.toml"\n', UsageError, "`pvc.toml` is no file here"),
        ({"a.md": ""}, TREE + '[[section]]\npath = "c.md"\n', UsageError, "`c.md` is no file"),
    ],
)
def test_files_that_do_not_fit_the_manifest_are_refused(
    files: dict[str, str], tree: str, kind: type[PvcError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        read_pack(sources(files, tree=tree))


def test_a_folder_without_a_manifest_is_no_tree() -> None:
    with pytest.raises(NotFoundError, match=r"no `pvc.toml`") as caught:
        read_pack(Sources.of([Source("a.md", b"")]))
    assert "pvc init" in caught.value.hint


@pytest.mark.parametrize("form", [Form.LOOM, Form.PLAIN])
def test_a_form_has_a_reader(form: Form) -> None:
    assert callable(dialect(form).decode)
    assert callable(dialect(form).findings)


def test_a_form_without_a_reader_is_not_supported() -> None:
    with pytest.raises(UnsupportedError, match="cannot read form `moon`"):
        dialect("moon")  # type: ignore[arg-type]  # a form that no pvc will have
