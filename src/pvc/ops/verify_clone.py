"""What is in a clone beside its chains: bodies, program cache, spool, replaced objects.

Rule 1: a body is what its name says, in the spool and on every bodies ref.
Rule 2: a cached program is what its version compiles to. One that does not even verify is made
again by whoever needs it, and is a note.
Rule 3: a spool file is one whole record under its own name. What a launch answered and the file no
longer says, only the receipt can show.
Rule 4: replace refs and grafts are what git shows and pvc does not follow. Where they touch what
pvc keeps, `git log` and pvc tell different stories.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.core.compile import compile_pack
from pvc.errors import CorruptError, NotFoundError, PvcError, UsageError
from pvc.launch import cache, disk
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.ops.programs import pack_of
from pvc.store.bodies import FOLDERS, body_tips
from pvc.store.codec import decode_named
from pvc.store.versions import at_commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import ObjectId
    from pvc.model.pin import Pin
    from pvc.ops.verify_report import Report
    from pvc.store.repo import Repository


def check_bodies(repo: Repository, report: Report) -> None:
    """Hold each body against its name, in each folder once for all refs that have it."""
    folder = Path(repo.common_dir, "pvc/spool/b")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if len(path.name) == 64:
            data = disk.read(str(path))
            if data is not None:
                _body(report, path.name, data, path=str(path))
    seen: dict[ObjectId, str] = {}
    for ref, tip in body_tips(repo):
        _bodies_below(repo, report, ref, tip, "", seen)
    if not repo.is_partial:
        _missing_below(repo, report)


def _missing_below(repo: Repository, report: Report) -> None:
    """Look for objects that older commits of bodies need, for git has to walk those too."""
    said = {found.message for found in report.found}
    for ref, _ in body_tips(repo):
        done = repo.git.run("rev-list", "--objects", "--no-object-names", "--missing=print", ref)
        gone = [line[1:] for line in done.out.decode().split("\n") if line.startswith("?")]
        if done.code != 0:
            error = CorruptError(f"git cannot walk the bodies: {done.reason}")
            report.add_error(repo, "body", error, ref=ref)
        for oid in gone:
            words = f"object `{oid}` is not in this repository"
            if not any(words in message for message in said):
                said.add(words)
                report.add_error(repo, "body", NotFoundError(words), ref=ref)


def _bodies_below(
    repo: Repository,
    report: Report,
    ref: str,
    folder: ObjectId,
    prefix: str,
    seen: dict[ObjectId, str],
) -> None:
    """Look at a folder of bodies; one that stands in two places is wrong in one of them."""
    path = "/".join((*prefix, ""))
    if folder in seen:
        if seen[folder] != prefix:
            report.add("body", "a folder of bodies that stands in two places", ref=ref, path=path)
        return
    seen[folder] = prefix
    try:
        rows = repo.tree(folder)
    except PvcError as error:
        report.add_error(repo, "body", error, what="a folder of bodies", ref=ref, path=path)
        return
    for row in rows:
        name, at = prefix + row.name, path + row.name
        if row.is_tree and len(prefix) < FOLDERS and len(row.name) == 1:
            _bodies_below(repo, report, ref, row.oid, name, seen)
        elif row.is_tree:
            report.add("body", "a folder that is not one of bodies", ref=ref, path=f"{at}/")
        else:
            try:
                _body(report, name, repo.blob(row.oid), ref=ref, path=at)
            except PvcError as error:
                report.add_error(repo, "body", error, what="a body", ref=ref, path=at)


def _body(report: Report, name: str, data: bytes, *, path: str, ref: str = "") -> None:
    report.step("bodies")
    if Digest.of(data).hex != name:
        words = f"the body `b3:{name[:12]}` is not what its name says"
        report.add("body", words, ref=ref, path=path)


def check_programs(repo: Repository, report: Report) -> None:
    """Compile what the program cache holds again, and compare."""
    folder = Path(repo.common_dir, cache.FOLDER)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(disk.TEMPORARY):
            continue
        report.step("programs")
        entry = cache.read(str(repo.common_dir), path.name)
        if entry is None:
            report.note(f"{path} does not verify; it is made again when it is needed")
            continue
        try:
            version = at_commit(repo, CommitId(path.name))
            program = compile_pack(pack_of(repo, version))
        except (NotFoundError, UsageError):
            report.note(f"{path} is of a version that is not here")
            continue
        except PvcError as error:
            report.add("cache", f"a program of what does not compile: {error}", path=str(path))
            continue
        if entry != (version.name, version.number, version.id, program):
            report.add(
                "cache",
                f"the cached program of {version.label} is not what the version compiles to",
                commit=repo.commit(version.id),
                path=str(path),
            )


def spooled(repo: Repository, report: Report) -> Iterator[tuple[Pin, str]]:
    """Read the spool and give its pins; whatever else is there is a finding."""
    folder = f"{repo.common_dir}/pvc/spool"
    names = sorted(os.listdir(folder)) if Path(folder).is_dir() else []  # noqa: PTH208 - names
    for name in names:
        data = None if name == "b" or name[0] == "." else disk.read(f"{folder}/{name}")
        if data is None:
            continue
        report.step("spooled")
        try:
            yield decode_named(data, name, f"{folder}/{name}"), f"{folder}/{name}"
        except CorruptError as error:
            report.add("spool", error.message, path=error.at)


def check_replaced(repo: Repository, report: Report) -> None:
    """List replace refs and grafts; what they do to pvc's own objects is a finding."""
    replaced = dict(_replaced(repo))
    given = os.environ.get("GIT_GRAFT_FILE")
    for graft in (repo.common_dir / "info/grafts", *([Path(given)] if given else [])):
        if graft.is_file():
            for line in graft.read_text("ascii", errors="replace").split("\n"):
                words = line.split()
                if words and not line.startswith("#"):
                    replaced[words[0]] = str(graft)
    ours = _ours(repo, set(replaced)) if replaced else set()
    for oid, where in sorted(replaced.items()):
        if oid in ours:
            report.add(
                "replaced",
                f"git shows another object in the place of {oid[:12]}",
                ref=where if where.startswith("refs/") else "",
                path="" if where.startswith("refs/") else where,
            )
        else:
            report.note(f"{where} replaces {oid[:12]}, which is none of pvc's")


def _replaced(repo: Repository) -> Iterator[tuple[str, str]]:
    base = os.environ.get("GIT_REPLACE_REF_BASE") or "refs/replace/"
    said = repo.git.output("for-each-ref", "--format=%(refname)", base).decode()
    for ref in said.split("\n")[:-1]:
        yield ref.rpartition("/")[2], ref


def _ours(repo: Repository, wanted: set[str]) -> set[str]:
    """Find which objects refs of pvc's reach."""
    child = repo.git.start("rev-list", "--objects", "--glob=refs/pvc/*")
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both are pipes
    child.stdin.close()
    with child.stdout as lines:
        found = {oid for line in lines if (oid := line.split()[0].decode()) in wanted}
    child.wait()
    return found
