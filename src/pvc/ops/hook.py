"""What each hook does when git starts it: look at what is about to happen, and say yes or no.

Rule 1: a hook reads. It changes neither the index nor the worktree nor a ref.
Rule 2: a commit is judged by what it adds: what HEAD has already is for `pvc check` to tell.
Rule 3: everything goes to stderr, where git shows it; on a server that is the pusher's terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import DecodeError, NotFoundError, PvcError, RefusedError, UsageError, fault_of
from pvc.ops.hook_guard import (
    CLONE_RULES,
    LOCAL,
    ServerRules,
    Update,
    check_move,
    check_push,
    explain,
    ref_prefix,
)
from pvc.ops.hook_shims import CLIENT, SERVER
from pvc.store.entries import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pvc.ops.check import Checked
    from pvc.ops.impact import Impact
    from pvc.store.repo import Repository


@dataclass(frozen=True, slots=True)
class HookResult:
    """What a hook has to say; `refused` names what stops git, one error for each ref."""

    checked: Checked | None = None
    impacts: tuple[Impact, ...] = ()
    moved_on: tuple[tuple[str, str], ...] = ()
    """Trees whose folder is no longer what was adopted: name and newest version."""
    behind: tuple[tuple[str, str], ...] = ()
    """Trees that were edited in the chain, and whose folder lacks that alone; the same."""
    refused: tuple[RefusedError, ...] = ()

    @property
    def stops(self) -> bool:
        """Whether git must not go on."""
        return bool(self.refused) or (self.checked is not None and self.checked.failed)


def run(
    repo: Repository, name: str, words: Sequence[str], read: Callable[[], bytes], now_us: int
) -> HookResult:
    """Run one hook with the words and the input that git gives it."""
    match name:
        case "pre-commit":
            return _pre_commit(repo, now_us)
        case "post-merge":
            return _post_merge(repo)
        case "pre-push":
            return HookResult(refused=tuple(_refusals(repo, _pushed(read()), _push_guard(repo))))
        case "reference-transaction":
            if list(words) != ["prepared"]:
                return HookResult()
            updates = _received(read())
            return HookResult(refused=tuple(_refusals(repo, updates, check_move)))
        case "pre-receive":
            return HookResult(refused=tuple(_judged(repo, _received(read()))))
        case "update":
            if len(words) != 3:
                raise UsageError("`update` takes REF OLD NEW")
            return HookResult(refused=tuple(_judged(repo, [Update.parse(*words)])))
        case _:
            raise UsageError(f"pvc has no hook `{name}`", hint=", ".join((*CLIENT, *SERVER)))


# --- refs -------------------------------------------------------------------------------------


def _received(data: bytes) -> list[Update]:
    """Read lines of `OLD NEW REF`."""
    lines = data.decode(errors="surrogateescape").split("\n")
    rows = [line.split(" ", 2) for line in lines if line]
    return [Update.parse(ref, old, new) for old, new, ref in rows]


def _pushed(data: bytes) -> list[Update]:
    """Read lines of `LOCAL-REF LOCAL REMOTE-REF REMOTE`."""
    lines = data.decode(errors="surrogateescape").split("\n")
    rows = [line.split(" ") for line in lines if line]
    return [Update.parse(ref, old, new) for _, new, ref, old in rows]


def _refusals(
    repo: Repository, updates: Sequence[Update], guard: Callable[[Repository, Update], None]
) -> Iterator[RefusedError]:
    for update in updates:
        try:
            guard(repo, update)
        except RefusedError as error:
            yield error
        except NotFoundError as error:
            yield explain(error)


def _judged(repo: Repository, updates: Sequence[Update]) -> Iterator[RefusedError]:
    """Ask a server's guard; what it cannot judge, by a fault of ours too, it does not let in."""
    prefix, rules = ref_prefix(repo), ServerRules.of(repo)
    tips = {update.ref: update.new for update in updates}

    def guard(here: Repository, update: Update) -> None:
        try:
            check_push(here, update, prefix, rules, tips=tips)
        except PvcError:
            raise
        except Exception as error:  # a guard fails closed, and in one line
            raise RefusedError(
                f"pvc could not judge it: {fault_of(error)}",
                at=shown(update.ref),
                hint="this is a fault in pvc, please report it; the push was refused for safety",
            ) from error

    return _refusals(repo, updates, guard)


def _push_guard(repo: Repository) -> Callable[[Repository, Update], None]:
    """Guard a push before it leaves."""
    prefix = ref_prefix(repo)
    return lambda here, update: check_push(here, update, prefix, CLONE_RULES, holders=LOCAL)


# --- commits ----------------------------------------------------------------------------------


def _pre_commit(repo: Repository, now_us: int) -> HookResult:
    from pvc.files import find_trees

    staged = repo.git.output("diff", "--cached", "--name-only", "--no-renames", "-z").split(b"\0")
    paths = [path.decode(errors="surrogateescape") for path in staged[:-1]]
    folders = [
        (name, folder)
        for name, folder in find_trees(repo, "index").found
        if any(not folder or path.startswith(f"{folder}/") for path in paths)
    ]
    if not folders:
        return HookResult()
    checked = _check_staged(repo, [folder for _, folder in folders])
    impacts = [_impact(repo, name, folder, now_us) for name, folder in folders]
    return HookResult(checked, tuple(impact for impact in impacts if impact))


def _check_staged(repo: Repository, folders: Sequence[str]) -> Checked:
    """Check the staged bytes of some folders, less what HEAD has already."""
    from pvc.ops.check import CheckOptions, without
    from pvc.ops.check import run as check

    root = str(repo.worktree)
    paths = tuple(f"{root}/{folder}" if folder else root for folder in folders)
    result = check(root, CheckOptions(paths, index=True))
    if repo.head() is None or not result.found:
        return result
    try:
        before = check(root, CheckOptions(paths, rev="HEAD"))
    except NotFoundError:
        return result  # the folders are new
    return without(result, frozenset(one.fingerprint for one in before.found))


def _impact(repo: Repository, name: str, folder: str, now_us: int) -> Impact | None:
    """Say what adopting the staged folder would do; null where nothing was adopted yet."""
    from pvc.ops.impact import ImpactOptions
    from pvc.ops.impact import run as impact

    try:
        return impact(repo, name, None, ImpactOptions("index", folder or ".", now_us=now_us))
    except (NotFoundError, DecodeError, RefusedError, UsageError):
        return None  # what cannot be read was said by the check; a new tree has no impact


def _post_merge(repo: Repository) -> HookResult:
    """Find trees whose folder at HEAD is not what was adopted last."""
    from pvc.files import find_trees
    from pvc.ops.supersede import run as supersede
    from pvc.store.versions import tip

    moved_on, behind = [], []
    for name in find_trees(repo):
        newest = tip(repo, "trees", name)
        if newest is None:
            continue
        try:
            planned = supersede(
                repo, name, "look", dry_run=True, accept_findings=True, accept_uncommitted=True
            )
        except (NotFoundError, DecodeError, RefusedError, UsageError):
            continue  # a folder that cannot be adopted is for `pvc check` to tell
        own = {path for path in planned.changed if not path.startswith(".pvc/")}
        if own and own <= set(planned.undone):
            behind.append((name, newest.label))
        elif planned.changed:
            moved_on.append((name, newest.label))
    return HookResult(moved_on=tuple(moved_on), behind=tuple(behind))
