"""Resume a session: whether what it was told still holds, and what a change would cost.

    given               compared with                          recorded, with a reason
    nothing             its own pin, rendered again            nothing
    values, a version   the version's blocks as pinned         a re-pin
    layer folders       what configuration wrote, by position  one replace, then appends
    a log               the entries that are pinned            the entries that are missing

Rule 1: no difference, no entry. A difference is told with its first byte, whose it is and what it
costs before anything is recorded, and is recorded only for a reason.
Rule 2: a session stays at its version. That a newer one was adopted is said, and no difference.
Rule 3: entries of others are no difference. Where a re-seed would take them out, they are named.
Rule 4: history is not rewritten: a log that contradicts what is pinned is told, never recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pvc.core.compile import compile_pack
from pvc.core.divergence import common_prefix
from pvc.core.entries import entry_number, with_entries
from pvc.core.program import run as run_program
from pvc.core.reconcile import reconcile
from pvc.dialects.panto import LAYERS, resolve
from pvc.dialects.panto_wire import read_log
from pvc.errors import NotFoundError, RefusedError, UsageError
from pvc.launch.entry import Change
from pvc.model.manifest import Form
from pvc.model.session import CONFIG, SystemEntry, entries_of
from pvc.model.span import FromBinding, FromSource, Glue, Rendered, lift
from pvc.ops.pins import tools_of, version_of
from pvc.ops.programs import pack_of
from pvc.ops.recorded import recorded
from pvc.ops.request import read_file
from pvc.ops.session import MAIN, costs_of_change, heed_change, pinner, record, tip
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pvc.model.pack import Pack
    from pvc.model.pin import Pin
    from pvc.model.span import Span
    from pvc.ops.blame import BlameRun
    from pvc.ops.cost import Cost
    from pvc.ops.price import Lost
    from pvc.ops.recorded import Row
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

Status = Literal["same", "differs", "recorded"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a session is resumed with; at most one of the three kinds."""

    environment: Mapping[str, object] | None = None
    version: VersionInfo | None = None
    layers: Mapping[str, Path] = field(default_factory=dict)
    log: bytes | None = None
    reason: str = ""
    """Why a difference is recorded; empty is not at all."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte that a resume would change. `pinned` and `given` say whose it is."""

    byte: int
    pinned: BlameRun | None
    given: str
    costs: tuple[Cost, ...]

    @property
    def lost(self) -> Lost:
        """What is lost at worst."""
        return self.costs[0].lost

    def to_json(self) -> dict[str, object]:
        """Keys of `difference` in `pvc.resume/1`."""
        return {
            "byte": self.byte,
            "pinned": self.pinned.to_json() if self.pinned else None,
            "given": self.given,
            "lost": self.lost.to_json(),
            "costs": [cost.to_json() for cost in self.costs],
        }


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a resume found, and what it recorded."""

    pin: Pin
    """The newest pin of the session, after whatever was recorded."""
    status: Status
    notes: tuple[str, ...] = ()
    difference: Difference | None = None
    entries: tuple[SystemEntry, ...] = ()
    """Entries that were recorded, or would be."""
    discarded: tuple[Pin, ...] = ()
    """Entries of others that recording takes out of the prompt."""

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.resume/1`."""
        return {
            "schema": "pvc.resume/1",
            "session": self.pin.session,
            "chain": self.pin.chain,
            "n": self.pin.n,
            "status": self.status,
            "version": self.pin.label or None,
            "prompt_digest": self.pin.prompt,
            "receipt": self.pin.receipt,
            "difference": self.difference.to_json() if self.difference else None,
            "entries": [
                {"mode": str(e.mode), "author": e.author or None, "bytes": len(e.data)}
                for e in self.entries
            ],
            "discarded": [
                {"n": pin.n, "author": pin.entry.author if pin.entry else None}
                for pin in self.discarded
            ],
            "notes": list(self.notes),
        }


def run(repo: Repository, session: str, wanted: Wanted, chain: str = MAIN) -> Resumed:
    """Resume a session. Raises `RefusedError` when a log cannot be brought together with it."""
    kinds = (wanted.environment is not None or wanted.version, wanted.layers, wanted.log)
    if sum(kind not in (None, False) and kind != {} for kind in kinds) > 1:
        raise UsageError("values, layer folders and a log are three questions", hint="ask one")
    for name in wanted.layers:
        if name not in LAYERS:
            raise UsageError(f"no layer `{name}`", hint=", ".join(LAYERS))
    newest = tip(repo, session, chain)
    found = _Resume(repo, newest, wanted)
    if wanted.log is not None:
        return found.with_log(wanted.log)
    if wanted.layers:
        return found.with_layers()
    if kinds[0]:
        return found.with_values()
    return found.unchanged()


