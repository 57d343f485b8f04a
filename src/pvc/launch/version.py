"""Which version a launch stands on, and its program.

`TREE` is the newest version, `TREE@7` the seventh, `TREE@production` what that channel names.

Rule 1: the ref is read afresh and its commit names the cache file, so a moved ref can never meet an
old program.
Rule 2: the commit that is found must say itself that it is the version asked for. Where it is not,
or nothing is found, the full way is asked (`ops.select`), so a mistake has one answer.
Rule 3: what the cache does not hold is compiled from the repository (`ops.programs`), which also
fills the cache. That is the one slow case, and it is never an error by itself.
"""

from pvc.errors import CorruptError, NotFoundError, UsageError
from pvc.launch import cache, refs
from pvc.model.names import ChannelName, TreeName, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pvc.launch.cache import Compiled
    from pvc.launch.place import Place

    Compile = Callable[[str, str], Compiled]
    Find = Callable[[str, str], str]


def compile_from_git(git_dir: str, oid: str) -> "Compiled":
    """Compile what the cache does not hold."""
    from pvc.ops.programs import program_of

    return program_of(git_dir, oid)


def find_in_git(git_dir: str, text: str) -> str:
    """Find the commit of the version that `text` names; raises what every command raises."""
    from pvc.ops.select import tree_version

    return tree_version(git_dir, text)


class Versions:
    """The versions of one repository, each compiled at most once."""

    __slots__ = ("_compile", "_find", "_known", "_place")

    def __init__(
        self,
        place: "Place",
        compile_missing: "Compile" = compile_from_git,
        find_named: "Find" = find_in_git,
    ) -> None:
        self._place = place
        self._find = find_named
        self._compile = compile_missing
        self._known: dict[str, Version] = {}

    def named(self, text: str) -> "Version":
        """Find the version that `TREE[@V|@CHANNEL]` names."""
        found = self._found(text)
        return found or self._again(self._find(self._place.git_dir, text))

    def _found(self, text: str) -> "Version | None":
        """Find it from files; None where it is not there, or something else is."""
        tree, at, point = text.partition("@")
        try:
            TreeName(tree)
            if at and not point.isdecimal():
                ChannelName(point)
                return self._of_tree(tree, refs.read(self._place, f"{refs.CHANNELS}{tree}/{point}"))
            newest = self._of_tree(tree, refs.read(self._place, refs.TREES + tree))
        except (UsageError, CorruptError):
            return None
        if newest is None or not at:
            return newest
        number = whole_number(point) or 0
        if not 1 <= number <= newest.number:
            return None
        oid = refs.back(self._place, newest.commit, newest.number - number)
        found = self._of_tree(tree, oid)
        return found if found is not None and found.number == number else None

    def _of_tree(self, tree: str, oid: str | None) -> "Version | None":
        """Give the version at a commit; None where it is not one of the tree, or not here."""
        try:
            version = None if oid is None else self.at(oid)
        except NotFoundError:
            if self._place.git("cat-file", "-e", str(oid)) is None:
                return None  # the full way says which ref names it
            raise
        return version if version is not None and version.tree == tree else None

    def at(self, oid: str) -> "Version":
        """Give the version of a version commit, or the one that a channel's commit names."""
        if oid not in self._known:
            compiled = cache.read(self._place.common_dir, oid) or self._compile(
                self._place.git_dir, oid
            )
            self._known[oid] = self._made(compiled)
        return self._known[oid]

    def _again(self, oid: str) -> "Version":
        """Give a version by what its commit says, whatever the cache says."""
        self._known[oid] = self._made(self._compile(self._place.git_dir, oid))
        return self._known[oid]

    def _made(self, compiled: "Compiled") -> "Version":
        tree, number, commit, program = compiled
        return Version(tree, number, commit, program, lambda: self._again(commit).program)


class Version:
    """A version and what it compiled to."""

    __slots__ = ("commit", "compiled_again", "number", "program", "tree")

    def __init__(
        self,
        tree: str,
        number: int,
        commit: str,
        program: "tuple[Any, ...]",
        compiled_again: "Callable[[], tuple[Any, ...]] | None" = None,
    ) -> None:
        self.tree = tree
        self.number = number
        self.commit = commit
        self.program = program
        self.compiled_again = compiled_again
        """Gives the program anew, where this one came from the cache and cannot be run."""

    @property
    def label(self) -> str:
        """The version as people write it: `agent@7`."""
        return f"{self.tree}@{self.number}"
