"""What git's own fsck says of objects that are about to be adopted, or let in.

A clone fetches with `fetch.fsckObjects`, so an object that fsck calls an error can be fetched by
nobody. Both doors ask the same judge: the git that is installed, as `fetch` does.

Rule 1: git's rules are not copied here. They are many, and they grow with each version of git.
Rule 2: only what is new is looked at: what a tip reaches and `known` does not.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.errors import RefusedError, WriteError
from pvc.store.child import failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.model.names import ObjectId
    from pvc.store.child import Done
    from pvc.store.repo import Repository

_OBJECT = re.compile(r"^(?:error|fatal): object ([0-9a-f]{40,64}): (.*)$", re.MULTILINE)
_NO_OBJECTS = bytes(4)
"""The count in the header of a pack that has nothing new."""
_HINT = "no clone could fetch it: git's own fsck refuses such an object"


def check_sound(repo: Repository, tip: ObjectId, known: Iterable[ObjectId | None] = ()) -> None:
    """See that git would fetch what `tip` reaches and none of `known` does: a commit or a tree.

    Raises `RefusedError` in git's words, with the path of the object.
    """
    words = [tip, *(f"^{oid}" for oid in known if oid)]
    listing = "".join(f"{word}\n" for word in words).encode()
    with repo.with_staged() as more:
        with tempfile.TemporaryDirectory(prefix="pvc-") as folder:
            done = _packed(repo, folder, listing, more)
        if done.code == 0:
            return
        found = _OBJECT.search(done.err)
        if found is None and (done.is_refused_by_disk or done.code < 0):
            raise failure(done, "index-pack", WriteError)
        if found is None:
            raise RefusedError(f"git cannot pack it: {done.reason}", hint=_HINT)
        at = _path(repo, found[1], listing, more)
    raise RefusedError(f"git refuses `{found[1][:12]}`: {found[2]}", at=at, hint=_HINT)


def _packed(repo: Repository, folder: str, listing: bytes, more: Mapping[str, str]) -> Done:
    """Pack the objects, and let git take the pack in beside the repository, as a fetch would.

    The pack comes through a pipe: git would begin it in the repository, where a prune takes it.
    """
    pack = Path(folder, "new.pack")
    words = ("pack-objects", "--revs", "--quiet", "--window=0", "--delta-base-offset", "--stdout")
    with pack.open("wb") as file:
        done = repo.git.run(*words, data=listing, more=more, to=file)
    if done.code != 0:
        return done
    with pack.open("rb") as file:
        if file.read(12)[8:] == _NO_OBJECTS:
            return done
    index = f"{folder}/strict.idx"
    return repo.git.run("index-pack", "--strict", "-o", index, str(pack), more=more)


def _path(repo: Repository, oid: str, listing: bytes, more: Mapping[str, str]) -> str:
    """Name the path of an object; a commit has none."""
    done = repo.git.run("rev-list", "--objects", "--stdin", data=listing, more=more)
    for line in done.out.decode(errors="replace").split("\n"):
        if line.startswith(f"{oid} "):
            return line[len(oid) + 1 :]
    return ""
