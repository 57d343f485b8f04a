"""The dynamic plane of a session: what is true today, told beside the prompt and recorded.

    given now        wiki · branch            delivered before    wiki · references
    update           branch is new, references withdrawn; wiki is not said again

Rule 1: the sections that are given are all that is current. One that was delivered and is not given
is withdrawn. What a launch brought is no exception: its pin keeps what was current then, and a
later launch with other dynamic text has the same prompt, so it leaves no record. Such sections are
given again, with the launch's values (`--env`); the tree's own need not be.
Rule 2: only what the version lists under `dynamic` may be told here. Everything else stands in the
prompt, and changes with a version or with an entry of the session.
Rule 3: a delivery is a pin in a chain of its own, with the prompt's digest as it stands: it changes
nothing of the prompt. Its body holds each text once; later ones name the delivery that told it.
Rule 4: nothing new, nothing recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core import context
from pvc.core.json_text import Value, canonical, parse
from pvc.dialects import updates
from pvc.dialects.base import read_layers
from pvc.dialects.harness_catalogue import SECTION, delta
from pvc.dialects.harness_catalogue import skills as skills_of
from pvc.errors import CorruptError, DecodeError, NotFoundError, RefusedError, WriteError
from pvc.launch.entry import CONTEXT
from pvc.launch.known import Known
from pvc.launch.record import read as read_record
from pvc.model.digest import Digest
from pvc.model.manifest import Form
from pvc.ops import secrets
from pvc.ops.pins import version_of
from pvc.ops.session import MAIN, bare, pinner, tip
from pvc.ops.told import Teller
from pvc.store.codec import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.model.pin import Pin
    from pvc.store.repo import Repository

SCHEMA = "pvc.delivery/1"
ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Delivered:
    """An update: its message, what it lists, and the pin of the delivery (null: nothing new)."""

    prompt: Pin
    pin: Pin | None
    changed: tuple[str, ...]
    withdrawn: tuple[str, ...]
    message: str
    current: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.context/1`."""
        return {
            "schema": "pvc.context/1",
            "session": self.prompt.session,
            "chain": self.prompt.chain,
            "n": self.pin.n if self.pin else None,
            "changed": list(self.changed),
            "withdrawn": list(self.withdrawn),
            "current": list(self.current),
            "message": self.message,
            "prompt_digest": self.prompt.prompt,
            "receipt": self.pin.receipt if self.pin else None,
            "notes": list(self.notes),
        }


def run(
    repo: Repository,
    session: str,
    sections: Mapping[str, bytes],
    facts: Mapping[str, str],
    *,
    environment: Mapping[str, object] | None = None,
    chain: str = MAIN,
    whole: bool = False,
    skills: bool = False,
) -> Delivered:
    """Tell what changed of the dynamic plane, and record that it was told.

    `environment` holds the values of a launch as they are now: its dynamic sections count as given.
    With `whole` the message repeats all that is current, for a harness that keeps no updates. With
    `skills` the section of that name says what was adopted since among the tree's skills.
    """
    prompt = tip(repo, session, chain)
    plane = _Plane(repo, prompt, environment or {})
    given = {name: _text(name, data) for name, data in sections.items()} | {**facts}
    if skills:
        given[SECTION] = plane.catalogue()
    plane.refuse_others(given)
    for _ in range(ATTEMPTS):
        found = plane.deliver(given, frozenset(facts), whole=whole)
        if found is not None:
            return found
    raise WriteError(f"session `{session}` keeps changing", hint="try again")


def delivered(
    repo: Repository, session: str, n: int | None = None, chain: str = MAIN
) -> dict[str, str]:
    """Replay the deliveries of a session: all that was current after its `n`-th, or the newest."""
    teller = Teller(repo)
    newest = teller.tip(bare(session), chain + CONTEXT)
    pin = newest if n is None else teller.at(newest, n)
    return _Deliveries(teller).texts(pin)


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"byte {error.start} is no UTF-8", at=f"section `{name}`") from None


