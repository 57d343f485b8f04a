from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import vectors
from dialects.generated import SOURCES, TEXTS
from pvc.dialects import loom
from pvc.dialects.base import assess, findings_of, read_pack
from pvc.errors import DecodeError, UsageError
from pvc.model.finding import Severity
from pvc.model.pack import Pack, Text
from pvc.model.source import Source, Sources
from pvc.model.span import Plane

VECTORS = sorted((Path(__file__).parents[1] / "vectors/loom").glob("*.json"))
HEAD = "%% loom-prompt-pack 1\n%% version v1\n"
MANIFEST = 'format = 1\nname = "agent"\nform = "loom"\n'


def read(text: str) -> Pack:
    return loom.read(Source("pack.loom", text.encode()))


def fault_of(data: bytes) -> DecodeError | None:
    try:
        loom.read(Source("pack.loom", data))
    except DecodeError as error:
        return error
    return None


def tree(files: dict[str, str], manifest: str = MANIFEST) -> Sources:
    files = {"pvc.toml": manifest} | files
    return Sources.of(Source(path, text.encode()) for path, text in files.items())


def pack_files(name: str, text: str) -> dict[str, str]:
    folder = f".pvc/packs/{name}/"
    manifest = f'format = 1\nkind = "pack"\nname = "{name}"\nform = "loom"\n'
    return {folder + "pvc.toml": manifest, folder + "pack.loom": HEAD + text}


def templates(pack: Pack) -> dict[str, bytes]:
    return {section.name: section.template for section in pack.sections}


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_golden_vectors(path: Path) -> None:
    vector: dict[str, Any] = json.loads(path.read_bytes())
    assert vectors.run(vector) == []


# --- one file -------------------------------------------------------------------------------


@given(st.one_of(TEXTS, TEXTS.map(HEAD.__add__), st.binary()))
def test_reading_is_total(source: str | bytes) -> None:
    fault = fault_of(source.encode() if isinstance(source, str) else source)
    assert fault is None or fault.at.startswith("pack.loom")
    assert fault is None or len(fault.message.splitlines()) == 1


@given(SOURCES)
def test_every_piece_is_a_range_of_its_file(source: Source) -> None:
    for section in loom.read(source).sections:
        for piece in section.pieces:
            assert source.data[piece.offset :].startswith(piece.data)


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("%% loom-prompt-pack 1\n%% loom-prompt-pack x\n", "header-duplicate", "pack.loom:2"),
        ("%% version v\n", "header-first", "pack.loom:1"),
        ("%% section a\n", "header-first", "pack.loom:1"),
        ("%% loom-prompt-pack 1_0\n", "format-version", "pack.loom:1"),
        ("%% loom-prompt-pack ١\n", "format-version", "pack.loom:1"),
        (HEAD + "%% version v2\n", "version-duplicate", "pack.loom:3"),
        (HEAD + "%% section a\nx\n%% version v2\n", "version-duplicate", "pack.loom:5"),
        (HEAD + "%% section a b\n", "section-name", "pack.loom:3"),
        (HEAD + "%% section\n", "section-name", "pack.loom:3"),
        (HEAD + "stray\n", "stray-text", "pack.loom:3"),
        (HEAD + "\u00a0\n", "stray-text", "pack.loom:3"),
        ("%% loom-prompt-pack 1\n%% version " + "a" * 65, "version-name", "pack.loom:2"),
        (HEAD + "%% section \u0301a\n", "unknown-directive", "pack.loom:3"),
    ],
)
def test_a_fault_names_its_line(text: str, code: str, at: str) -> None:
    with pytest.raises(loom.LoomError) as caught:
        read(text)
    assert (caught.value.error_code, caught.value.at) == (code, at)
    assert caught.value.subject == f"line {at.rpartition(':')[2]}"
    assert caught.value.exit_code == 3


def test_the_report_reads_as_one_line() -> None:
    with pytest.raises(loom.LoomError) as caught:
        read(HEAD + "%% sektion a\x1b[2J" + "x" * 100)
    assert caught.value.message == (
        "corruption: loom.decode (line 3): expected `loom-prompt-pack`, `version` or `section`, "
        "got `sektion a\\x1b[2J" + "x" * 67 + "…`"
    )
    assert caught.value.context == "sektion a\x1b[2J" + "x" * 100


@pytest.mark.parametrize("number", ["1", "01", "+1", "+0001"])
def test_the_header_takes_what_parses_as_one(number: str) -> None:
    assert read(f"%% loom-prompt-pack {number}\n%% version v\n").label == "v"


def test_the_header_need_not_be_on_the_first_line() -> None:
    assert read("\u2028\n%%# note\n" + HEAD).label == "v1"


def test_a_name_may_have_64_characters() -> None:
    assert read(HEAD + f"%% section {'a' * 64}\n").sections[0].name == "a" * 64


def test_a_comment_inside_a_section_leaves_no_line() -> None:
    text = HEAD + "%% section a\none\n%% # note\ntwo\n"
    assert read(text).sections[0].pieces == (
        Text(b"one\n", "pack.loom", text.index("one")),
        Text(b"two", "pack.loom", text.index("two")),
    )


def test_a_file_that_is_no_text_is_refused_with_the_byte() -> None:
    with pytest.raises(DecodeError, match="not UTF-8 at byte 3") as caught:
        loom.read(Source("pack.loom", b"%% \xff"))
    assert caught.value.at == "pack.loom:1:4"


# --- trees on packs -------------------------------------------------------------------------


def on(*packs: str) -> str:
    return MANIFEST + "[packs]\n" + "".join(f"{name} = 1\n" for name in packs)


