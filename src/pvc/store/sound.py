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

from pvc.errors import RefusedError
from pvc.model.names import ObjectId
from pvc.store.landing import encode_pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.store.repo import Kind, Repository

_OBJECT = re.compile(r"^(?:error|fatal): object ([0-9a-f]{40,64}): (.*)$", re.MULTILINE)
_HINT = "no clone could fetch it: git's own fsck refuses such an object"


def check_sound(repo: Repository, tip: ObjectId, known: Iterable[ObjectId | None] = ()) -> None:
    """See that git would fetch what `tip` reaches and none of `known` does: a commit or a tree.

    Raises `RefusedError` in git's words, with the path of the object.
    """
    new = repo.new_objects(tip, known)
    with tempfile.TemporaryDirectory(prefix="pvc-") as folder:
        pack = Path(folder, "new.pack")
        pack.write_bytes(encode_pack(new, repo.object_format).pack)
        done = repo.git.run("index-pack", "--strict", "-o", f"{folder}/strict.idx", str(pack))
    if done.code == 0:
        return
    found = _OBJECT.search(done.err)
    if found is None:
        raise RefusedError(f"git cannot pack it: {done.reason}", hint=_HINT)
    at = _path(repo, ObjectId(found[1]), tip, new)
    raise RefusedError(f"git refuses `{found[1][:12]}`: {found[2]}", at=at, hint=_HINT)


def _path(
    repo: Repository, oid: ObjectId, below: ObjectId, new: Mapping[ObjectId, tuple[Kind, bytes]]
) -> str:
    """Name the path of an object; a commit has none."""
    for entry in repo.tree(below):
        if entry.oid == oid:
            return entry.name
        if entry.is_tree and entry.oid in new and (path := _path(repo, oid, entry.oid, new)):
            return f"{entry.name}/{path}"
    return ""
