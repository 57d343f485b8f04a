"""What a word on the command line means: a version, a pin.

`NAME@7`, `NAME@channel`, `b3:PREFIX`, `session:ID` and `path:P` are explicit. A bare word is tried
as all of them; two matches are an error that names both (DESIGN §2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, UsageError
from pvc.model.digest import KEYED_TAG, SIZE_HEX, TAG
from pvc.model.names import ChannelName, SessionId, TreeName, whole_number

if TYPE_CHECKING:
    from pvc.model.names import CommitId
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, VersionInfo

SESSION = "session:"
NEAR_PINS = 200
"""How many of the newest pins are looked through for a session of a similar name."""
NEAR_TREES = 3
"""How many trees without versions a hint names."""
KINDS: tuple[Kind, ...] = ("trees", "packs")


@dataclass(frozen=True, slots=True)
class Selected:
    """One version or one pin; exactly one of them is set."""

    version: VersionInfo | None = None
    pin: Pin | None = None


def select(repo: Repository, word: str) -> Selected:
    """Find what `word` names. Raises `NotFoundError`, or `UsageError` when it names two things."""
    if word.startswith((SESSION, TAG, KEYED_TAG)):
        return Selected(pin=select_pin(repo, word))
    if "@" in word and _named(repo, word.split("@", maxsplit=1)[0]):
        return Selected(version=select_version(repo, word))
    name = _named(repo, word)
    pins = _sessions(repo, word)
    if name and pins:
        raise UsageError(
            f"`{word}` is a {name.removesuffix('s')} and a session",
            hint=f"say `{SESSION}{word}` or `{word}@{select_version(repo, word).number}`",
        )
    if name:
        return Selected(version=select_version(repo, word))
    if pins:
        return Selected(pin=pins[0])
    _must_be_fetched(repo, word)
    raise NotFoundError(
        f"`{word}` is no tree, pack or session here", hint=_hint(repo, word, sessions=True)
    )


def select_version(repo: Repository, word: str) -> VersionInfo:
    """Find the version that `NAME`, `NAME@7` or `NAME@channel` names."""
    from pvc.store.versions import at_ref, find, must_be_here

    name, at, label = word.partition("@")
    kind = _named(repo, name)
    if kind is None:
        _must_be_fetched(repo, name)
        raise NotFoundError(f"no tree or pack `{name}` here", hint=_hint(repo, name))
    if not at:
        return find(repo, kind, name)
    if label.isdecimal():
        return find(repo, kind, name, whole_number(label) or 0)
    ref = f"refs/pvc/channels/{name}/{ChannelName(label)}"
    move = repo.ref(ref)
    if move is None:
        raise NotFoundError(f"`{name}` has no channel `{label}`", hint=_channels(repo, name, label))
    must_be_here(repo, ref, move)
    return at_ref(repo, move, ref, kind, name)


def tree_version(directory: str, word: str) -> CommitId:
    """Find the commit of a tree's version for a launch, which pins no pack."""
    from pvc.store.open import open_repository

    version = select_version(open_repository(directory, offline=True), word)
    if version.kind != "trees":
        raise NotFoundError(
            f"`{version.name}` is a pack, and only a tree can be pinned", hint="pvc log lists trees"
        )
    return version.id


def _channels(repo: Repository, name: str, label: str) -> str:
    """Word a hint for a channel that is not there."""
    from pvc.store.channels import names
    from pvc.store.versions import near

    known = names(repo, name)
    return near(label, known) if known else f"pvc promote {name} {label} -m REASON makes it"


def select_pin(repo: Repository, word: str) -> Pin:
    """Find the newest pin of a session, or the one pin whose prompt or receipt begins so."""
    from pvc.store.ledger import Ledger

    if word.startswith((TAG, KEYED_TAG)):
        pins = Ledger(repo).digest(word) or _keyed(repo, word)
        if len({pin.prompt for pin in pins}) > 1:
            digits = word[len(TAG) :]
            begun = {
                pin.prompt if pin.prompt.hex.startswith(digits) else pin.receipt for pin in pins
            }
            names = ", ".join(sorted(digest.short for digest in begun))
            raise UsageError(f"`{word}` begins {len(begun)} digests", at=names, hint="more digits")
    else:
        pins = _sessions(repo, word.removeprefix(SESSION))
    if not pins:
        raise NotFoundError(
            f"no pin `{word}` here",
            hint=_damage(repo) or "pvc log --pins; pvc sync fetches others'",
        )
    return pins[0]


def _keyed(repo: Repository, word: str) -> tuple[Pin, ...]:
    """Look for a whole digest as a record holds it under this user's key."""
    from pvc.launch import seal, settings
    from pvc.launch.place import Place
    from pvc.store.ledger import Ledger

    place = Place(str(repo.git_dir), str(repo.common_dir))
    key = seal.read(place, settings.read(place).key)
    if key is None or len(word) != len(TAG) + SIZE_HEX:
        return ()
    return Ledger(repo).digest(key.seal(word))


def _damage(repo: Repository) -> str:
    """Word a hint where records are damaged: what was asked for may be among them."""
    from pvc.store.ledger import Ledger

    damage = Ledger(repo).spool_damage()
    return f"it may be among what is damaged: {damage[0]}" if damage else ""


def _sessions(repo: Repository, session: str) -> tuple[Pin, ...]:
    from pvc.store.ledger import Ledger

    try:
        return Ledger(repo).session(SessionId(session))
    except UsageError:
        return ()  # a word that no session can have, such as a long path


def _must_be_fetched(repo: Repository, word: str) -> None:
    from pvc.ops.fresh import must_be_fetched  # only a mistake pays for loading it

    must_be_fetched(repo, word)


def _named(repo: Repository, name: str) -> Kind | None:
    """Tell the kind of the tree or pack of that name; null when there is none."""
    for kind in KINDS:
        if _is_ref_name(name) and repo.ref(f"refs/pvc/{kind}/{name}"):
            return kind
    return None


def _is_ref_name(name: str) -> bool:
    try:
        TreeName(name)
    except UsageError:
        return False
    return True


def _hint(repo: Repository, word: str, *, sessions: bool = False) -> str:
    """Offer the near name, of trees and packs, with `sessions` of the newest pins too."""
    from difflib import get_close_matches

    from pvc.ops.fresh import said, unfetched
    from pvc.store.ledger import Ledger
    from pvc.store.versions import names

    lacking = unfetched(repo)
    known = [*lacking, *(name for kind in KINDS for name in names(repo, kind))]
    if sessions:
        known += [pin.session for pin in Ledger(repo).newest(NEAR_PINS)]
    near = get_close_matches(word.split("@", maxsplit=1)[0], known, 1)
    if near:
        return f"did you mean `{near[0]}`?"
    remote = any(f"/{word}" in ref for ref, _ in repo.refs("refs/pvc/remotes/"))
    if remote:
        return "it is on a remote: pvc sync"
    if sessions and len(word) >= 4 and not set(word) - set("0123456789abcdef"):
        return f"a digest is written `{TAG}{word}`"
    if lacking:
        return _damage(repo) or "; ".join(map(said, lacking[:NEAR_TREES]))
    if sessions:
        return _damage(repo) or "pvc log lists trees; pvc log --pins lists sessions"
    return f"pvc log lists trees; pvc supersede {word} -m REASON makes the first version of one"
