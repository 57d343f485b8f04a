"""The fragments of a version: which file gives which id, in which layer. Pure.

    .pvc/packs/builtin-clio/tools-trust.md    words.tools-trust, from a pack
    identity/clio.md                          identity.clio, from the tree
    wiki/page.md                              wiki.page: kept, though no section asks for it

Rule 1: packs are laid first, then the tree. A fragment replaces the one of its id that lies below;
within a layer an id stands once, as in Clio itself.
Rule 2: identity and operating contract are foundation, every other fragment is surface, unless the
manifest says otherwise for the file.
Rule 3: a placeholder is the first `{NAME}` of a name that the form fills in that fragment; whatever
else stands between braces is prose.
Rule 4: fragments of `words.` are what Clio's source holds as constants. They are a pack in our own
text, to be replaced like any other fragment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects.base import only_planes
from pvc.dialects.clio_source import Fragment, load
from pvc.model.pack import Added, Hole, Section, Text
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.dialects.base import Layer
    from pvc.model.pack import Piece
    from pvc.model.source import Source

IDENTITY = "identity.clio"
CONTRACT = "operating.contract"
SELF_AWARENESS = "identity.self-awareness"
DOCS_ROUTING = "identity.docs-routing"
SETTINGS_ROUTING = "identity.settings-routing"
DELEGATION = "operating.delegation"
SKILLS = "operating.skills"
WORKER_CONTRACT = "operating.worker"
READ_ONLY = "dispatch.read-only"
WORKER_IDENTITIES = ("identity.clio-coder-worker", "identity.clio-worker")
WORKER_SAFETIES = ("safety.default", "safety.auto-edit")
SAFETY = "safety."
WORDS = "words."

COMPANIONS = (SELF_AWARENESS, DOCS_ROUTING, SETTINGS_ROUTING)
PATHS = (
    ("CLIO_DOCS_PATH", "docs"),
    ("CLIO_SRC_PATH", "src"),
    ("CLIO_CODEWIKI_PATH", "codewiki"),
    ("CLIO_SETTINGS_PATH", "settings"),
    ("CLIO_STATE_PATH", "state"),
)
TOOL_NAMES = "TOOL_NAMES"
SETTINGS_POLICY = "SETTINGS_CHANGE_POLICY"
SKILL_POLICY = "SKILL_ACTIVATION_POLICY"
HOLES = {
    SELF_AWARENESS: tuple(name for name, _ in PATHS),
    SETTINGS_ROUTING: (SETTINGS_POLICY,),
    SKILLS: (SKILL_POLICY,),
    "words.tools-surface": (TOOL_NAMES,),
    "words.turn-tools": (TOOL_NAMES,),
    "words.worker-tools": (TOOL_NAMES,),
}
_REPLACEMENT = "\ufffd".encode()


@dataclass(frozen=True, slots=True)
class Entry:
    """A fragment, the file that it stands in and how often its text may change."""

    fragment: Fragment
    source: Source
    plane: Plane

    @property
    def section(self) -> Section:
        """The fragment's body as pieces of its file."""
        fragment = self.fragment
        names = HOLES.get(fragment.id, ())
        pieces = tuple(_pieces(self.source, fragment.offset, names))
        return Section(fragment.id, pieces, self.plane, fragment=True)


@dataclass(frozen=True, slots=True)
class Table:
    """All fragments, in the order in which they were laid; ids are unique."""

    entries: tuple[Entry, ...]

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The fragments without their files."""
        return tuple(entry.fragment for entry in self.entries)

    def get(self, name: str) -> Fragment | None:
        """Find a fragment by its id, or null."""
        return next((entry.fragment for entry in self.entries if entry.fragment.id == name), None)

    def has(self, name: str) -> bool:
        """Whether there is a fragment of that id."""
        return self.get(name) is not None

    def body(self, name: str) -> str:
        """Give the body of a fragment; an absent one is empty."""
        fragment = self.get(name)
        return fragment.body if fragment else ""

    def ids(self, prefix: str) -> tuple[str, ...]:
        """List the ids that begin with `prefix`, sorted."""
        return tuple(sorted(f.id for f in self.fragments if f.id.startswith(prefix)))

    def first(self, names: Iterable[str]) -> str:
        """Choose the first of `names` that is there; nothing when none is."""
        return next((name for name in names if self.has(name)), "")


def read_table(layers: tuple[Layer, ...]) -> Table:
    """Lay a tree's fragments over its packs'. Raises `FragmentError` at the first fault."""
    entries: dict[str, Entry] = {}
    for layer in layers:
        only_planes(layer)
        for entry in _layer(layer):
            entries[entry.fragment.id] = entry
    return Table(tuple(entries.values()))


def _layer(layer: Layer) -> Iterator[Entry]:
    files = {layer.inner(source): source for source in layer.files}
    for fragment in load(files.items()):
        source = files[fragment.path]
        row = layer.manifest.section(fragment.path)
        plane = row.plane if row is not None and row.plane is not None else _plane(fragment.id)
        yield Entry(fragment, source, plane)


def table_of(sources: Iterable[Source]) -> Table:
    """Read a bare folder of fragments, without a manifest."""
    files = {source.path: source for source in sources}
    loaded = load(files.items())
    return Table(tuple(Entry(f, files[f.path], _plane(f.id)) for f in loaded))


def _plane(name: str) -> Plane:
    is_identity = name.startswith("identity.") and name not in COMPANIONS
    return Plane.FOUNDATION if is_identity or name == CONTRACT else Plane.SURFACE


def _pieces(source: Source, offset: int, names: tuple[str, ...]) -> Iterator[Piece]:
    """Cut a body at its placeholders and at the bytes that are no UTF-8."""
    places = {source.data.find(b"{%s}" % name.encode(), offset): name for name in names}
    at = offset
    for place, name in sorted(places.items()):
        if place >= 0:
            yield from _texts(source, at, place)
            yield Hole(name, source.path, place)
            at = place + len(name) + len("{}")
    yield from _texts(source, at, len(source.data))


def _texts(source: Source, start: int, end: int) -> Iterator[Piece]:
    while start < end:
        try:
            source.data[start:end].decode()
        except UnicodeDecodeError as error:
            if error.start:
                yield Text(source.data[start : start + error.start], source.path, start)
            yield Added(_REPLACEMENT, "bad-byte", source.path, start + error.start)
            start += error.end
        else:
            yield Text(source.data[start:end], source.path, start)
            return
