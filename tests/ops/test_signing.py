"""Signed versions and moves: a real ssh key, made by git, verified by git."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pvc.errors import WriteError
from pvc.ops.promote import run as promote
from pvc.ops.revise import Edits, NewFile
from pvc.ops.supersede import run as supersede
from sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.model.names import CommitId
    from pvc.store.open import BackEnd
    from pvc.store.repo import Repository
    from workspace import Workspace

EDIT = Edits(sets=(NewFile("a.md", b"Edited.\n"),))


@pytest.fixture
def signing(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A repository with an unsigned tree `agent`, whose user has a key and no setting to sign."""
    Sessions(workspace).adopt()
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True
    )
    public = key.with_suffix(".pub").read_text()
    (tmp_path / "signers").write_text(f"ada@example.com {public}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "signers")),
    ):
        workspace.git("config", name, value)
    return workspace


def adopt(repo: Repository, *, sign: bool | None = None) -> CommitId:
    version = supersede(repo, "agent", "Signed?\n\nIt is.", edits=EDIT, sign=sign).version
    assert version is not None
    return version.id


def move(repo: Repository, *, sign: bool | None = None) -> CommitId:
    made = promote(repo, "agent@1", "production", "Ready", sign=sign).move
    assert made is not None
    return made.id


def test_what_is_made_is_signed_where_the_users_git_signs(
    signing: Workspace, back_end: BackEnd
) -> None:
    signing.git("config", "commit.gpgSign", "true")
    repo = signing.open(back_end)
    for oid in (adopt(repo), move(repo)):
        signing.git("verify-commit", oid)
    log = signing.git("log", "-2", "--format=%G? %GS", "refs/pvc/trees/agent")
    assert log == "G ada@example.com\nN "


def test_one_version_or_move_is_signed_on_request(signing: Workspace) -> None:
    for oid in (adopt(signing.open(), sign=True), move(signing.open(), sign=True)):
        signing.git("verify-commit", oid)
    first = signing.git("rev-parse", "refs/pvc/trees/agent~1")
    signing.git("verify-commit", first, code=1)


def test_a_signed_version_reads_as_any_other(signing: Workspace) -> None:
    signing.git("config", "commit.gpgSign", "true")
    repo = signing.open()
    oid = adopt(repo)
    version = supersede(repo, "agent", "x", edits=Edits(revert_to=1)).version
    assert version is not None
    assert (version.parents, version.number) == ((oid,), 3)
    pinned = Sessions(signing).pin("s")
    assert pinned.version == "agent@3"


@pytest.mark.parametrize("setting", ["user.signingKey", "gpg.ssh.program"])
def test_what_cannot_be_signed_is_not_made(
    signing: Workspace, back_end: BackEnd, tmp_path: Path, setting: str
) -> None:
    signing.git("config", setting, str(tmp_path / "gone"))
    repo = signing.open(back_end)
    before = repo.refs("refs/pvc/")
    for make in (adopt, move):
        with pytest.raises(WriteError) as error:
            make(repo, sign=True)
        assert "user.signingKey" in error.value.hint
    assert repo.refs("refs/pvc/") == before


def test_verify_runs_no_program_that_only_the_repository_names(
    signing: Workspace, back_end: BackEnd, tmp_path: Path
) -> None:
    """A repository that came as an archive brings its configuration along."""
    from pvc.ops.verify import VerifyOptions
    from pvc.ops.verify import run as verify

    adopt(signing.open(back_end), sign=True)
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    signing.git("config", "gpg.ssh.program", str(program))
    result = verify(signing.open(back_end), VerifyOptions())
    assert not (tmp_path / "ran").exists()
    assert any("`gpg.ssh.program` of this repository is not run" in note for note in result.notes)
    assert "signature" not in str(result.to_json()["findings"])
    signing.git("config", "--unset", "gpg.ssh.program")
    signing.git("config", "--global", "gpg.ssh.program", str(program))
    verify(signing.open(back_end), VerifyOptions())
    assert (tmp_path / "ran").exists()
