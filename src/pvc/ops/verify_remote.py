"""Where a remote stands now, against what was seen of it: the one question that needs a network.

Rule 1: a remote whose refs are where a sync saw them, or beyond, is fine. One that shows an older
commit, or none, was rolled back; one that shows a commit which the seen one is not below was
rewritten. Nothing is fetched; `pvc sync` says the same when it is refused.
Rule 2: a ledger that another one took may go (`store.take`). Whether it was taken can be seen only
where the other one is here up to where the remote has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import NotFoundError
from pvc.model.names import CommitId
from pvc.ops.hook_guard import ref_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.ops.verify_report import Report
    from pvc.store.repo import Commit, Repository

REMOTES = "refs/pvc/remotes/"


def check_remote(repo: Repository, remote: str, report: Report) -> None:
    """Ask a remote where its refs are. Raises `NotFoundError` when it does not answer."""
    prefix = ref_prefix(repo)
    done = repo.git.run("ls-remote", "--refs", "--", remote, f"{prefix}/*")
    if done.code != 0:
        raise NotFoundError(
            f"`{remote}` does not answer: {done.reason}", hint=f"git ls-remote {remote}"
        )
    pairs = (line.split("\t") for line in done.out.decode().split("\n")[:-1])
    there = {ref.removeprefix(f"{prefix}/"): CommitId(oid) for oid, ref in pairs}
    seen = f"{REMOTES}{remote}/"
    for ref, tip in repo.refs(seen):
        name = ref.removeprefix(seen)
        now = there.get(name)
        if now == tip or name.startswith("bodies/"):
            continue
        if now is None and name.startswith(("pins/", "inbox/")):
            is_taken = _is_taken(repo, tip, there)
            if is_taken is None:
                report.note(f"`{remote}` no longer has {name}; pvc sync tells whether it was taken")
            if is_taken is not False:
                continue
        how = _how(repo, tip, now)
        if how:
            report.add(
                "rollback",
                f"`{remote}` {how} {name}; it was seen there at {tip.short}",
                ref=ref,
                commit=repo.commit(tip),
                hint=f"git push {remote} {tip}:{prefix}/{name} puts it back",
            )


def _is_taken(repo: Repository, tip: CommitId, there: Mapping[str, CommitId]) -> bool | None:
    """Tell whether a ledger of the remote holds another; null where that is not known here."""
    others = [oid for name, oid in there.items() if name.startswith("pins/")]
    known = [oid for oid in others if _commit(repo, oid) is not None]
    if any(repo.is_ancestor(tip, oid) for oid in known):
        return True
    return False if len(known) == len(others) else None


def _how(repo: Repository, tip: CommitId, now: CommitId | None) -> str:
    """Say how a remote's ref fell behind what was seen; empty when it is beyond that, or may be."""
    if now is None:
        return "no longer has"
    if _commit(repo, now) is None:
        return ""  # not fetched yet: a sync takes it, or is refused
    if repo.is_ancestor(now, tip):
        return "shows an older"
    return "" if repo.is_ancestor(tip, now) else "shows another"


def _commit(repo: Repository, oid: CommitId) -> Commit | None:
    try:
        return repo.commit(oid)
    except NotFoundError:
        return None
