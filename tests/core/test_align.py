"""Texts that pvc did not render, laid against the program that they may come from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pvc.core.align import Lines, align
from pvc.core.compile import Program, compile_pack
from pvc.core.program import run
from pvc.model.pack import (
    Field,
    Hole,
    Layout,
    Pack,
    PickBinding,
    Piece,
    Section,
    Text,
    TextBinding,
)
from pvc.model.span import FromBinding, FromSource, Glue, lift

RULES = b"# Rules\n\nWork in {cwd}, for {who}.\nNever force a push; ask first.\n"
ROLE = b"# Role\n\nYou mend the software of a harbour office, and nothing else.\n"


def section(path: str, data: bytes, names: tuple[str, ...] = ("cwd", "who")) -> Section:
    pieces: list[Piece] = []
    at = 0
    while at < len(data):
        found = [(data.find(b"{%s}" % n.encode(), at), n) for n in names]
        start, name = min(((i, n) for i, n in found if i >= 0), default=(len(data), ""))
        if start > at:
            pieces.append(Text(data[at:start], path, at))
        if name:
            pieces.append(Hole(name, path, start))
        at = start + len(name) + 2 if name else start
    return Section(path, tuple(pieces))


def program(*files: tuple[str, bytes]) -> Program:
    names = ("cwd", "who")
    return compile_pack(
        Pack(
            "plain",
            1,
            tuple(section(*file) for file in files),
            tuple(TextBinding(name, (name,)) for name in names),
            tuple(Field(name, "text", required=True) for name in names),
            Layout(b"\n\n", edges=True),
        )
    )


TREE = program(("10-role.md", ROLE), ("20-rules.md", RULES))


def labels(text: bytes, made: Program = TREE) -> list[tuple[str, bytes]]:
    """Give each span as a word or two and its bytes."""
    out = []
    for span in align(made, text).rendered.spans:
        match span.origin:
            case FromSource(path=path):
                label = path
            case FromBinding(pointer=pointer):
                label = pointer
            case Glue(rule):
                label = rule
            case _:
                label = "?"
        out.append((label, text[span.start : span.end]))
    return out


def test_values_are_what_stands_between_the_texts_around_them() -> None:
    text = run(TREE, {"cwd": "/srv/work in progress", "who": "Ada"})[0]
    assert labels(text) == [
        ("10-role.md", ROLE.rstrip(b"\n")),
        ("joint", b"\n\n"),
        ("20-rules.md", b"# Rules\n\nWork in "),
        ("/cwd", b"/srv/work in progress"),
        ("20-rules.md", b", for "),
        ("/who", b"Ada"),
        ("20-rules.md", b".\nNever force a push; ask first.\n"),
    ]


VALUES = st.text(alphabet="abc/ .,\n{}é", min_size=1, max_size=20).filter(
    lambda value: ", for " not in value and value[-1] not in ",\n." and value[0] != " "
)


@given(VALUES, VALUES)
def test_what_was_rendered_is_told_apart_as_the_renderer_does(cwd: str, who: str) -> None:
    data, spans, ends = run(TREE, {"cwd": cwd, "who": who})
    truth = lift(data, spans, ends)
    found = align(TREE, data).rendered
    wrong = sum(
        1
        for at in range(len(data))
        if isinstance(origin := found.span_at(at).origin, FromSource)
        and origin.path != getattr(truth.span_at(at).origin, "path", None)
    )
    assert wrong == 0
    right = sum(
        type(found.span_at(at).origin) is type(truth.span_at(at).origin) for at in range(len(data))
    )
    assert right >= len(data) - 2 * len((cwd + who).encode())


def test_text_of_another_hand_is_unversioned() -> None:
    text = ROLE + b"\n\n# House rules\n\nPaint the boats green on Mondays.\n"
    found = labels(text)
    assert found[0] == ("10-role.md", ROLE.rstrip(b"\n"))
    assert found[-1][0] == "?"
    assert b"Paint the boats green" in found[-1][1]


def test_an_edited_sentence_has_no_owner_here() -> None:
    text = run(TREE, {"cwd": "/srv", "who": "Ada"})[0].replace(b"Never force", b"Always force")
    assert labels(text)[-3:] == [
        ("20-rules.md", b".\n"),
        ("?", b"Always"),
        ("20-rules.md", b" force a push; ask first.\n"),
    ]


def test_of_a_choice_the_text_tells_which() -> None:
    pack = Pack(
        "plain",
        1,
        (
            Section("main", (Text(b"Net: ", "a", 0), Hole("net", "a", 5))),
            Section("open", (Text(b"You may reach any host.", "b", 0),), fragment=True),
            Section("shut", (Text(b"You may not reach any host.", "c", 0),), fragment=True),
        ),
        (PickBinding("net", ("net",), (("Open", "open"), ("Shut", "shut"))),),
        (Field("net", "choice", required=True, choices=("Open", "Shut")),),
        Layout(b"\n"),
    )
    made = compile_pack(pack)
    for choice, path in (("Open", "b"), ("Shut", "c")):
        text = run(made, {"net": choice})[0]
        assert labels(text, made) == [("a", b"Net: "), (path, text[5:])]


@given(st.binary(max_size=80))
def test_any_text_is_tiled(text: bytes) -> None:
    aligned = align(TREE, text)
    assert aligned.rendered.data == text
    assert aligned.source_bytes + aligned.stray_bytes <= len(text)


def test_a_mark_that_stands_in_the_text_is_not_taken_for_a_hole() -> None:
    text = run(TREE, {"cwd": "hole", "who": "holex"})[0]
    assert ("/cwd", b"hole") in labels(text)
    assert not [label for label, _ in labels(text) if label == "?"]


def test_lines_count_what_stands_in_the_text() -> None:
    lines = Lines(run(TREE, {"cwd": "/srv", "who": "Ada"})[0])
    assert lines.shared(ROLE)[1] == 0
    assert lines.shared(RULES) == (len(RULES) - len(b"\n\n\n\n{cwd}{who}."), 1)
    assert lines.shared(b"Another line.\n") == (0, 13)
