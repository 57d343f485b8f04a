"""Pinned sessions that share a prefix, and what a candidate would take from those that follow.

    pinned prompt   ██████████████████████
    base            ████████████████░░░░░░   what the next session shares with it now
    candidate       ██████████▒▒▒▒▒▒▒▒▒▒▒▒   and then: the difference is lost

Rule 1: what an earlier adoption lost already is not counted again.
Rule 2: prompts that are one are rendered once, however many sessions were pinned with them.
Rule 3: where a session's values are not in this clone, placeholders stand for them on all three
sides. A placeholder for what a value chooses tells by its name that one of the choices was edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.compile import compile_pack
from pvc.core.divergence import common_prefix
from pvc.core.program import run as run_program
from pvc.core.stand_in import stand_in, with_contents
from pvc.errors import NotFoundError, UsageError
from pvc.model.span import lift
from pvc.ops.absent import NotHereError
from pvc.ops.cost import Asked, Prompt, asked_of_pins, cost, manifest_of, tools_if_here
from pvc.ops.price import Lost, lost_bytes
from pvc.ops.programs import pack_of
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pvc.core.compile import Program
    from pvc.model.digest import Digest
    from pvc.model.manifest import Manifest, Provider
    from pvc.model.pack import Pack
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


class Window(NamedTuple):
    """Pins count that are at most `since_s` seconds older than `now_us`, in microseconds."""

    since_s: int
    now_us: int


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Sessions that were pinned with one prompt, and what a new one would no longer share."""

    prompt: Digest
    version: str
    sessions: tuple[str, ...]
    newest: int
    first_moved_byte: int
    lost: Lost
    is_about: bool = False
    """Whether placeholders stand for values that are not in this clone."""

    def to_json(self, *, listing: bool) -> dict[str, object]:
        """Keys of a shared prefix in `pvc.impact/1`."""
        row: dict[str, object] = {
            "prompt_digest": self.prompt,
            "version": self.version,
            "sessions": len(self.sessions),
            "newest": self.newest,
            "first_moved_byte": self.first_moved_byte,
            "lost": self.lost.to_json(),
            **({"about": True} if self.is_about else {}),
        }
        return row | ({"list": list(self.sessions)} if listing else {})


class Sessions:
    """The pinned sessions of the window, by the prompt that they share."""

    def __init__(
        self,
        repo: Repository,
        base: VersionInfo,
        packs: tuple[Pack, Pack],
        wanted: tuple[Manifest, Manifest],
        provider: Provider,
        window: Window,
    ) -> None:
        self._repo = repo
        self._base = base
        self._provider = provider
        self._sides = tuple(map(_Side.of, packs, wanted))
        self._versions: dict[str, _Side | None] = {base.id: self._sides[0]}
        self._pins = _latest(_pins_of(repo, base.name, window))
        self._teller = Teller(repo)
        self.unaffected = 0
        self.unknown = 0
        self.about = 0

    def prefixes(self) -> tuple[SharedPrefix, ...]:
        """Give the prefixes that would be lost, the costliest first."""
        groups: dict[tuple[object, ...], list[Pin]] = {}
        for pin in self._pins:
            groups.setdefault((pin.prompt, pin.tools, pin.provider, pin.model), []).append(pin)
        found = []
        for pins in groups.values():
            shared = self._shared(pins[0])
            self.about += len(pins) if shared and shared.is_about else 0
            if shared is None:
                self.unknown += len(pins)
            elif not shared.lost.size_bytes:
                self.unaffected += len(pins)
            else:
                found.append(_prefix(pins, shared))
        return tuple(sorted(found, key=lambda one: (-one.lost.size_bytes, one.prompt)))

    def _shared(self, pin: Pin) -> _Shared | None:
        """Price what the next session would share with this one now, and then no longer.

        Null when the version is not here, or the candidate asks for other values.
        """
        own = self._version(pin)
        if own is None:
            return None
        values: Mapping[str, object] | None
        try:
            values = self._teller.values(pin)
        except NotHereError:
            values = None
        try:
            pinned = own.prompt(values)
            now = pinned if own is self._sides[0] else self._sides[0].prompt(values)
            then = self._sides[1].prompt(values)
        except UsageError:
            return None
        first = common_prefix(pinned.rendered.data, then.rendered.data)
        tools = tools_if_here(self._repo, pin)
        asked = asked_of_pins(self._repo, pin, self._provider, tools)
        found = max((_lost(each, pinned, now, then, first) for each in asked), key=_size)
        return found._replace(is_about=values is None)

    def _version(self, pin: Pin) -> _Side | None:
        from pvc.ops.pins import version_of

        if pin.commit is None or pin.observed:
            return None
        if pin.commit not in self._versions:
            try:
                version = version_of(self._repo, pin)
                wanted = manifest_of(self._repo, version) or self._sides[0].wanted
                side = _Side.of(pack_of(self._repo, version), wanted)
            except NotFoundError:
                self._versions[pin.commit] = None
            else:
                self._versions[pin.commit] = side
        return self._versions[pin.commit]