class _Resume:
    """One resume of one session."""

    def __init__(self, repo: Repository, newest: Pin, wanted: Wanted) -> None:
        self.repo = repo
        self.newest = newest
        self.wanted = wanted
        self.teller = Teller(repo)
        self.now = self.teller.rendered(newest)
        self.standing = self.teller.entries(newest)
        self.notes = [*self._adopted(), *self._foreign()]

    # --- the four questions -----------------------------------------------------------------

    def unchanged(self, *more: str) -> Resumed:
        return Resumed(self.newest, "same", (*self.notes, *more))

    def with_values(self) -> Resumed:
        seed = next(pin for pin in self.teller.back(self.newest) if pin.entry is None)
        version = self.wanted.version or version_of(self.repo, seed)
        values = self.wanted.environment
        if values is None:
            values = self.teller.values(seed)
        new = lift(*run_program(compile_pack(pack_of(self.repo, version)), values))
        if new.digest == seed.prompt:
            moved = () if version.id == seed.commit else (f"{version.label} gives the same bytes",)
            return self.unchanged(*moved)
        lost = tuple(pin for pin in self.standing if _is_foreign(pin))
        found = Resumed(
            self.newest, "differs", tuple(self.notes), self._difference(new, {}, version), (), lost
        )
        return self._repinned(found, version, values) if self.wanted.reason else found

    def with_layers(self) -> Resumed:
        if self.newest.observed or self.teller.pack(self.newest).form != Form.PANTO:
            raise UsageError("only a session of form `panto` has layers")
        rows = recorded(self.teller, self.newest)
        named = self._layer_blocks(self.teller.pack(self.newest))
        found = reconcile([row.entry for row in rows], [data for _, data in named])
        if not found.record:
            return self.unchanged()
        names = {f"/entries/{self.newest.n + 1 + i}": path for i, (path, _) in enumerate(named)}
        lost = tuple(rows[i].pin for i in found.discarded)
        return self._reseeded(found.record, names, lost)

    def with_log(self, data: bytes) -> Resumed:
        log = read_log(data)
        if log.cut:
            line = data.count(b"\n") + 1
            self.notes.append(f"line {line} is cut off: {len(log.cut)} bytes were left out")
        rows, told = recorded(self.teller, self.newest), entries_of(log.messages)
        same = _common(rows, told)
        if same < min(len(rows), len(told)):
            return self._contradicted(rows, told, same)
        if len(told) < len(rows):
            missing = len(rows) - len(told)
            self.notes.append(
                f"the log lacks the last {missing} of {len(rows)} entries; the pins hold them:"
                f" pvc session log {self.newest.session} --lines"
            )
        if same == len(told):
            return self.unchanged()
        entries = tuple(told[same:])
        found = self._differs(entries, {}, ())
        return self._recorded(found, entries) if self.wanted.reason else found

    def _contradicted(self, rows: list[Row], told: Sequence[SystemEntry], at: int) -> Resumed:
        pin = rows[at].pin
        note = (
            f"entry {at + 1} of the log is not what was pinned at position {pin.n}"
            f" ({len(told[at].data)} bytes against {len(rows[at].entry.data)})"
        )
        if self.wanted.reason:
            raise RefusedError(note, hint="a pin is never rewritten; resume without `--record`")
        return Resumed(self.newest, "differs", (*self.notes, note))

    # --- recording --------------------------------------------------------------------------

    def _reseeded(
        self, entries: tuple[SystemEntry, ...], names: Mapping[str, str], lost: tuple[Pin, ...]
    ) -> Resumed:
        found = self._differs(entries, names, lost)
        return self._recorded(found, entries) if self.wanted.reason else found

    def _differs(
        self, entries: tuple[SystemEntry, ...], names: Mapping[str, str], lost: tuple[Pin, ...]
    ) -> Resumed:
        new = self._with(entries)
        difference = self._difference(new, names)
        return Resumed(self.newest, "differs", tuple(self.notes), difference, entries, lost)

    def _recorded(self, found: Resumed, entries: tuple[SystemEntry, ...]) -> Resumed:
        changes = [Change(e.data, str(e.mode), e.author, self.wanted.reason) for e in entries]
        notes = [note for change in changes for note in heed_change(self.repo, change)]
        pins = record(self.repo, self.newest.session, changes, chain=self.newest.chain)
        return replace(found, pin=pins[-1], status="recorded", notes=(*found.notes, *notes))

    def _repinned(
        self, found: Resumed, version: VersionInfo, values: Mapping[str, object]
    ) -> Resumed:
        from pvc.launch.call import Call

        call = Call()
        call.session, call.chain, call.tree = self.newest.session, self.newest.chain, version.label
        call.environment = {**values}  # type: ignore[dict-item]  # parsed JSON, as `parse` gave it
        call.tools = tools_of(self.repo, self.newest)
        call.provider, call.model = self.newest.provider or "", self.newest.model or ""
        call.repin, call.must_record = self.wanted.reason, True
        call.check()
        answer = pinner(self.repo).pin([call])[0]
        if answer.error is not None:
            raise answer.error
        pin = tip(self.repo, self.newest.session, self.newest.chain)
        notes = (*found.notes, *answer.notes)
        return replace(found, pin=pin, status="recorded", notes=notes)

    # --- what differs -----------------------------------------------------------------------

    def _with(self, entries: Sequence[SystemEntry]) -> Rendered:
        """Render the prompt as it would be after `entries`."""
        had = [(p.n, str(p.entry.mode), self.teller.text(p)) for p in self.standing if p.entry]
        first = self.newest.n + 1
        more = [(first + i, str(entry.mode), entry.data) for i, entry in enumerate(entries)]
        program = with_entries(compile_pack(self.teller.pack(self.newest)), [*had, *more])
        return lift(*run_program(program, self.teller.values(self.newest)))

    def _difference(
        self, new: Rendered, names: Mapping[str, str], at_version: VersionInfo | None = None
    ) -> Difference:
        from pvc.ops.blame import blame

        at = common_prefix(self.now.data, new.data)
        pinned = None
        if at < len(self.now.data) and not self.newest.observed:
            version = version_of(self.repo, self.newest)
            place = max(_first_told(self.now, at).start, at)
            pinned = blame(self.repo, self.now, version, (place, place + 1), self.standing)[0]
        given = _owner(_first_told(new, at), names) if at < len(new.data) else "nothing"
        return Difference(
            at, pinned, given, costs_of_change(self.repo, self.newest, self.now, new, at_version)
        )

    def _layer_blocks(self, pack: Pack) -> list[tuple[str, bytes]]:
        """Choose the blocks of the live folders; layers that are not given are the version's."""
        layers: dict[str, dict[str, tuple[str, bytes]]] = {name: {} for name in LAYERS}
        builtin = ("SYSTEM.md", b"")
        for part in pack.sections:
            folder, _, name = part.name.rpartition("/")
            layer = folder.removeprefix("layers/")
            if layer in layers and layer not in self.wanted.layers:
                layers[layer][name] = (part.name, part.template)
            elif not folder:
                builtin = (part.name, part.template)
        for layer, folder_path in self.wanted.layers.items():
            layers[layer] = _live(layer, folder_path)
        return [*resolve(layers, builtin)]

    # --- notes ------------------------------------------------------------------------------

    def _adopted(self) -> list[str]:
        from pvc.store.versions import tip as newest_version

        pin = self.newest
        newest = newest_version(self.repo, "trees", pin.tree) if pin.tree else None
        if newest is None or newest.id == pin.commit or self.wanted.version is not None:
            return []
        stays = f"{newest.label} was adopted since; session {pin.session} stays at {pin.label}"
        cost = f"pvc session resume {pin.session} {newest.label} tells what moving costs"
        return [f"{stays} ({cost})"]

    def _foreign(self) -> list[str]:
        authors = [p.entry.author for p in self.standing if _is_foreign(p) and p.entry]
        if not authors:
            return []
        count = f"{len(authors)} entry" if len(authors) == 1 else f"{len(authors)} entries"
        return [f"{count} of others: {', '.join(dict.fromkeys(authors))}"]


