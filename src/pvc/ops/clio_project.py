"""Render with project context still to be selected: what no program can do.

    {"session": {"project": {"text": "…",
                             "handbookSources": [{"path": "/w/CLIO.md", "source": "…"}],
                             "supportFragments": ["…"], "maxChars": 24000, "maxLines": 220}}}

Rule 1: the selection stands where `contextFiles` would, and whoever gives both is refused.
Rule 2: its bytes keep their origin: a handbook's text by its JSON pointer, the notice's two
sentences by the words pack they are in, and what is made up here (tags, records) is glue.
Rule 3: the sentence about reading on depends on tools: they work, they do not, or nobody knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.core import program
from pvc.core.compile import compile_fields, compile_pack
from pvc.dialects.clio_preload import (
    MAX_CHARS,
    MAX_LINES,
    NOTICE,
    RETRIEVAL,
    Handbook,
    Limits,
    Project,
    select,
)
from pvc.errors import UsageError
from pvc.model.javascript import WHITE, trim
from pvc.model.pack import Field, Text
from pvc.model.span import FromBinding, FromSource, Glue, Rendered, Span, lift

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.dialects.clio_preload import Preload
    from pvc.model.pack import Pack
    from pvc.model.span import Origin

POINTER = "/session/project"
CONTEXT = "/session/contextFiles"
FIELDS = (
    Field("text", "text", required=True),
    Field(
        "handbookSources",
        "objects",
        variants=((Field("path", "text", required=True), Field("source", "text", required=True)),),
    ),
    Field("supportFragments", "list"),
    Field("maxChars", "number"),
    Field("maxLines", "number"),
    Field("noticeLine", "optional"),
    Field("retrievalLine", "optional"),
)
_FIELDS: Any = compile_fields(FIELDS)
_READING_ON = {
    True: "words.preload-read",
    False: "words.preload-never",
    None: "words.preload-maybe",
}


def render(pack: Pack, environment: Mapping[str, Any]) -> Rendered:
    """Render a pack of this form, selecting project context first where it is given.

    Raises `UsageError` when the environment does not fit, `RefusedError` when not even the notice
    of a partial preload does.
    """
    session = environment.get("session")
    if not isinstance(session, dict) or session.get("project") is None:
        return lift(*program.run(compile_pack(pack), environment))
    if session.get("contextFiles"):
        raise UsageError("`project` and `contextFiles` are both given", at=POINTER)
    preload = preload_of(pack, session)
    rest = {key: value for key, value in session.items() if key != "project"}
    given = {**environment, "session": {**rest, "contextFiles": preload.text}}
    rendered = lift(*program.run(compile_pack(pack), given))
    origins = _Origins(pack, preload, session)
    return Rendered(rendered.data, tuple(origins.spans(rendered)), rendered.block_ends)


def preload_of(pack: Pack, session: Mapping[str, Any]) -> Preload:
    """Select the project context of a session's inputs, with the words of `pack`."""
    given = program.check(_FIELDS, session["project"], POINTER)
    tools = session.get("providerSupportsTools")
    project = Project(
        text=given["text"],
        handbooks=tuple(
            Handbook(book["path"], book["source"]) for book in given["handbookSources"]
        ),
        support=tuple(given["supportFragments"]),
        notice=given["noticeLine"] or _words(pack, "words.preload-notice"),
        retrieval=given["retrievalLine"] or _words(pack, _READING_ON[tools]),
    )
    limits = Limits(_limit(given["maxChars"], MAX_CHARS), _limit(given["maxLines"], MAX_LINES))
    return select(project, limits, tools)


def _limit(given: float | None, default: int) -> int:
    return default if given is None else int(given)


def _words(pack: Pack, name: str) -> str:
    section = pack.section(name)
    return trim(section.template.decode()) if section else ""


class _Origins:
    """Says where each byte of a selection came from."""

    def __init__(self, pack: Pack, preload: Preload, session: Mapping[str, Any]) -> None:
        self.pack = pack
        self.preload = preload
        self.project = session["project"]
        self.reading_on = _READING_ON[session.get("providerSupportsTools")]

    def spans(self, rendered: Rendered) -> Iterator[Span]:
        """Replace the spans of the selection by those of its pieces; the others stay."""
        for span in rendered.spans:
            match span.origin:
                case FromBinding(pointer=pointer, offset=offset) if pointer == CONTEXT:
                    yield from self._cut(span, offset)
                case _:
                    yield span

    def _cut(self, span: Span, offset: int) -> Iterator[Span]:
        at = -offset  # where the piece begins, counted from the span's first byte
        for piece in self.preload.pieces:
            size = len(piece.text.encode())
            start, end = max(at, 0), min(at + size, len(span))
            if start < end:
                origin = self._origin(piece.pointer, start - at)
                yield Span(span.start + start, span.start + end, origin, span.section)
            at += size

    def _origin(self, pointer: str, offset: int) -> Origin:
        if not pointer:
            return Glue("project-preload")
        if pointer in (NOTICE, RETRIEVAL) and not self.project.get(pointer[1:]):
            name = "words.preload-notice" if pointer == NOTICE else self.reading_on
            return self._of_words(name, offset)
        return FromBinding("project", POINTER + pointer, offset, "", 0)

    def _of_words(self, name: str, offset: int) -> Origin:
        section = self.pack.section(name)
        match section.pieces if section else ():
            case (Text(data, path, start),):
                front = len(data) - len(data.decode().lstrip(WHITE).encode())
                return FromSource(path, name, start + front + offset)
            case _:
                return Glue("project-preload")
