from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects import raku
from pvc.dialects.base import findings_of, read_pack
from pvc.dialects.raku_context import RakuError
from pvc.model.source import Source, Sources
from pvc.model.span import FromBinding, FromSource, Rendered, lift
from pvc.packs import builtin_packs

MANIFEST = b'format = 1\nname = "agent"\nform = "raku"\n'
TOOL = {"type": "function", "function": {"name": "read", "description": "Read a file."}}


def tree(files: dict[str, str | bytes], more: bytes = b"") -> Sources:
    named = {path: t.encode() if isinstance(t, str) else t for path, t in files.items()}
    named["pvc.toml"] = MANIFEST + more
    return Sources.of(Source(path, data) for path, data in named.items())


def render(sources: Sources, **values: Any) -> Rendered:
    return lift(*program.run(compile_pack(read_pack(sources)), values))


FILES: dict[str, str | bytes] = {
    "identity.md": "You mend boats.\n",
    "AGENTS.md": "Ask first.\n\n",
    "rules/git.md": " Never force.\n",
    "words/closing.md": "One.\nTwo.\n",
}


def test_the_four_pieces_in_order() -> None:
    rendered = render(tree(FILES), extra={"cwd": "/srv"}, tools=[TOOL], date="2031-02-03")
    assert rendered.data.decode() == (
        "You mend boats.\n\n"
        "## Environment\n\n- platform: unknown\n- os: unknown\n- date: 2031-02-03\n- cwd: /srv\n\n"
        "## Tools\n\n### read\nRead a file.\n\nTakes no arguments.\n\n"
        "## AGENTS.md\n\nAsk first.\n\n"
        "## git.md\n\n Never force."
    )
    assert [*dict.fromkeys(span.section for span in rendered.spans if span.section)] == [
        "identity.md", "environment", "tools", "AGENTS.md", "rules/git.md",
    ]  # fmt: skip


def test_paths_choose_files_in_their_order_and_missing_ones_are_passed_over() -> None:
    paths = ["rules/git.md", "GONE.md", "AGENTS.md", "rules/git.md"]
    assert render(tree(FILES), paths=paths).data.decode() == (
        "You mend boats.\n\n## git.md\n\n Never force.\n\n## AGENTS.md\n\nAsk first.\n\n"
        "## git.md\n\n Never force."
    )


def test_a_trailing_line_end_of_a_value_goes_with_its_section() -> None:
    rendered = render(tree({"identity.md": "I."}), extra={"note": "one\n\n"})
    assert rendered.data.endswith(b"- note: one")


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_rendering_is_assemble_over_instruction_files(identity: str, texts: list[str]) -> None:
    files = {f"{i}.md": text.encode() for i, text in enumerate(texts)}
    try:
        expected = raku.assemble(
            _read(identity), [raku.instructions([pair]).decode() for pair in files.items()]
        )
    except RakuError:
        with pytest.raises(RakuError):
            read_pack(tree({"identity.md": identity, **files}))
        return
    assert render(tree({"identity.md": identity, **files})).data.decode() == expected.text


def _read(text: str) -> str:
    """What Raku reads from a file of these characters."""
    return b"".join(piece.data for piece in raku.file_pieces(Source("x", text.encode()))).decode()


@given(TEXTS)
def test_a_span_of_a_file_names_the_very_bytes(text: str) -> None:
    sources = tree({"identity.md": "I.", "a.md": text + "caf\u0065\u0301\r\n\ufeffend"})
    rendered = render(sources)
    for span in rendered.spans:
        if isinstance(span.origin, FromSource):
            source = sources.get(span.origin.path)
            assert source
            bytes_there = source.data[span.origin.offset :][: len(span)]
            assert bytes_there == rendered.data[span.start : span.end]
    assert rendered.data.decode().endswith("café\n\ufeffend")


def test_a_value_is_composed_and_keeps_its_offsets() -> None:
    rendered = render(tree({"identity.md": "I."}), extra={"cwd": "/cafe\u0301/x"})
    assert rendered.data.endswith("/café/x".encode())
    last = rendered.spans[-1].origin
    assert isinstance(last, FromBinding)
    assert (last.pointer, last.offset) == ("/extra/cwd", len("/cafe\u0301".encode()))


@pytest.mark.parametrize("files", [{}, {"identity.md": " \n"}])
def test_an_agent_without_an_identity_is_refused(files: dict[str, str | bytes]) -> None:
    with pytest.raises(RakuError) as caught:
        read_pack(tree(files))
    assert caught.value.error_code == "empty-identity"


def test_an_empty_file_leaves_its_heading_and_is_pointed_out() -> None:
    sources = tree({"identity.md": "I.", "EMPTY.md": " \n"})
    assert render(sources).data == b"I.\n\n## EMPTY.md"
    assert [finding.code for finding in findings_of(read_pack(sources))] == ["file-empty"]


def test_the_closing_lines_are_words_of_a_pack() -> None:
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-raku"]
    files = [Source(f".pvc/packs/builtin-raku/{f.path}", f.data) for f in pack.files]
    own = tree({"identity.md": "I."}, b"packs = {builtin-raku = 1}\n")
    on_pack = read_pack(Sources.of([*files, *own]))
    assert len(raku.closing_lines(on_pack)) == 2
    assert raku.closing_lines(read_pack(tree(FILES))) == ("One.", "Two.")
    assert lift(*program.run(compile_pack(on_pack), {})).data == b"I."
