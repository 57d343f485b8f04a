"""Who changed the first differing byte: the commit, value or tool behind it.

Rule 1: the owner is the commit that wrote what stands there now, when it came after A; else the
commit that took out what stood there in A.
Rule 2: a value given at launch and a text that no tree accounts for are owners too: `binding`, and
`unversioned`. pvc names no commit that it cannot prove.
Rule 3: a captured text is laid against the versions of the trees that are here (`ops.attribute`);
from there on it is blamed like a pin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, UnsupportedError
from pvc.model.span import FromSource, FromTool, Unversioned
from pvc.ops.blame import BlameRun, SourceCommit, blame

if TYPE_CHECKING:
    from pvc.model.body import Body, Divergence
    from pvc.model.span import Rendered
    from pvc.ops.attribute import Attribution
    from pvc.ops.request import Side, Where
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class Owner:
    """Who changed the first differing byte: `change` is `written` or `removed`."""

    run: BlameRun
    change: str

    def to_json(self) -> dict[str, object]:
        """Write a run of `pvc.blame/1`, and what was done."""
        return {**self.run.to_json(), "change": self.change}


@dataclass(frozen=True, slots=True)
class _Place:
    """A byte of one side: its prompt, the version that it is of, and where in it."""

    rendered: Rendered
    version: VersionInfo
    at: int


def owner_of(
    where: Where, sides: tuple[Side, Side], place: Divergence, tree: str | None = None
) -> tuple[Owner, tuple[str, ...]]:
    """Find who changed the byte at `place`, and what was found out about captured texts."""
    said: list[str] = []
    a, b = sides
    before = _place(where, a, place.path_a, place.leaf_byte_offset, (tree, said))
    now = _place(where, b, place.path_b, place.leaf_byte_offset, (tree, said))
    run_now, run_before = (_run(where, found) for found in (now, before))
    if run_now and (
        _came_after(run_now, before.version if before else a.version)
        or not isinstance(run_now.origin, FromSource)
    ):
        return Owner(run_now, "written"), tuple(said)
    if run_before and isinstance(run_before.origin, FromSource) and now and before:
        removed = _removed(where.repo, run_before, before.version, now.version)
        if removed:
            return Owner(removed, "removed"), tuple(said)
    unowned = BlameRun(
        place.offset, place.offset + 1, "", _loose(place, b.body), region=str(place.region)
    )
    return Owner(run_now or run_before or unowned, "written"), tuple(said)


def _run(where: Where, place: _Place | None) -> BlameRun | None:
    if place is None or place.at >= len(
        place.rendered.data
    ):  # one side ends where the other goes on
        return None
    return blame(where.repo, place.rendered, place.version, (place.at, place.at + 1))[0]


def _place(
    where: Where,
    side: Side,
    pointer: str | None,
    offset: int | None,
    asked: tuple[str | None, list[str]],
) -> _Place | None:
    """Find the byte of a prompt that stands at a place of a body."""
    if pointer is None or offset is None or pointer.startswith("/tools"):
        return None
    if side.rendered is not None and side.version is not None:
        return _Place(side.rendered, side.version, _block_start(side.rendered, pointer) + offset)
    tree, said = asked
    text = next(
        (
            leaf.data
            for leaf in side.body.leaves
            if leaf.pointer == pointer and len(leaf.data) > offset
        ),
        None,
    )
    found = None if text is None else attributed(where, text, tree)
    if found is None or text is None:
        return None
    said.append(f"{side.label}: {describe(found)}")
    layer = found.layer_at(offset) or next(iter(found.layers), None)
    return _Place(layer.rendered, layer.version, offset) if layer else None


def attributed(where: Where, text: bytes, tree: str | None) -> Attribution | None:
    """Lay a text against the trees that are here; null where there are none to ask."""
    from pvc.ops.attribute import attribute
    from pvc.store.versions import names

    try:
        repo = where.repo
    except (NotFoundError, UnsupportedError):
        if tree is not None:
            raise
        return None
    return attribute(repo, text, tree) if tree or names(repo, "trees") else None


def describe(found: Attribution) -> str:
    """Say what a text was made of, or what comes nearest."""
    size = len(found.text)
    if found.layers:
        layer = found.layers[0]
        return f"{layer.share:.0%} of its {size} bytes are {layer.version.label}"
    if not found.nearest:
        return "no tree here has this text"
    near = ", ".join(f"{name} ({share:.0%} of its words)" for name, share in found.nearest)
    return f"no tree here has this text; the nearest: {near}"


def _loose(place: Divergence, b: Body) -> FromTool | Unversioned:
    pointer = place.path_b or place.path_a or ""
    at = place.leaf_byte_offset or 0
    if place.region != "tools":
        return Unversioned(at)
    tool = "/".join(pointer.split("/")[:3])
    named = (leaf for leaf in b.leaves if leaf.pointer in (f"{tool}/name", f"{tool}/function/name"))
    name = next((leaf.text for leaf in named), "")
    return FromTool(name, pointer, at)


def _block_start(rendered: Rendered, pointer: str) -> int:
    """Find where the block of a system leaf begins.

    `/system/2/text` and `/messages/0/content/2/text` are the third block.
    """
    parts = pointer.split("/")
    number = {"system": parts[2:3], "messages": parts[4:5]}.get(parts[1], [])
    index = int(number[0]) if number and number[0].isdigit() else 0
    return (0, *rendered.block_ends)[index]


def _came_after(run: BlameRun, version: VersionInfo | None) -> bool:
    """Whether the bytes were adopted after A's version, or A stands in another tree."""
    if run.version is None or version is None:
        return False
    same_tree = (run.version.kind, run.version.name) == (version.kind, version.name)
    return not same_tree or run.version.number > version.number


def _removed(repo: Repository, run: BlameRun, a: VersionInfo, b: VersionInfo) -> BlameRun | None:
    """Find who took the byte out that `run` had in version `a`: the version, then the commit."""
    from pvc.core.follow import follow
    from pvc.store.history import GitHistory
    from pvc.store.versions import at_commit

    assert isinstance(run.origin, FromSource)  # noqa: S101  # the caller looked
    chain = GitHistory(repo, b.id)
    steps = list(chain.steps())
    after = next((i for i, step in enumerate(steps) if step.commit == a.id), None)
    if after is None:
        return None
    gone = follow(chain, steps[after + 1 :], run.origin.path, run.origin.offset)
    if gone.commit is None:
        return None
    version = at_commit(repo, gone.commit)
    parent = at_commit(repo, version.parents[0])
    source = _removed_in_source(repo, parent, version, gone.path, gone.offset)
    return replace(run, version=version, source=source)


def _removed_in_source(
    repo: Repository, parent: VersionInfo, version: VersionInfo, path: str, offset: int
) -> SourceCommit | None:
    """Find the user's commit between two adoptions that took the byte out, where it is here."""
    from pvc.core.follow import follow
    from pvc.ops.blame import source_commit
    from pvc.store.history import GitHistory, is_complete

    if parent.source is None or version.source is None or not is_complete(repo, version.source):
        return None
    if not repo.is_ancestor(parent.source, version.source):
        return None
    history = GitHistory(repo, version.source, version.source_path, since=parent.source)
    gone = follow(history, history.steps(), path, offset)
    if gone.commit is None:
        return None
    return source_commit(repo, gone.commit, f"{version.source_path}/{gone.path}".lstrip("/"))
