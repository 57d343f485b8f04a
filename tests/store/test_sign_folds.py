"""Signed folds: by git's own key, asking nobody, and what happens where that cannot be."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.errors import WriteError
from pvc.ops.verify import VerifyOptions, run
from pvc.store import child

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.ops.verify_report import Verified
    from workspace import Workspace


pytestmark = pytest.mark.usefixtures("git_format")


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    made.record("s1")
    return made


def make_key(workspace: Workspace, passphrase: str = "") -> Path:
    """Make a key, tell git to sign with it, and whom to believe."""
    key = workspace.path.parent / "key"
    words = ["-q", "-t", "ed25519", "-N", passphrase, "-f", str(key)]
    subprocess.run(["ssh-keygen", *words], check=True)
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    signers = workspace.path.parent / "signers"
    signers.write_text(f"pvc@localhost,ada@example.com {public}\n")
    workspace.git("config", "gpg.format", "ssh")
    workspace.git("config", "user.signingKey", str(key))
    workspace.git("config", "gpg.ssh.allowedSignersFile", str(signers))
    return key


def verified(workspace: Workspace, *, required: bool = False) -> Verified:
    repository = workspace.open()
    try:
        words = (ledger(workspace),)
        return run(repository, VerifyOptions(words, require_signed=required, render=False))
    finally:
        repository.close()


def ledger(workspace: Workspace) -> str:
    return workspace.git("for-each-ref", "--format=%(refname)", "refs/pvc/pins/")


def signature_findings(found: Verified) -> list[str]:
    return [each.message for each in found.found if each.code == "signature"]


def test_a_fold_is_signed_with_the_key_that_git_uses(launches: Launches) -> None:
    workspace = launches.workspace
    make_key(workspace)
    workspace.git("config", "pvc.signFolds", "true")
    assert launches.fold().unsigned == ""
    workspace.git("verify-commit", ledger(workspace))
    found = verified(workspace, required=True)
    assert signature_findings(found) == []
    assert found.counts["signatures"] == 1


def test_a_fold_without_a_signature_is_found_where_one_is_required(launches: Launches) -> None:
    launches.fold()
    assert signature_findings(verified(launches.workspace)) == []
    (message,) = signature_findings(verified(launches.workspace, required=True))
    assert "not signed" in message


def test_a_key_that_needs_a_passphrase_asks_nobody_and_keeps_pins_in_the_spool(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = launches.workspace
    make_key(workspace, "secret")
    workspace.git("config", "pvc.signFolds", "true")
    asked = workspace.path.parent / "asked"
    asker = workspace.path.parent / "asker"
    asker.write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n")
    asker.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(asker))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", ":0")
    with pytest.raises(WriteError, match="cannot be signed, so pins stay in the spool") as error:
        launches.fold()
    assert "ssh-add" in error.value.hint
    assert not asked.exists()
    assert len(launches.spooled) == 1
    workspace.git("config", "--unset", "pvc.signFolds")
    assert launches.fold().pins == 1


def test_a_signature_that_never_comes_is_not_waited_for(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = launches.workspace
    make_key(workspace)
    sleeper = workspace.path.parent / "sleeper"
    sleeper.write_text("#!/bin/sh\nsleep 600\n")
    sleeper.chmod(0o755)
    workspace.git("config", "gpg.ssh.program", str(sleeper))
    workspace.git("config", "pvc.signFolds", "true")
    monkeypatch.setattr(child, "ALONE_S", 1)
    before = time.monotonic()
    with pytest.raises(WriteError, match="no answer within 1 seconds"):
        launches.fold()
    assert time.monotonic() - before < 60, "the sleeper was ended too"
    assert len(launches.spooled) == 1


def test_when_possible_folds_all_the_same_and_says_why(launches: Launches) -> None:
    workspace = launches.workspace
    workspace.git("config", "gpg.format", "ssh")
    workspace.git("config", "user.signingKey", str(workspace.path / "none"))
    workspace.git("config", "pvc.signFolds", "when-possible")
    result = launches.fold()
    assert result.pins == 1
    assert result.unsigned
    assert launches.spooled == []


def test_a_signature_over_other_bytes_is_found_wherever_it_is_looked_at(
    launches: Launches,
) -> None:
    workspace = launches.workspace
    make_key(workspace)
    workspace.git("config", "pvc.signFolds", "true")
    launches.fold()
    ref = ledger(workspace)
    signed = workspace.git("cat-file", "commit", ref)
    forged = signed.replace("author pvc", "author Pvc") + "\n"
    oid = workspace.git("hash-object", "-w", "-t", "commit", "--stdin", data=forged.encode())
    workspace.git("update-ref", ref, oid)
    (message,) = signature_findings(verified(workspace))
    assert "the signature is bad" in message


def test_a_ledger_that_was_signed_and_no_longer_is_is_noted(launches: Launches) -> None:
    workspace = launches.workspace
    make_key(workspace)
    workspace.git("config", "pvc.signFolds", "true")
    launches.fold()
    workspace.git("config", "pvc.signFolds", "false")
    launches.record("s2")
    launches.fold()
    notes = verified(workspace).notes
    assert any("has signed commits" in note for note in notes)


def test_where_no_signers_are_known_a_signature_is_noted_and_none_if_required(
    launches: Launches,
) -> None:
    workspace = launches.workspace
    make_key(workspace)
    workspace.git("config", "pvc.signFolds", "true")
    launches.fold()
    workspace.git("config", "--unset", "gpg.ssh.allowedSignersFile")
    found = verified(workspace)
    assert signature_findings(found) == []
    assert any("cannot be judged" in note or "nobody vouches" in note for note in found.notes)
    assert signature_findings(verified(workspace, required=True))