def _is_foreign(pin: Pin) -> bool:
    return pin.entry is not None and pin.entry.author not in ("", CONFIG)


def _common(rows: list[Row], told: Sequence[SystemEntry]) -> int:
    """Count the entries that pins and log begin with alike; authors do not count."""
    pairs = zip(rows, told, strict=False)
    same = ((r.entry.mode, r.entry.data) == (entry.mode, entry.data) for r, entry in pairs)
    return next((i for i, one in enumerate(same) if not one), min(len(rows), len(told)))


def _live(layer: str, folder: Path) -> dict[str, tuple[str, bytes]]:
    """Read the files of a layer from its own folder; what is not there is not there."""
    if not folder.is_dir():
        raise NotFoundError(f"layer `{layer}` is no folder", at=str(folder))
    found = {}
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        path = folder / name
        if path.is_file():
            found[name] = (str(path), read_file(path, str(path)))
    return found


def _first_told(rendered: Rendered, at: int) -> Span:
    """Find the span at a byte; where that is a joint, what the joint leads to."""
    spans = [span for span in rendered.spans if span.end > at]
    return next((span for span in spans if not isinstance(span.origin, Glue)), spans[0])


def _owner(span: Span, names: Mapping[str, str]) -> str:
    match span.origin:
        case FromSource(path=path):
            return f"`{path}`"
        case FromBinding(pointer=pointer) if pointer in names:
            return f"`{names[pointer]}`"
        case FromBinding(pointer=pointer) if (number := entry_number(pointer)) is not None:
            return f"entry {number}"
        case FromBinding(pointer=pointer):
            return f"the value `{pointer}`"
        case _:
            return "the form's own words"
