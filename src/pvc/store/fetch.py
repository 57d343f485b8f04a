"""Fetch a remote's refs of pvc's: all at once, and where git takes none of them, apart.

Rule 1: what is sound comes in, whatever else is there. One object that fsck refuses, or that the
remote lacks itself, fails a fetch as a whole; then the refs are tried in halves, so that only the
bad ones are left out, each with the reason.
Rule 2: here a ref of pvc's names a commit. git would let a blob or a tag take the place of one,
and what was seen before would be lost with it: it is put back.
Rule 3: a lock that a killed fetch left goes, by its age, as one of pvc's own moves does. What git
cannot write here says nothing against the remote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import MovedError
from pvc.store.remote_words import failed, named_by_fetch, rejected_by_fetch, why_not_updated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pvc.model.names import CommitId
    from pvc.store.child import Done
    from pvc.store.repo import Repository

KINDS = ("trees", "packs", "channels", "pins", "inbox", "bodies")
WORDS = (
    "fetch",
    "--no-tags",
    "--no-prune",
    "--no-filter",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--refmap=",
    "--verbose",  # it names what is up to date too: all that is there
)
_DEAD_LINE = 8
"""After so many failures in a row the remote is asked whether it is still there."""
_REWRITTEN = "it was rewritten there; what was fetched before stays as evidence"
_NOT_HERE = "it could not be written here; run `pvc sync` again"
_UNSOUND = "the rest was fetched; who may write there can remove it: `git push {remote} :{ref}`"
_NO_COMMIT = "it is not a ref that pvc writes: `git push {remote} :{ref}` removes it there"


class Unfetched(NamedTuple):
    """A ref that stayed where it was seen before, by our name, and why."""

    seen: str
    reason: str
    hint: str


class Fetch:
    """One fetch: `prefix` is where the refs are at the remote, `seen` where they are here."""

    def __init__(
        self, repo: Repository, remote: str, settings: Sequence[str], *, prefix: str, seen: str
    ) -> None:
        self._repo = repo
        self._remote = remote
        self._settings = settings
        self._prefix = prefix
        self._seen = seen
        self.is_there: set[str] = set()
        self.unfetched: list[Unfetched] = []
        self._in_a_row = 0

    def run(self, unmoved: Iterable[str]) -> None:
        """Fetch all but what has not moved. Raises where the remote does not answer."""
        before = dict(self._repo.refs(f"{self._seen}/"))
        specs = [self._spec(f"{self._seen}/{kind}/*") for kind in KINDS]
        left = frozenset(unmoved)
        specs += [f"^{self._there(ref)}" for ref in left]
        done = self._fetch(specs)
        if not self._take_in(done):
            self._apart(left, before, done)
        self._put_back(before)

    def _fetch(self, specs: Iterable[str]) -> Done:
        """Let git fetch; once more where locks of a killed fetch stood in the way."""
        words = (*self._settings, *WORDS, "--stdin", "--", self._remote)
        data = "".join(f"{spec}\n" for spec in specs).encode()
        done = self._repo.git.run(*words, data=data)
        locked = [
            name
            for name, why in rejected_by_fetch(done.err)
            if why_not_updated(done.err, name, why)
        ]
        removed = [name for name in locked if self._repo.remove_stale_lock(name)]
        if removed:
            done = self._repo.git.run(*words, data=data)
        return done

    def _take_in(self, done: Done) -> bool:
        """Take in what git said of each ref; false where it failed as a whole."""
        rejected = list(rejected_by_fetch(done.err))
        if done.code != 0 and not rejected:
            return False
        self.is_there |= {*named_by_fetch(done.err)}
        for name, why in rejected:
            local = why_not_updated(done.err, name, why)
            if local:
                self.unfetched.append(Unfetched(name, local, _NOT_HERE))
            else:
                hint = _REWRITTEN if "fast-forward" in why else ""
                self.unfetched.append(Unfetched(name, why, hint))
        return True

    # --- apart --------------------------------------------------------------------------------

    def _apart(self, unmoved: frozenset[str], before: dict[str, CommitId], done: Done) -> None:
        """Fetch what moved in halves, down to the refs that cannot be fetched."""
        listed = self._listed(done)
        wanted = []
        for name, oid in listed.items():
            if name in unmoved:
                continue
            self.is_there.add(name)
            if before.get(name) != oid:
                wanted.append(name)
        self._halves(wanted, done)

    def _listed(self, failure: Done) -> dict[str, str]:
        """Ask where the remote's refs are; raises why the fetch failed where it does not say."""
        words = ("ls-remote", "--refs", "--", self._remote, f"{self._prefix}/*")
        done = self._repo.git.run(*words)
        if done.code != 0:
            raise failed(self._remote, failure)
        rows = (line.split("\t") for line in done.out.decode(errors="replace").split("\n")[:-1])
        found = {self._seen + name.removeprefix(self._prefix): oid for oid, name in rows}
        kinds = tuple(f"{self._seen}/{kind}/" for kind in KINDS)
        return {name: oid for name, oid in sorted(found.items()) if name.startswith(kinds)}

    def _halves(self, names: Sequence[str], failure: Done) -> None:
        if len(names) == 1:
            done = self._fetch([self._spec(names[0])])
            if self._take_in(done):
                self._in_a_row = 0
                return
            hint = _UNSOUND.format(remote=self._remote, ref=self._there(names[0]))
            self.unfetched.append(Unfetched(names[0], done.reason, hint))
            self._in_a_row += 1
            if self._in_a_row % _DEAD_LINE == 0:
                self._listed(failure)
            return
        middle = len(names) // 2
        for half in (names[:middle], names[middle:]):
            if not half:
                continue
            if len(half) == 1 or not self._take_in(self._fetch(map(self._spec, half))):
                self._halves(half, failure)

    # --- what it names ------------------------------------------------------------------------

    def _put_back(self, before: dict[str, CommitId]) -> None:
        """Put back, or remove, what is no commit."""
        now = self._repo.refs(f"{self._seen}/")
        listing = "".join(f"{oid}\n" for _, oid in now).encode()
        kinds = self._repo.git.output("cat-file", "--batch-check", data=listing).split(b"\n")
        for (name, oid), line in zip(now, kinds, strict=False):
            kind = line.split(b" ")[1].decode()
            if kind == "commit":
                continue
            old = before.get(name)
            try:
                if old is not None and old != oid:
                    self._repo.move_ref(name, oid, old)
                else:
                    self._repo.delete_ref(name, oid)
            except MovedError:
                continue  # another sync was quicker
            hint = _NO_COMMIT.format(remote=self._remote, ref=self._there(name))
            self.unfetched.append(Unfetched(name, f"it is a {kind} there, not a commit", hint))

    def _spec(self, seen: str) -> str:
        """Name a ref in both repositories; bodies may have been rewritten (`store.forget`)."""
        force = "+" if seen.startswith(f"{self._seen}/bodies/") else ""
        return f"{force}{self._there(seen)}:{seen}"

    def _there(self, seen: str) -> str:
        return self._prefix + seen.removeprefix(self._seen)


def fill(repo: Repository, remote: str, settings: Sequence[str], below: str) -> None:
    """Fetch what a partial clone was promised of versions and pins: a launch will not ask."""
    words = ("rev-list", "--objects", "--missing=print", f"--glob={below}/*")
    lines = repo.git.output(*words).decode(errors="replace").split("\n")
    missing = "".join(f"{line[1:]}\n" for line in lines if line.startswith("?"))
    if missing:
        fetch = ("-c", "fetch.negotiationAlgorithm=noop", *WORDS, "--stdin", remote)
        done = repo.git.run(*settings, *fetch, data=missing.encode())
        if done.code != 0:
            raise failed(remote, done)