def test_a_tree_replaces_sections_in_place_and_adds_at_the_end() -> None:
    files = pack_files("base", "%% section a\nA\n%% section b\nB\n%% section c\nC\n")
    files |= {"z.md": "  new z\n", "b.md": "new b", "house/style-guide.md": "guide"}
    pack = read_pack(tree(files, on("base")))
    assert templates(pack) == {
        "a": b"A",
        "b": b"new b",
        "c": b"C",
        "style_guide": b"guide",
        "z": b"new z",
    }
    planes = {section.name: section.plane for section in pack.sections}
    assert planes["a"] is Plane.FOUNDATION
    assert planes["b"] is planes["z"] is Plane.SURFACE


def test_packs_are_laid_in_order_of_their_names() -> None:
    files = pack_files("one", "%% section a\n1\n%% section b\n1\n")
    files |= pack_files("two", "%% section b\n2\n%% section c\n2\n")
    pack = read_pack(tree(files, on("two", "one")))
    assert templates(pack) == {"a": b"1", "b": b"2", "c": b"2"}
    assert pack.label == "v1 + v1"


def test_a_name_that_stands_twice_in_a_tree_is_refused_with_both_files() -> None:
    with pytest.raises(DecodeError, match=r"`b` stands in `b.md` too") as caught:
        read_pack(tree({"b.md": "x", "parts.loom": HEAD + "%% section b\ny\n"}))
    assert caught.value.at == "parts.loom"


def test_an_empty_file_silences_a_section() -> None:
    files = pack_files("base", "%% section a\nA\n") | {"a.md": "\n"}
    assert templates(read_pack(tree(files, on("base")))) == {"a": b""}


def test_a_tree_of_one_file_has_its_label_and_fingerprint() -> None:
    text = HEAD + "%% section a\nA\n"
    pack = read_pack(tree({"pack.loom": text}))
    assert (pack.label, pack.fingerprint) == ("v1", loom.fingerprint(text.encode()))


@pytest.mark.parametrize("name", ["README.md", "a b.md", "v1.2.md", ".md", "é.md"])
def test_a_file_whose_stem_is_no_name_is_refused(name: str) -> None:
    manifest = MANIFEST + f'files = ["{name}"]\n'
    with pytest.raises(DecodeError, match="gives no section name") as caught:
        read_pack(tree({name: "x"}, manifest))
    assert caught.value.at == name


def test_the_manifest_may_name_another_plane() -> None:
    manifest = MANIFEST + '[[section]]\npath = "a.md"\nplane = "foundation"\n'
    pack = read_pack(tree({"a.md": "A", "b.md": "B"}, manifest))
    assert [section.plane for section in pack.sections] == [Plane.FOUNDATION, Plane.SURFACE]


@pytest.mark.parametrize("key", ["order = 3", 'scope = "x"', "complete = true"])
def test_keys_that_the_form_cannot_honour_are_refused(key: str) -> None:
    with pytest.raises(UsageError, match="form `loom`"):
        read_pack(tree({"a.md": "A"}, f'{MANIFEST}[[section]]\npath = "a.md"\n{key}\n'))


# --- problems -------------------------------------------------------------------------------


def test_problems_come_in_canonical_order_then_by_section() -> None:
    pack = read(HEAD + "%% section conduct\n{b} {a} {b}\n%% section identity\n{platfrom}\n")
    found = loom.problems(pack)
    names = [finding.name for finding in found]
    sections = [n for n in loom.CANONICAL_SECTIONS if n not in ("conduct", "identity")]
    assert names == [*sections, *loom.REQUIRED_FRAGMENTS, "b", "a", "platfrom"]
    assert [finding.section for finding in found[-3:]] == ["conduct", "conduct", "identity"]
    assert found[-1].hint == "did you mean `platform`?"


def test_a_missing_section_may_be_meant_and_a_missing_fragment_is_not() -> None:
    pack = read(HEAD)
    parts = loom.assess(pack)
    assert {finding.name for finding in parts.shaping} == set(loom.CANONICAL_SECTIONS)
    assert {finding.name for finding in parts.corrupting} == set(loom.REQUIRED_FRAGMENTS)
    assert assess(pack) == parts
    assert sorted([*parts.shaping, *parts.corrupting], key=repr) == sorted(
        loom.problems(pack), key=repr
    )


def test_an_unknown_placeholder_has_its_place() -> None:
    sources = tree({"a.md": "one\ntwo {tols}\n"})
    finding = findings_of(read_pack(sources), sources)[-1]
    assert (finding.code, finding.severity) == ("placeholder-unknown", Severity.CORRUPTING)
    assert (finding.at, finding.hint) == ("a.md:2:5", "did you mean `tools`?")


def test_selecting_names_are_known_inside_fragments() -> None:
    names = "".join(f"{{{binding.name}}}" for binding in loom.BINDINGS)
    pack = read(HEAD + f"%% section _network_open\n{names}\n")
    assert len(loom.BINDINGS) == 13
    assert not [f for f in loom.problems(pack) if f.code == "placeholder-unknown"]


# --- by hand --------------------------------------------------------------------------------


def test_a_section_is_read_by_its_name() -> None:
    pack = read(HEAD + "%% section _f\nx {a}\n")
    assert loom.section(pack, "_f") == b"x {a}"
    assert loom.section(pack, "g") is None


@given(TEXTS)
def test_filling_looks_at_no_value_again(template: str) -> None:
    data = template.encode()
    values = [(name, f"{{{name}}}".encode()) for name in loom.placeholders(data)]
    assert loom.fill(data, values) == data


def test_the_fingerprint_is_of_64_bits() -> None:
    assert loom.fingerprint(b"") == "cbf29ce484222325"
    assert loom.fingerprint(b"a") == "af63dc4c8601ec8c"
