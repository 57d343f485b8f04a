from __future__ import annotations

import pytest

from pvc.dialects.manifest import parse_manifest
from pvc.errors import DecodeError, UsageError
from pvc.model.manifest import (
    Budget,
    Form,
    Ignore,
    Kind,
    Manifest,
    Marker,
    PackUse,
    SectionRow,
)
from pvc.model.names import PackName, TreeName
from pvc.model.span import Plane

HEAD = 'format = 1\nname = "agent"\nform = "plain"\n'
LOOM = HEAD.replace("plain", "loom")


def parse(text: str) -> Manifest:
    return parse_manifest(text.encode())


def test_a_small_manifest_has_the_defaults_of_its_form() -> None:
    assert parse(HEAD) == Manifest(
        kind=Kind.TREE, name=TreeName("agent"), form=Form.PLAIN, files=("**/*.md",)
    )
    assert parse(LOOM).files == ("**/*.loom", "**/*.md")
    assert parse(HEAD.replace("plain", "harness")).files == ("**/*",)


def test_every_key_is_read() -> None:
    manifest = parse(
        """
        format = 1
        kind = "tree"
        name = "agent"
        form = "harness"
        files = ["a/*.md", "b.md"]
        dynamic = ["wiki"]
        packs = {zed = 3, house = 12}
        budget = {chars = 24000, tokens = 6000}
        markers = {after = ["foundation:1h", "surface"]}
        [[section]]
        path = "b.md"
        order = 25
        plane = "foundation"
        scope = "worker"
        complete = true
        [[section]]
        path = "a/c.md"
        [[check.ignore]]
        code = "volatile-date"
        path = "b.md"
        reason = "an example"
        """
    )
    assert manifest == Manifest(
        kind=Kind.TREE,
        name=TreeName("agent"),
        form=Form.HARNESS,
        files=("a/*.md", "b.md"),
        dynamic=("wiki",),
        packs=(PackUse(PackName("house"), 12), PackUse(PackName("zed"), 3)),
        budget=Budget(24000, 6000),
        markers=(Marker(Plane.FOUNDATION, "1h"), Marker(Plane.SURFACE)),
        sections=(
            SectionRow("b.md", 25, Plane.FOUNDATION, "worker", complete=True),
            SectionRow("a/c.md"),
        ),
        ignore=(Ignore("volatile-date", "an example", "b.md"),),
    )
    assert manifest.section("a/c.md") == SectionRow("a/c.md")
    assert manifest.section("b") is None


@pytest.mark.parametrize(
    ("text", "message", "at", "hint"),
    [
        (HEAD + "fils = []", "unknown key `fils`", "pvc.toml", "did you mean `files`?"),
        (HEAD + "budget = {char = 1}", "unknown key `char`", "pvc.toml [budget]", "`chars`?"),
        (HEAD + "markers = {before = []}", "unknown key", "pvc.toml [markers]", "after"),
        (HEAD + "check = {ignored = []}", "unknown key", "pvc.toml [check]", "`ignore`?"),
        (HEAD + "[[section]]\npath='a'\nplan='x'", "key `plan`", "[[section]] 1", "`plane`?"),
        (HEAD + "[[section]]\norder=1", "`path` is missing", "[[section]] 1", ""),
        (HEAD + "[[section]]\npath='a'\norder=1.5", "a whole number", "[[section]] 1", ""),
        (HEAD + "[[section]]\npath='a'\ncomplete=1", "true or false", "[[section]] 1", ""),
        (HEAD + "[[section]]\npath='a'\n[[section]]\npath='a'", "two sections", "]] 2", ""),
        (HEAD + "section = ['a']", "a `section` is a table, not a text", "[[section]] 1", ""),
        (HEAD + "budget = {chars = true}", "a whole number, not true or", "[budget]", ""),
        (HEAD + "budget = {chars = 0}", "1 is the least", "pvc.toml [budget]", ""),
        (HEAD + "files = 'a.md'", "`files` is a list, not a text", "pvc.toml", ""),
        (HEAD + "files = []", "`files` is empty", "pvc.toml", "default"),
        (HEAD + "files = ['a', 'a']", "names `a` twice", "pvc.toml", ""),
        (HEAD + "files = ['']", "none empty", "pvc.toml", ""),
        (HEAD + "files = [3]", "list of texts", "pvc.toml", ""),
        (HEAD + "files = ['../a']", "`../a`", "pvc.toml", "inside the folder"),
        (HEAD + "files = ['/a']", "`/a`", "pvc.toml", "inside the folder"),
        (HEAD + "entry = 'a'\nfiles = ['a']", "exclude each other", "pvc.toml", ""),
        (HEAD + "bindings = ['a-b']", "`a-b` is no binding name", "pvc.toml", "letters"),
        (LOOM + "bindings = ['a']", "has its own bindings", "pvc.toml `bindings`", ""),
        (HEAD + "packs = {house = 0}", "1 is the least", "pvc.toml [packs]", ""),
        (HEAD + "packs = {house = '1'}", "a whole number", "pvc.toml [packs]", ""),
        (HEAD + "packs = {House = 1}", "no pack name", "pvc.toml [packs]", "beginning"),
        (HEAD + "kind = 'pack'\npacks = {a = 1}", "no other pack", "pvc.toml [packs]", ""),
        (HEAD + "kind = 'tre'", "`kind` is `tre`", "pvc.toml", "did you mean `tree`?"),
        (HEAD + "markers = {after = ['soon:1h']}", "`after` is `soon`", "[markers]", "known"),
        (HEAD + "markers = {after = ['launch:1x']}", "no lifetime", "[markers]", "5m"),
        (HEAD + "check = {ignore = [{code = 'a'}]}", "`reason` is missing", "ignore]] 1", ""),
        ("name = 'a'\nform = 'plain'", "`format` is missing", "pvc.toml", "format = 1"),
        ("format = 2\nname = 'a'\nform = 'plain'", "`format` is 2, not 1", "pvc.toml", "newer"),
        ("format = '1'", "`format` is a whole number, not a text", "pvc.toml", ""),
        ("format = 1\nform = 'plain'", "`name` is missing", "pvc.toml", "agent"),
        ("format = 1\nname = ''\nform = 'plain'", "`name` is empty", "pvc.toml", ""),
        ("format = 1\nname = 'A'\nform = 'plain'", "no tree name", "pvc.toml", "beginning"),
        ("format = 1\nname = 'a'", "`form` is missing", "pvc.toml", "plain"),
        ("format = 1\nname = 'a'\nform = 'lom'", "`form` is `lom`", "pvc.toml", "`loom`?"),
        (HEAD + "dynamic = 1979-05-27", "not another kind of value", "pvc.toml", ""),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(
    text: str, message: str, at: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert message in caught.value.message
    assert caught.value.at.endswith(at)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("data", "at", "message"),
    [
        (b"format = 1\nname = \n", "pvc.toml:2:8", "not TOML: invalid value"),
        (b"a = 1\na = 2\n", "pvc.toml:2:6", "not TOML: cannot overwrite a value"),
        (b"a = 1\n# \xff", "pvc.toml: byte 8", "not UTF-8"),
    ],
)
def test_bytes_that_are_no_manifest_are_refused_with_their_place(
    data: bytes, at: str, message: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_manifest(data)
    assert (caught.value.at, caught.value.message) == (at, message)
