"""Why the second request missed the cache: verdict, byte, owner, what it cost.

`ops.request` reads the two sides, `core.miss` compares them, `ops.owner` finds who changed the
byte, `ops.price` what was lost, and here stands what to do about it.

Rule 1: files alone need no repository. Where one is here, its trees are asked whose text it is.
Rule 2: what the provider says (usage, its own diagnosis) is taken in, and disagreement is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pvc.core.json_text import parse
from pvc.core.miss import Context, Miss, compare
from pvc.core.stream import ANTHROPIC, CONVERSE
from pvc.dialects.manifest import near
from pvc.errors import DecodeError, NotFoundError, UnsupportedError, UsageError
from pvc.model.body import Kind, Verdict
from pvc.ops.absent import absent_json
from pvc.ops.owner import Owned, Owner, owner_of
from pvc.ops.price import Lost, lost_of
from pvc.ops.reconcile import disagreements
from pvc.ops.request import Request, Side, is_file, read_file, read_sides, requests_of
from pvc.ops.unseen import Found, judged
from pvc.providers.answers import answer_of
from pvc.providers.base import Facts, decode, detect_shape, is_anthropic
from pvc.providers.usage import Diagnosis, Usage, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.core.json_text import Value
    from pvc.model.body import Divergence
    from pvc.ops.absent import Absence
    from pvc.ops.request import Where
    from pvc.store.channels import ChannelMove
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

CONTEXT_KEYS = (
    *("provider", "endpoint", "relation", "same_account", "seconds_between", "usage_b"),
    *("diagnostics", "cache_miss_reason", "prompt_cache_diagnostics"),
)
Relation = Literal["next_turn", "new_session"]


@dataclass(frozen=True, slots=True)
class Missed:
    """The answer; `owner` is null when nothing differs inside the scope."""

    a: Side
    b: Side
    miss: Miss
    owner: Owner | None
    lost: Lost
    advice: Advice
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know: odd bodies, whose text it is, where the provider disagrees."""
    absent: tuple[Absence, ...] = ()
    """What placeholders stand for, because it is not in this clone: figures are about right."""

    @property
    def missed(self) -> bool:
        """Whether something that should be read back cannot be; false when that is not known."""
        return self.miss.verdict is Verdict.MISS

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.miss/1`: those of the cases, and owner, lost, advice, what was said."""
        said = self.diagnosis
        return {
            "schema": "pvc.miss/1",
            "a": self.a.label,
            "b": self.b.label,
            **self.miss.to_json(),
            "owner": self.owner.to_json() if self.owner else None,
            "lost": self.lost.to_json(),
            "advice": self.advice.text,
            "command": self.advice.command,
            "provider": {
                "missed": said.missed,
                "reason": said.reason,
                "missed_tokens": said.missed_tokens,
            }
            if said
            else None,
            "notes": list(self.notes),
            **absent_json(self.absent),
        }


@dataclass(frozen=True, slots=True)
class MissOptions:
    """What the caller knows besides the two requests; null is not known."""

    context_file: str | None = None
    relation: str | None = None
    seconds: float | None = None
    response_file: str | None = None
    facts_file: str | None = None
    tree: str | None = None


def run(where: Where, a: str, b: str | None, options: MissOptions) -> Missed:
    """Compare A with B; a lone session is compared with the pin before it."""
    if b is None:
        if is_file(where, a):
            raise UsageError(f"`{a}` is one request body", hint="pvc miss A B compares two")
        b, a = a, _before(where.repo, a)
    known = _known(where, options.context_file)
    response = _response(where, options.response_file)
    requests = requests_of(where, a, b)
    shape = _text(known.get("provider")) or requests[1].shape
    facts = _facts(where, options.facts_file, shape, requests[1])
    sides = read_sides(requests, shape, facts)
    diagnosis = Diagnosis.of(response) or Diagnosis.of(known)
    usage_b = response.get("usage") or known.get("usage_b")
    context = _context(known, sides, options, usage_b, diagnosis)
    asked: dict[tuple[int, Divergence], Owned] = {}

    def owned(sides: tuple[Side, Side], place: Divergence) -> Owned:
        key = (id(sides[1].body), place)
        if key not in asked:
            asked[key] = owner_of(where, sides, place, options.tree)
        return asked[key]

    def compared(sides: tuple[Side, Side]) -> Found:
        told = replace(context, origin=lambda place: owned(sides, place).origin)
        return Found(sides, compare(sides[0].body, sides[1].body, told))

    found = compared(sides)
    absent = tuple(dict.fromkeys(row for request in requests for row in request.absent))
    if absent:

        def again(requests: tuple[Request, Request]) -> Found:
            return compared(read_sides(requests, shape, facts))

        found = judged(where, requests, found, again)
    place = found.miss.first_divergence
    owner = owned(found.sides, place) if place else None
    result = _answer(where, found, owner, context, diagnosis, facts)
    return replace(result, absent=absent) if absent else result


def _answer(
    where: Where,
    found: Found,
    owned: Owned | None,
    context: Context,
    diagnosis: Diagnosis | None,
    facts: Facts | None,
) -> Missed:
    sides, miss = found
    notes = list(miss.notes)
    owner = owned.owner if owned else None
    if owned:
        notes += owned.notes
    usage = Usage.of(context.usage_b) if context.usage_b else None
    notes += disagreements(miss, diagnosis, usage)
    lost = lost_of(
        miss,
        sides[0].body,
        sides[1].body,
        usage_b=context.usage_b,
        facts=facts,
        config=_config(where),
    )
    advice = advise(miss, owned, _Sessions(where, sides))
    return Missed(sides[0], sides[1], miss, owner, lost, advice, diagnosis, tuple(notes))


def _config(where: Where) -> Callable[[str], str | None]:
    """Give what reads git's settings; it finds none where there is no repository to ask."""

    def read(name: str) -> str | None:
        try:
            return where.repo.config(name)
        except (NotFoundError, UnsupportedError):
            return None

    return read


def _before(repo: Repository, word: str) -> str:
    """Find the session that was pinned before this one, of the same tree and chain."""
    from pvc.ops.select import SESSION, select
    from pvc.store.ledger import Ledger

    pin = select(repo, word).pin
    if pin is None:
        raise UsageError(f"`{word}` is no session", hint="pvc miss A B compares two")
    for other in Ledger(repo).newest(None, pin.tree):
        if other.chain == pin.chain and (other.time, other.receipt) < (pin.time, pin.receipt):
            return f"{SESSION}{other.session}" if other.session != pin.session else other.receipt
    raise NotFoundError(f"no pin of `{pin.tree}` before session `{pin.session}`")


# --- what is known besides ------------------------------------------------------------------


def _object(where: Where, file: str | None, what: str) -> dict[str, Value]:
    """Read a JSON object from a file; an absent file gives an empty one."""
    if file is None:
        return {}
    data = read_file(Path(where.directory) / file, file)
    value = parse(data.decode("utf-8", "replace"), at=file, duplicates=[])
    if not isinstance(value, dict):
        raise DecodeError(f"{what} is a JSON object", at=file)
    return value


def _response(where: Where, file: str | None) -> dict[str, Value]:
    """Read what came back for B, whole or as a stream; an absent file gives an empty one."""
    return answer_of(read_file(Path(where.directory) / file, file), file) if file else {}


def _known(where: Where, file: str | None) -> dict[str, Value]:
    """Read a context; an unknown key would count for nothing, so it is refused."""
    value = _object(where, file, "a context")
    for key in value:
        if key not in CONTEXT_KEYS:
            raise UsageError(f"unknown key `{key}`", at=file or "", hint=near(key, CONTEXT_KEYS))
    return value


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _facts(where: Where, file: str | None, shape: str | None, b: Request) -> Facts | None:
    """Read a user's facts over those of the provider that B speaks to."""
    if file is None:
        return None
    shape = shape or detect_shape(decode(b.body_json, b.label).value, b.label)
    provider = "anthropic" if shape in (ANTHROPIC, CONVERSE) else "openai"
    return Facts.over(provider, read_file(Path(where.directory) / file, file), at=file)


def _context(
    known: dict[str, Value],
    sides: tuple[Side, Side],
    options: MissOptions,
    usage_b: Value,
    diagnosis: Diagnosis | None,
) -> Context:
    a, b = sides
    seconds = options.seconds
    if seconds is None and (given := known.get("seconds_between")) is not None:
        seconds = _seconds(given)
    if seconds is None and a.pin and b.pin:
        seconds = max(0.0, (b.pin.time - a.pin.time) / 1e6)
    relation = _relation(options.relation or known.get("relation"))
    if relation is None and a.pin and b.pin:
        relation = "new_session"
    same_account = known.get("same_account")
    if same_account is None and a.pin and b.pin:
        same_account = True  # one repository's sessions, until somebody says otherwise
    return Context(
        provider=a.body.shape,
        relation=relation,
        seconds_between=seconds,
        same_account=same_account if isinstance(same_account, bool) else None,
        usage_b=plain_numbers(usage_b) if isinstance(usage_b, dict) else None,
        own_endpoint=is_anthropic(endpoint) if (endpoint := _text(known.get("endpoint"))) else None,
        provider_missed=diagnosis.missed if diagnosis else None,
    )


def _seconds(given: Value) -> float:
    try:
        seconds = float(str(given))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(
            "`seconds_between` is a number from 0 on", hint='such as {"seconds_between": 90}'
        )
    return seconds


def _relation(given: Value) -> Relation | None:
    match given:
        case None | "next_turn" | "new_session":
            return given
        case _:
            raise UsageError(f"`{given}` is no relation", hint="next_turn or new_session")


# --- words ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Advice:
    """One line of what to do, and the command, where the cure lies in a tree."""

    text: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class _Sessions:
    """The two sides and their repository: when they were pinned, and what happened between."""

    where: Where
    sides: tuple[Side, Side]

    @property
    def times(self) -> tuple[int, int] | None:
        """Seconds since 1970 of both pins; null where one is none."""
        a, b = (side.pin for side in self.sides)
        return (a.time // 1_000_000, b.time // 1_000_000) if a and b else None

    def met(self, version: VersionInfo) -> bool:
        """Whether a version can have been adopted between the two: unknown times deny nothing."""
        times = self.times
        return times is None or times[0] <= version.time.seconds <= times[1]

    def channel_move(self, version: VersionInfo) -> ChannelMove | None:
        """Find a move of a channel, between the two, to the version that the second is on."""
        from pvc.store.channels import chain, names

        times = self.times
        if times is None:
            return None
        repo = self.where.repo
        for channel in names(repo, version.name):
            for move in chain(repo, version.name, channel):
                when = move.time.seconds
                if when < times[0]:
                    break
                if when <= times[1] and move.version.id == version.id and move.before:
                    return move
        return None


def advise(miss: Miss, found: Owned | None, sessions: _Sessions) -> Advice:
    """Say what to do about it."""
    if miss.verdict is not Verdict.MISS:
        return Advice("")
    if miss.kind is Kind.VALUES_NOT_HERE:
        return Advice(ADVICE[str(miss.kind)])
    if found is None or found.origin is None or found.owner.run.version is None:
        return Advice(ADVICE[str(miss.kind)])
    run, origin = found.owner.run, found.origin
    if origin.how == "value":
        text = ADVICE[str(miss.kind)] if str(miss.kind) not in TEXT_KINDS else VALUE_ADVICE
        show = f"pvc show {run.version.label}" if run.version else None
        return Advice(f"the value `{origin.name}` differs: {text}", show)
    if origin.how == "tree" or run.version is None:
        return Advice(ADVICE[str(miss.kind)])
    return _of_edit(miss, found, run.version, sessions)


def _of_edit(miss: Miss, found: Owned, version: VersionInfo, sessions: _Sessions) -> Advice:
    """Say what to do about text that one version changed."""
    a, b = found.versions
    label = version.label
    diff = f"pvc diff {version.name}@{version.number - 1} {label}"
    move = sessions.channel_move(b) if b else None
    moved = f"; {move.label} was moved to it by {move.author.name}: {move.subject}" if move else ""
    if found.owner.undone and a and b:
        text = f"the second session is on {b.label}, older than {a.label}{moved}"
        return Advice(
            f"{text}; let running sessions end before going back",
            f"pvc diff {a.label} {b.label}",
        )
    if not sessions.met(version) and a and b:
        text = f"the first session was on {a.label}, the second on {b.label}{moved or BOTH_OLD}"
        return Advice(f"{text}; start sessions that share a cache on one version", diff)
    if miss.kind in (Kind.LINE_ENDINGS, Kind.UNICODE_FORM):
        return Advice(ADVICE[str(miss.kind)], diff)
    return Advice(
        f"{label} was adopted between the two; adopt edits together, or at a quiet hour", diff
    )


BOTH_OLD = ", and both had been adopted before"
TEXT_KINDS = ("prompt_text_edit", "agent_prompt", "catalog", "block_moved", "list_order")
VALUE_ADVICE = "give it once per session, or with the first message"

ADVICE = {
    "none": "nothing to do",
    "clock": "put the date into the first user message, or render it once per session",
    "random_id": "keep identifiers that are new by nature out of tools and system",
    "workspace_state": "send the state of the checkout with the first user message",
    "user_identity": "name the person in the first user message, after what all persons share",
    "locale": "write dates and numbers in one form, whatever the machine is set to",
    "prompt_text_edit": "adopt edits together, and finish running sessions on the old text",
    "agent_prompt": "give each role a chain of its own, and compare within a chain",
    "catalog": "put lists that grow at the end of the system text, behind a marker of their own",
    "list_order": "sort the list before it is written into the prompt",
    "tool_order": "sort tools by name before each request",
    "tool_set": "offer the same tools from the first request on, or load late ones on demand",
    "schema_order": "serialize schemas from ordered structures, and sort lists that are sets",
    "serializer_form": "keep the text that was sent; do not parse and print it again",
    "line_endings": "store prompts as they are sent: `* -text` in .gitattributes",
    "whitespace": "trim texts in one place, before they are stored, never on the way out",
    "unicode_form": "normalize texts once when they are written, never when they are read",
    "template_escape": "fill templates once; text that was filled is not a template",
    "block_moved": "keep each block where it was first sent; append what is new",
    "history_rewritten": "append to the history; where it must shrink, do it once and late",
    "model": "caches are kept per model: expect one cold request after a switch",
    "setting": "settle tool choice, thinking and effort at the start of the session",
    "account": "caches are kept per account: send a session's requests for one",
    "lookback_exceeded": "set a second marker within 20 blocks of the last one",
    "breakpoint_missing": "set a marker at the end of what both requests share",
    "ttl_expired": "ask for the longer lifetime, or send within it",
    "provider_side": "no byte differs: ask the provider",
    "values_not_here": "ask where the sessions were pinned, or prove values with pvc show SESSION "
    "--env FILE",
}