class _Plane:
    """The dynamic plane of one session."""

    def __init__(self, repo: Repository, prompt: Pin, environment: Mapping[str, object]) -> None:
        self.repo = repo
        self.prompt = prompt
        self.environment = environment
        self.teller = Teller(repo)
        if prompt.observed:
            raise RefusedError(
                f"session `{prompt.session}` was pinned from bytes that were sent",
                hint="which sections may change is said by a version's `dynamic`",
            )
        self.pack = self.teller.pack(prompt)

    def refuse_others(self, given: Iterable[str]) -> None:
        """Refuse what is not on the allowlist, and say where it goes instead."""
        allowed = self._allowed()
        for name in given:
            if name in allowed:
                continue
            known = f"; dynamic are {', '.join(sorted(allowed))}" if allowed else ""
            if self.pack.section(name) is not None:
                hint = "it stands in the prompt: pvc supersede adopts a change, pvc session append"
                hint += " adds to this session" + known
            else:
                hint = f'add `dynamic = ["{name}"]` to pvc.toml and supersede' + known
            raise RefusedError(
                f"section `{name}` may not change within a session of {self.prompt.label}",
                hint=hint,
            )

    def catalogue(self) -> str:
        """Say which skills the newest version has other than the session's own."""
        from pvc.store.versions import sources
        from pvc.store.versions import tip as newest_version

        pinned = version_of(self.repo, self.prompt)
        newest = newest_version(self.repo, pinned.kind, pinned.name) or pinned
        before, after = (skills_of(sources(self.repo, one)) for one in (pinned, newest))
        return delta(before, after)

    def _allowed(self) -> frozenset[str]:
        from pvc.store.versions import sources

        layers = read_layers(sources(self.repo, version_of(self.repo, self.prompt)))
        listed = {name for layer in layers for name in layer.manifest.dynamic}
        merge = self.pack.layout.merge
        return frozenset(listed | set(merge.dynamic if merge else ()))

    def deliver(
        self, given: Mapping[str, str], facts: frozenset[str], *, whole: bool
    ) -> Delivered | None:
        """Compare with what was delivered and record; null when another process was quicker."""
        teller = Teller(self.repo)  # a fresh one: another delivery may be in between
        before = self._newest(teller)
        known = _Deliveries(teller)
        told = known.texts(before) if before else {}
        now = context.update(told, {**self._own(), **given})
        shown = now.delivered if whole else {n: now.delivered[n] for n in now.changed}
        words = updates.message(self.pack, updates.Told(shown, facts, now.withdrawn))
        result = Delivered(
            self.prompt, None, now.changed, now.withdrawn, words, tuple(now.delivered)
        )
        if not now:
            return result
        n = before.n + 1 if before else 0
        body = self._body(n, now, facts, known.rows(before) if before else {})
        notes = secrets.heed(self.repo, body, "delivery")
        pin = self._record(before, body, n)
        return None if pin is None else replace(result, pin=pin, notes=notes)

    def _own(self) -> dict[str, str]:
        """Give the dynamic sections of the tree, and those of the launch's values that are given.

        A form whose launch brings no sections has none; its values say nothing here.
        """
        return context.current(self.pack, self.environment)

    def _newest(self, teller: Teller) -> Pin | None:
        try:
            return teller.tip(self.prompt.session, self.prompt.chain + CONTEXT)
        except NotFoundError:
            return None

    def _body(
        self, n: int, now: context.Update, facts: frozenset[str], earlier: Mapping[str, int]
    ) -> bytes:
        rows: list[Value] = []
        for name, text in now.delivered.items():
            digest = Digest.of(text.encode())
            row: dict[str, Value] = {"name": name, "digest": digest}
            if name in now.changed:
                row["text"] = text
            else:
                row["n"] = str(earlier[name])
            rows.append(row)
        value: dict[str, Value] = {
            "schema": SCHEMA,
            "sections": rows,
            "withdrawn": [*now.withdrawn],
        }
        if self.pack.form == Form.RAKU:
            value["run"] = self._run(n, now, facts, earlier)
        return canonical(value)

    def _run(
        self, n: int, now: context.Update, facts: frozenset[str], earlier: Mapping[str, int]
    ) -> Value:
        """Write the record that form `raku` keeps of a run: digests, and texts by reference."""
        whole = updates.context_of(now.delivered, facts)
        known = {
            pair.digest: f"{earlier[pair.name]}"
            for pair in whole.sections
            if pair.name not in now.changed
        }
        new = {pair.digest: f"{n}" for pair in whole.sections if pair.name in now.changed}
        record: Value = whole.to_record(f"{n}", {**new, **known})  # type: ignore[assignment]  # texts, lists and objects of them
        return record

    def _record(self, before: Pin | None, body: bytes, n: int) -> Pin | None:
        base = _known(self.prompt)
        made = pinner(self.repo).deliver(base, _known(before) if before else None, body, n)
        return decode(made.data) if made else None


class _Deliveries:
    """Bodies of deliveries, read back."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller

    def rows(self, pin: Pin) -> dict[str, int]:
        """Give each section that was current after a delivery, and which delivery told its text."""
        return {
            str(row["name"]): int(str(row["n"])) if "n" in row else pin.n
            for row in self._sections(pin)
        }

    def texts(self, pin: Pin) -> dict[str, str]:
        """Give the text of each section that was current after a delivery."""
        found: dict[str, str] = {}
        by_number = {earlier.n: earlier for earlier in self.teller.back(pin)}
        for row in self._sections(pin):
            name = str(row["name"])
            source = by_number.get(int(str(row["n"]))) if "n" in row else pin
            text = self._text(source, name) if source else None
            if text is None or Digest.of(text.encode()) != row["digest"]:
                raise CorruptError(f"delivery {pin.n} names a text of `{name}` that is not there")
            found[name] = text
        return found

    def _text(self, pin: Pin, name: str) -> str | None:
        for row in self._sections(pin):
            if row["name"] == name and "text" in row:
                return str(row["text"])
        return None

    def _sections(self, pin: Pin) -> list[dict[str, Value]]:
        what = f"delivery {pin.n} of session `{pin.session}`"
        data = self.teller.body(pin.context, f"the words of {what}", pin)
        value = parse(data.decode(), at=what)
        rows = value.get("sections") if isinstance(value, dict) else None
        if not isinstance(rows, list):
            raise CorruptError(f"{what} is damaged")
        return [row for row in rows if isinstance(row, dict)]


def _known(pin: Pin) -> Known:
    data = encode(pin)
    return Known(read_record(data), data, is_local=True)
