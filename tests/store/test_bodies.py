"""Bodies by digest: what is given out is what was put in, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.errors import CorruptError
from pvc.model.digest import Digest
from pvc.store.bodies import fresh_bodies, read_body, write_bodies
from pvc.store.repo import WRITER

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from workspace import Workspace

DATA = [b"{}", b"one", b"", b"\xff" * 3000]


def test_bodies_of_a_chain_are_read_back(repository: Repository) -> None:
    ref = "refs/pvc/bodies/" + "0" * 32
    bodies = {Digest.of(data): data for data in DATA}
    first = dict(list(bodies.items())[:2])
    assert fresh_bodies(repository, None, bodies) == tuple(bodies)
    tip = None
    for some in (first, bodies):
        commit = write_bodies(repository, tip, some, WRITER, 1_700_000_000)
        repository.move_ref(ref, tip, commit)
        tip = commit
        rest = tuple(digest for digest in bodies if digest not in some)
        assert fresh_bodies(repository, tip, bodies) == rest
    assert [read_body(repository, digest) for digest in bodies] == DATA
    assert read_body(repository, Digest.of(b"not there")) is None
    assert [name for name, _ in repository.refs("refs/pvc/")] == [ref]


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
