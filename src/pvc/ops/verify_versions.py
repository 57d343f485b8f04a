"""Versions and moves, one by one, by the rules that a server's guard keeps.

Rule 1: what a guard would not let in is a finding here: a clone or a hub without a guard, or a
push around one, is found out by whoever verifies.
Rule 2: a channel names versions of its tree's chain, not just commits that say they are versions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pvc.ops.hook_commits import CommitCheck
from pvc.ops.verify_chains import by_key, of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pvc.ops.verify_chains import Chain
    from pvc.ops.verify_report import Report
    from pvc.store.repo import Repository


def check_versions(repo: Repository, chains: Sequence[Chain], report: Report) -> None:
    """Check every commit of trees, packs and channels, oldest first."""
    check, ends = CommitCheck(repo), repo.shallow()
    for chain in of_kind(chains, "trees", "packs"):
        for oid in chain.commits:
            commit = repo.commit(oid)
            commit = replace(commit, parents=()) if oid in ends else commit
            report.step("versions")
            try:
                check.version(commit, chain.kind, chain.name)
            except Exception as error:  # noqa: BLE001  # one version hides no other
                report.add_error(repo, "version", error, ref=chain.ref, commit=commit)
    for name in sorted(check.absent):
        report.note(f"a lock names a pack's version that is not here: {name}")


def check_moves(
    repo: Repository, chains: Sequence[Chain], known: Sequence[Chain], report: Report
) -> None:
    """Check every move of the channels among `chains`, against the trees among `known`."""
    check, trees, ends = CommitCheck(repo), by_key(known), repo.shallow()
    for chain in of_kind(chains, "channels"):
        tree, _, channel = chain.name.partition("/")
        versions = trees.get(("trees", tree))
        for oid in chain.commits:
            commit = repo.commit(oid)
            report.step("moves")
            if oid in ends:
                continue  # neither the move before nor the version is here
            try:
                check.move(commit, tree, channel)
            except Exception as error:  # noqa: BLE001  # one move hides no other
                report.add_error(repo, "move", error, ref=chain.ref, commit=commit)
                continue
            if versions is None or commit.parents[-1] not in versions.known:
                report.add(
                    "move",
                    f"{chain.title} names {commit.parents[-1].short}, which is in no copy of the"
                    f" tree `{tree}` here",
                    ref=chain.ref,
                    commit=commit,
                    hint="pvc sync; else the version was made or taken out by hand",
                )
