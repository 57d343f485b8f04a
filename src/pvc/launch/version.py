"""Which version a launch stands on, and its program.

`TREE` is the newest version, `TREE@7` the seventh, `TREE@production` what that channel names.

Rule 1: the ref is read afresh and its commit names the cache file, so a moved ref can never meet an
old program.
Rule 2: what the cache does not hold is compiled from the repository (`ops.programs`), which also
fills the cache. That is the one slow case, and it is never an error by itself.
"""

from pvc.errors import NotFoundError
from pvc.launch import cache, refs
from pvc.model.names import ChannelName, TreeName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pvc.launch.place import Place


class Version:
    """A version and what it compiled to."""

    __slots__ = ("commit", "number", "program", "tree")

    def __init__(self, tree: str, number: int, commit: str, program: "tuple[Any, ...]") -> None:
        self.tree = tree
        self.number = number
        self.commit = commit
        self.program = program

    @property
    def label(self) -> str:
        """The version as people write it: `agent@7`."""
        return f"{self.tree}@{self.number}"


def resolve(place: "Place", known: "dict[str, Version]", text: str) -> Version:
    """Find the version that `TREE[@V|@CHANNEL]` names; `known` keeps what was compiled."""
    tree, at, point = text.partition("@")
    TreeName(tree)
    if at and not (point.isascii() and point.isdecimal()):
        ChannelName(point)
        oid = refs.read(place, f"{refs.CHANNELS}{tree}/{point}")
        if oid is None:
            raise NotFoundError(f"tree `{tree}` has no channel `{point}`", hint="pvc promote")
        return at_commit(place, known, oid)
    tip = refs.read(place, refs.TREES + tree)
    if tip is None:
        raise NotFoundError(
            f"no tree `{tree}` here",
            hint=f"pvc supersede {tree} -m REASON makes its first version; or pvc sync",
        )
    newest = at_commit(place, known, tip)
    if not at:
        return newest
    steps = newest.number - int(point)
    oid = refs.back(place, newest.commit, steps) if 0 <= steps < newest.number else None
    if oid is None:
        raise NotFoundError(f"no version `{text}` here", hint=f"the newest is {newest.label}")
    return at_commit(place, known, oid)


def at_commit(place: "Place", known: "dict[str, Version]", oid: str) -> Version:
    """Give the version of a version commit, or the one that a channel's commit names."""
    if oid not in known:
        compiled = cache.read(place.common_dir, oid)
        if compiled is None:
            from pvc.ops.programs import program_of

            compiled = program_of(place.git_dir, oid)
        known[oid] = Version(*compiled)
    return known[oid]
