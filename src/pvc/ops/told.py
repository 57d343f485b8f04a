"""What a session was told at each of its pins: the version's blocks and the entries since.

Rule 1: nothing of a prompt is remembered; it is rendered from the version, the values and the
entries' texts, and held against the digest that was pinned.
Rule 2: a pin's predecessors are found by receipt, as in `launch.entry`.
Rule 3: whoever needs the exact bytes asks for `rendered`. Whoever can do with less asks for `told`:
where values are not in this clone, placeholders stand in their places, and the answer says so.
Bytes that are here and are not what their digest says are an error for both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pvc.core.compile import Program, compile_pack
from pvc.core.entries import with_entries
from pvc.core.json_text import parse_stored
from pvc.core.program import run as run_program
from pvc.core.stand_in import stand_in
from pvc.errors import CorruptError, NotFoundError, UsageError
from pvc.launch.entry import CONTEXT
from pvc.model.pin import Privacy
from pvc.model.session import Mode
from pvc.model.span import Rendered, Span, Unversioned, lift
from pvc.ops.absent import Absence, NotHereError, absent
from pvc.ops.pins import body_of, version_of
from pvc.ops.programs import pack_of
from pvc.store.bodies import Bodies
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pvc.core.entries import Entry
    from pvc.core.json_text import Value
    from pvc.core.stand_in import Mark
    from pvc.model.digest import Digest
    from pvc.model.names import CommitId
    from pvc.model.pack import Pack
    from pvc.model.pin import Pin
    from pvc.model.tombstone import Tombstone
    from pvc.store.repo import Repository


NOT_HERE = "tool definitions that are not in this clone"


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a pinned prompt: its first `certain` bytes are as they were pinned.

    Where `absent` names something, placeholders stand for it in the rest.
    """

    rendered: Rendered
    certain: int
    absent: tuple[Absence, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether these are the bytes that were pinned."""
        return self.certain == len(self.rendered.data) and not self.absent


@dataclass
class Teller:
    """Renders pins again; each version, session and text is read once."""

    repo: Repository
    _packs: dict[CommitId, tuple[Pack, Program]] = field(default_factory=dict)
    _chains: dict[tuple[str, str], dict[Digest, Pin]] = field(default_factory=dict)
    _bodies: dict[Digest, bytes] = field(default_factory=dict)
    _store: Bodies = field(init=False)

    def __post_init__(self) -> None:
        self._store = Bodies(self.repo)

    def tip(self, session: str, chain: str) -> Pin:
        """Find the newest pin of a session's chain. Raises `NotFoundError` when there is none."""
        pins = self._chain(session, chain).values()
        if not pins:
            raise NotFoundError(
                f"session `{session}` is not pinned here"
                + ("" if chain == "main" else f" in chain `{chain}`"),
                hint="pvc log --pins lists sessions; pvc sync fetches others'",
            )
        return max(pins, key=lambda pin: (pin.n, *pin.order))

    def rendered(self, pin: Pin) -> Rendered:
        """Give a pinned prompt: rendered again, or, where that cannot be, as it was kept.

        Raises `CorruptError` when other bytes come out than were pinned.
        """
        try:
            rendered = self.render(pin)
        except NotFoundError:
            whole = self._store.read(pin.prompt) if pin.privacy is Privacy.BYTES else None
            if whole is None:
                raise
            return as_it_was(whole)
        if rendered.digest != pin.prompt:
            raise CorruptError(
                f"session `{pin.session}` renders to {rendered.digest.short},"
                f" not {pin.prompt.short}",
                hint="pvc log shows its version; the stored version or values are not what was"
                " pinned",
            )
        return rendered

    def told(self, pin: Pin, *, mark: Mark | None = None, bare: bool = False) -> Told:
        """Give a pinned prompt as far as it is known; with `bare`, over placeholders at any rate.

        `mark` writes the placeholders. Raises `NotFoundError` when the version is not here, or the
        bytes of what was only observed.
        """
        if not bare:
            try:
                rendered = self.rendered(pin)
            except NotHereError:
                if pin.observed:
                    raise
            else:
                return Told(rendered, len(rendered.data))
        under = self.told_under(pin) if pin.context else pin
        absent = [*self._absent("values", under, self.values)]
        entries: list[Entry] = []
        lacking: set[int] = set()
        for entry in self.entries(under):
            missing = [*self._absent(f"entry {entry.n}", entry, self.text)]
            text = f"{{entry {entry.n}}}".encode() if missing else self.text(entry)
            lacking.update([entry.n] if missing else ())
            absent += missing
            if entry.entry:
                entries.append((entry.n, str(entry.entry.mode), text))
        program = with_entries(self._compiled(under)[1], entries)
        try:
            found = stand_in(program, mark, lacking)
        except UsageError as error:
            raise NotFoundError(
                f"the values of session `{pin.session}` are not here, and its form has no"
                f" placeholders: {error.message}"
            ) from None
        if found.rendered.digest == pin.prompt:  # nothing of it depends on what is not here
            return Told(found.rendered, len(found.rendered.data))
        return Told(found.rendered, found.certain, tuple(absent))

    def _absent(self, what: str, pin: Pin, read: Callable[[Pin], object]) -> Iterator[Absence]:
        """Tell whether something of a pin cannot be read, and why."""
        try:
            read(pin)
        except NotHereError as error:
            yield Absence.of(what, pin, error)

    def tools(self, pin: Pin) -> tuple[Value, tuple[Absence, ...]]:
        """Read the tools of a pin; where they are not here, one stands in that their digest names.

        So equal digests give equal bytes, and other ones do not.
        """
        if pin.tools is None:
            return None, ()
        what = f"the tools of session `{pin.session}`"
        try:
            return parse_stored(self.body(pin.tools, what, pin), what), ()
        except NotHereError as error:
            name = f"tools_{pin.tools.hex[:12]}"
            tool: Value = {"name": name, "description": NOT_HERE, "input_schema": {}}
            return [tool], (Absence.of("tools", pin, error),)

    def render(self, pin: Pin, values: dict[str, object] | None = None) -> Rendered:
        """Render a pin again, or over other values, whatever comes out."""
        if pin.observed:
            return as_it_was(self.body(pin.prompt, f"the bytes of session `{pin.session}`", pin))
        if pin.context:
            pin = self.told_under(pin)
        values = self.values(pin) if values is None else values
        entries = [
            (entry.n, str(entry.entry.mode), self.text(entry))
            for entry in self.entries(pin)
            if entry.entry
        ]
        program = with_entries(self._compiled(pin)[1], entries)
        return lift(*run_program(program, values))

    def values(self, pin: Pin) -> dict[str, object]:
        """Read the environment of a pin."""
        data = self.body(pin.environment, f"the values of session `{pin.session}`", pin)
        values = parse_stored(data, "a body of values")
        if not isinstance(values, dict):
            raise CorruptError(f"the values of session `{pin.session}` are no object")
        return {**values}

    def pack(self, pin: Pin) -> Pack:
        """Decode the version of a pin."""
        return self._compiled(pin)[0]

    def text(self, pin: Pin) -> bytes:
        """Read the text of an entry."""
        digest = pin.entry.digest if pin.entry else None
        return self.body(digest, f"the words of entry {pin.n} of session `{pin.session}`", pin)

    def entries(self, pin: Pin) -> tuple[Pin, ...]:
        """Give the pins whose entries make up the prompt at `pin`: from the last replace on."""
        found: list[Pin] = []
        for at in self.back(pin):
            if at.entry is None:
                break
            found.append(at)
            if at.entry.mode is Mode.REPLACE:
                break
        return tuple(reversed(found))

    def back(self, pin: Pin) -> Iterable[Pin]:
        """Walk from a pin to the session's first, by what each supersedes."""
        at: Pin | None = pin
        while at is not None:
            yield at
            if at.supersedes is None:
                return
            before = at.supersedes
            at = self._chain(pin.session, pin.chain).get(before)
            if at is None:
                raise NotFoundError(
                    f"a pin of session `{pin.session}` is not in this clone",
                    at=before.short,
                    hint="pvc sync",
                )

    def at(self, pin: Pin, n: int) -> Pin:
        """Find the pin of an earlier position. Raises `NotFoundError` when there is none."""
        for earlier in self.back(pin):
            if earlier.n == n:
                return earlier
        raise NotFoundError(f"session `{pin.session}` has no position {n}", hint=f"0 to {pin.n}")

    def chain(self, pin: Pin) -> tuple[Pin, ...]:
        """Give all pins up to `pin`, oldest first."""
        return tuple(reversed([*self.back(pin)]))

    def body(self, digest: Digest | None, what: str, pin: Pin | None = None) -> bytes:
        """Read a body that `pin` names. Raises `NotHereError`, saying why it is not here."""
        if digest is None:
            return body_of(self.repo, None, what)
        if digest not in self._bodies:
            data = self._store.read(digest)
            if data is None:
                raise absent(self.repo, digest, what, pin, self._tombstones)
            self._bodies[digest] = data
        return self._bodies[digest]

    @cached_property
    def _tombstones(self) -> tuple[Tombstone, ...]:
        return read_tombstones(self.repo)

    def _chain(self, session: str, chain: str) -> dict[Digest, Pin]:
        from pvc.store.ledger import Ledger

        key = (session, chain)
        if key not in self._chains:
            pins = Ledger(self.repo).session(session, chain)
            self._chains[key] = {pin.receipt: pin for pin in pins}
        return self._chains[key]

    def told_under(self, delivery: Pin) -> Pin:
        """Find the pin under whose prompt context was delivered."""
        chain = delivery.chain.removesuffix(CONTEXT)
        pins = self._chain(delivery.session, chain).values()
        same = [pin for pin in pins if pin.prompt == delivery.prompt]
        if not same:
            raise NotFoundError(f"the prompt of session `{delivery.session}` is not in this clone")
        return max(same, key=lambda pin: pin.order)

    def _compiled(self, pin: Pin) -> tuple[Pack, Program]:
        if pin.commit is None or pin.commit not in self._packs:
            version = version_of(self.repo, pin)
            pack = pack_of(self.repo, version)
            self._packs[version.id] = (pack, compile_pack(pack))
        return self._packs[pin.commit or version.id]


def as_it_was(data: bytes) -> Rendered:
    """Take bytes that were kept whole: of none of them is it known where they came from."""
    return Rendered(data, (Span(0, len(data), Unversioned()),) if data else (), (len(data),))
