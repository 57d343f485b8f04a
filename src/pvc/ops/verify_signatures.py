"""Signatures of versions, moves and folds, judged by git with the keys that it knows here.

Rule 1: a signature that is there must be good. One that git cannot judge here (no key, no file of
allowed signers) is a note; with `--require-signed` it is a finding, as a missing one is.
Rule 2: the packs that ship with pvc are the same commit everywhere and are not signed; they are
compared with those that this pvc ships.
Rule 3: a program that only the repository's own configuration names is not run: a repository that
came as an archive is what one verifies. The user's own, or git's default, judges instead.
Rule 4: a ledger that was signed and no longer is, is worth a note.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pvc.model.names import CommitId
from pvc.packs import builtin_packs
from pvc.store.versions import sources, tip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.ops.verify_chains import Chain
    from pvc.ops.verify_report import Report
    from pvc.store.repo import Repository

BATCH = 128
_DEFAULTS = {"gpg.x509.program": "gpgsm", "gpg.ssh.program": "ssh-keygen"}
_MARKS = (b"\ngpgsig ", b"\ngpgsig-sha256 ")
_BAD = {"B": "is bad", "R": "is by a key that was revoked"}
_WEAK = {
    "U": "is good, by a key that nobody vouches for here",
    "X": "has expired",
    "Y": "is by a key that has expired",
    "E": "cannot be judged here",
    "N": "cannot be judged here",
}


def check_signatures(
    repo: Repository, chains: Sequence[Chain], report: Report, *, required: bool
) -> None:
    """Judge what is signed; with `required` all must be."""
    signed: dict[CommitId, Chain] = {}
    for chain in chains:
        mixed = None
        for oid in chain.commits:
            if _is_signed(repo, oid):
                signed[oid] = chain
                mixed = mixed or oid
            elif required and not _is_shipped(repo, chain, oid):
                commit = repo.commit(oid)
                report.add("signature", f"{chain.title}: not signed", ref=chain.ref, commit=commit)
            elif mixed is not None:
                report.note(f"{chain.title} has signed commits, and {oid.short} after them is not")
                mixed = None
    rows = iter(signed.items())
    programs = _programs(repo, report) if signed else ()
    while batch := dict(islice(rows, BATCH)):
        for oid, mark, signer in _judged(repo, batch, programs):
            _judge(repo, report, batch[oid], (oid, mark, signer), required=required)


def _judge(
    repo: Repository,
    report: Report,
    chain: Chain,
    judged: tuple[CommitId, str, str],
    *,
    required: bool,
) -> None:
    oid, mark, signer = judged
    report.step("signatures")
    words = _BAD.get(mark) or _WEAK.get(mark)
    if words is None:
        return
    by = f" ({signer})" if signer else ""
    if mark in _BAD or required:
        report.add(
            "signature",
            f"{chain.title}: the signature {words}{by}",
            ref=chain.ref,
            commit=repo.commit(oid),
        )
    else:
        report.note(f"{chain.title}: a signature {words}{by}: {oid.short}")


def _is_signed(repo: Repository, oid: CommitId) -> bool:
    head = repo.raw(oid)[1].partition(b"\n\n")[0]
    return any(mark in head for mark in _MARKS)


def _programs(repo: Repository, report: Report) -> tuple[str, ...]:
    """Give git's options that take each program from outside of the repository."""
    said = repo.git.run("config", "--null", "--show-scope", "--get-regexp", r"^gpg\..*program$")
    named: dict[str, str] = {}
    inside: set[str] = set()
    scopes, entries = said.out.split(b"\0")[:-1:2], said.out.split(b"\0")[1::2]
    for scope, entry in zip(scopes, entries, strict=False):
        key, _, value = entry.decode(errors="surrogateescape").partition("\n")
        if scope in (b"local", b"worktree"):
            inside.add(key)
        else:
            named[key] = value
    for key in sorted(inside):
        report.note(f"`{key}` of this repository is not run; set it with git config --global")
    chosen = {key: named.get(key, _DEFAULTS.get(key, "gpg")) for key in inside}
    return tuple(word for key, value in chosen.items() for word in ("-c", f"{key}={value}"))


def _judged(
    repo: Repository, oids: dict[CommitId, Chain], programs: tuple[str, ...]
) -> Iterator[tuple[CommitId, str, str]]:
    """Ask git: good, bad, or what stands in the way; for many commits with one child."""
    words = (*programs, "log", "--no-walk=unsorted", "--stdin", "--format=%H %G? %GS")
    said = repo.git.output(*words, data="".join(f"{oid}\n" for oid in oids).encode())
    for line in said.decode(errors="replace").split("\n")[:-1]:
        oid, mark, signer = line.split(" ", 2)
        yield CommitId(oid), mark, signer


def _is_shipped(repo: Repository, chain: Chain, oid: CommitId) -> bool:
    """Tell whether it is a pack of the wheel's, byte for byte."""
    if chain.kind != "packs" or len(chain.commits) > 1:
        return False
    shipped = {str(pack.name): pack.files for pack in builtin_packs()}
    version = tip(repo, "packs", chain.name) if chain.name in shipped else None
    return (
        version is not None
        and version.id == oid
        and sources(repo, version).files == shipped[chain.name]
    )
