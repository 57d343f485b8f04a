"""Bodies by digest: what is given out is what was put in, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.errors import CorruptError
from pvc.model.digest import Digest
from pvc.store.bodies import merged_tree, read_body

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from workspace import Workspace

DATA = [b"{}", b"one", b"", b"\xff" * 3000]


def test_bodies_of_a_tree_are_read_back(repository: Repository) -> None:
    bodies = {Digest.of(data): data for data in DATA}
    tree = merged_tree(repository, None, bodies)
    assert tree is not None
    assert merged_tree(repository, tree, bodies) is None
    commit = repository.write_commit(tree, (), "bodies")
    repository.move_ref("refs/pvc/bodies/" + "0" * 32, None, commit)
    assert [read_body(repository, digest) for digest in bodies] == DATA
    assert read_body(repository, Digest.of(b"not there")) is None


def test_the_empty_environment_is_known_everywhere(repository: Repository) -> None:
    assert read_body(repository, Digest.of(b"{}")) == b"{}"


def test_a_body_that_is_not_what_its_digest_says_is_damage(
    repository: Repository, workspace: Workspace
) -> None:
    launches = Launches(workspace)
    launches.adopt(b"You are an agent.\n")
    launches.record("s")
    (path,) = (launches.home / "spool/b").iterdir()
    path.write_bytes(b"other")
    with pytest.raises(CorruptError, match="is damaged"):
        read_body(repository, Digest("b3:" + path.name))