class _Side(NamedTuple):
    """A version or candidate, ready to render."""

    pack: Pack
    program: Program
    wanted: Manifest

    @classmethod
    def of(cls, pack: Pack, wanted: Manifest) -> _Side:
        return cls(pack, compile_pack(pack), wanted)

    def prompt(self, values: Mapping[str, object] | None) -> Prompt:
        """Render it over values, or without any over placeholders."""
        if values is None:
            rendered = stand_in(self.program, with_contents).rendered
        else:
            rendered = lift(*run_program(self.program, fitting(self.pack, values)))
        return Prompt(rendered, self.pack, self.wanted.markers)


class _Shared(NamedTuple):
    """What is lost of a prefix that is shared now, and the first byte of it that moves."""

    first: int
    lost: Lost
    is_about: bool = False


def _size(shared: _Shared) -> int:
    return shared.lost.size_bytes


def _lost(asked: Asked, pinned: Prompt, now: Prompt, then: Prompt, first: int) -> _Shared:
    """Price what `now` shares with a pinned prompt and `then` does not."""
    kept = [cost(asked, pinned, each).reuse.kept for each in (now, then)]
    return _Shared(first, lost_bytes(max(0, kept[0] - kept[1]), asked.facts, asked.model))


def _prefix(pins: Sequence[Pin], shared: _Shared) -> SharedPrefix:
    return SharedPrefix(
        pins[0].prompt,
        pins[0].label,
        tuple(str(pin.session) for pin in pins),
        max(pin.time for pin in pins),
        shared.first,
        shared.lost,
        shared.is_about,
    )


def _pins_of(repo: Repository, tree: str, window: Window) -> tuple[Pin, ...]:
    """Give the pins of a tree that are young enough; reads no more of the ledger than it must."""
    from pvc.store.ledger import Ledger

    return Ledger(repo).newest(None, tree, since=window.now_us - window.since_s * 1_000_000)


def total_of(lost: Sequence[Lost]) -> Lost:
    """Add up what is written again; the price is unknown as soon as one is."""
    known = [one.cost for one in lost if one.cost is not None]
    return Lost(
        sum(one.size_bytes for one in lost),
        sum(one.tokens for one in lost),
        sum(one.tokens_low for one in lost),
        sum(one.tokens_high for one in lost),
        round(sum(known), 1) if len(known) == len(lost) else None,
    )


def fitting(pack: Pack, environment: Mapping[str, object]) -> dict[str, object]:
    """Leave out what a side has no field for: a binding may come or go with the edit."""
    known = {field.name for field in pack.fields}
    return {name: value for name, value in environment.items() if name in known}


def _latest(pins: Iterable[Pin]) -> list[Pin]:
    """Keep the newest pin of each chain of a session: the one that it goes by."""
    latest: dict[tuple[str, str], Pin] = {}
    for pin in pins:
        key = (pin.session, pin.chain)
        if key not in latest or latest[key].n < pin.n:
            latest[key] = pin
    return list(latest.values())
