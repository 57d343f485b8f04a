"""Which version a launch stands on, and its program.

`TREE` is the newest version, `TREE@7` the seventh, `TREE@production` what that channel names.

Rule 1: the ref is read afresh and its commit names the cache file, so a moved ref can never meet an
old program.
Rule 2: what the cache does not hold is compiled from the repository (`ops.programs`), which also
fills the cache. That is the one slow case, and it is never an error by itself.
"""

from pvc.errors import CorruptError, NotFoundError
from pvc.launch import cache, refs
from pvc.model.names import ChannelName, TreeName, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pvc.launch.cache import Compiled
    from pvc.launch.place import Place

    Compile = Callable[[str, str], Compiled]


def compile_from_git(git_dir: str, oid: str) -> "Compiled":
    """Compile what the cache does not hold."""
    from pvc.ops.programs import program_of

    return program_of(git_dir, oid)


class Versions:
    """The versions of one repository, each compiled at most once."""

    __slots__ = ("_compile", "_known", "_place")

    def __init__(self, place: "Place", compile_missing: "Compile" = compile_from_git) -> None:
        self._place = place
        self._compile = compile_missing
        self._known: dict[str, Version] = {}

    def named(self, text: str) -> "Version":
        """Find the version that `TREE[@V|@CHANNEL]` names."""
        tree, at, point = text.partition("@")
        TreeName(tree)
        if at and not point.isdecimal():
            ChannelName(point)
            ref = f"{refs.CHANNELS}{tree}/{point}"
            oid = refs.read(self._place, ref)
            if oid is None:
                raise NotFoundError(
                    f"tree `{tree}` has no channel `{point}`",
                    hint=f"pvc log {tree} lists its versions, such as {tree}@1",
                )
            return self._of_tree(tree, oid, ref)
        tip = refs.read(self._place, refs.TREES + tree)
        if tip is None:
            raise NotFoundError(
                f"no tree `{tree}` here",
                hint=f"pvc log lists trees; pvc supersede {tree} -m REASON makes its first version",
            )
        newest = self._of_tree(tree, tip, refs.TREES + tree)
        return self._back(newest, whole_number(point) or 0, text) if at else newest

    def _of_tree(self, tree: str, oid: str, ref: str) -> "Version":
        """Give the version at a ref's commit, which must be one of the tree that the ref names."""
        try:
            version = self.at(oid)
        except NotFoundError as error:
            raise refs.gone(ref, oid) if oid in error.message else error from None
        if version.tree != tree:
            raise CorruptError(f"a ref of tree `{tree}` holds `{version.label}`", at=oid)
        return version

    def at(self, oid: str) -> "Version":
        """Give the version of a version commit, or the one that a channel's commit names."""
        if oid not in self._known:
            compiled = cache.read(self._place.common_dir, oid) or self._compile(
                self._place.git_dir, oid
            )
            self._known[oid] = Version(*compiled)
        return self._known[oid]

    def _back(self, newest: "Version", number: int, text: str) -> "Version":
        steps = newest.number - number
        oid = None
        if 0 <= steps < newest.number:
            oid = refs.back(self._place, newest.commit, steps)
        if oid is None:
            raise NotFoundError(f"no version `{text}` here", hint=f"the newest is {newest.label}")
        return self.at(oid)


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
