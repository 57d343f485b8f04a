"""Why the second request missed the cache: verdict, byte, owner, what it cost.

Two sides, each a pinned session or a file with a request body. A session is emitted as the front of
a request in its provider's shape and read back like any captured body, so there is one comparison.

Rule 1: files alone need no repository; none is opened for them.
Rule 2: the owner is who changed the bytes between the two: the commit that wrote what stands there
now, when it came after A; else the commit that took out what stood there in A.
Rule 3: a value given at launch and a text that no tree accounts for are owners too: `binding`, and
`unversioned`. pvc names no commit that it cannot prove.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pvc.core.json_text import dump, parse
from pvc.core.miss import Context, Miss, compare
from pvc.core.stream import ANTHROPIC, as_tools
from pvc.dialects.manifest import near
from pvc.errors import DecodeError, NotFoundError, UsageError
from pvc.model.body import Body, Verdict
from pvc.model.digest import TAG
from pvc.model.span import FromBinding, FromSource, FromTool, Rendered, Unversioned
from pvc.ops.blame import BlameRun, SourceCommit, blame
from pvc.ops.price import Lost, lost_of
from pvc.ops.select import SESSION
from pvc.providers.base import read as read_body_text
from pvc.providers.emit import emit

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.model.body import Divergence
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

PATH = "path:"
CONTEXT_KEYS = ("provider", "relation", "same_account", "seconds_between", "usage_b")
Relation = Literal["next_turn", "new_session"]


class Where(Protocol):
    """Where the question is asked: a folder, and its repository, opened only when asked for."""

    @property
    def directory(self) -> str:
        """The folder that file names are relative to."""
        ...

    @property
    def repo(self) -> Repository:
        """The repository that holds it; raises `NotFoundError` where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two requests. `rendered` and `version` are null where it is no pin of a tree."""

    label: str
    body: Body
    pin: Pin | None = None
    rendered: Rendered | None = None
    version: VersionInfo | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """Who changed the first differing byte: `change` is `written` or `removed`."""

    run: BlameRun
    change: str

    def to_json(self) -> dict[str, object]:
        """Write a run of `pvc.blame/1`, and what was done."""
        return {**self.run.to_json(), "change": self.change}


@dataclass(frozen=True, slots=True)
class Missed:
    """The answer; `owner` is null when nothing differs inside the scope."""

    a: Side
    b: Side
    miss: Miss
    owner: Owner | None
    lost: Lost
    advice: str

    @property
    def missed(self) -> bool:
        """Whether something that should be read back cannot be; false when that is not known."""
        return self.miss.verdict is Verdict.MISS

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.miss/1`: those of the cases, and owner, lost, advice."""
        return {
            "schema": "pvc.miss/1",
            "a": self.a.label,
            "b": self.b.label,
            **self.miss.to_json(),
            "owner": self.owner.to_json() if self.owner else None,
            "lost": self.lost.to_json(),
            "advice": self.advice,
            "notes": [*self.a.body.notes, *self.b.body.notes],
        }


@dataclass(frozen=True, slots=True)
class MissOptions:
    """What the caller knows besides the two requests; null is not known."""

    context_file: str | None = None
    relation: str | None = None
    seconds: float | None = None


def run(where: Where, a: str, b: str | None, options: MissOptions) -> Missed:
    """Compare A with B; a lone session is compared with the pin before it."""
    if b is None:
        if _is_file(where, a):
            raise UsageError(f"`{a}` is one request body", hint="pvc miss A B compares two")
        b, a = a, _before(where.repo, a)
    context_json = _context_json(where, options.context_file)
    shape = context_json.get("provider")
    sides = tuple(_side(where, word, shape if isinstance(shape, str) else None) for word in (a, b))
    context = _context(context_json, sides, options)
    miss = compare(sides[0].body, sides[1].body, context)
    owner = _owner(where, sides, miss.first_divergence) if miss.first_divergence else None
    lost = lost_of(miss, sides[0].body)
    return Missed(sides[0], sides[1], miss, owner, lost, advise(miss, owner))


# --- the two sides --------------------------------------------------------------------------


def _side(where: Where, word: str, shape: str | None) -> Side:
    if _is_file(where, word):
        path = Path(where.directory) / word.removeprefix(PATH)
        return Side(word, read_body_text(_read(path, word), shape, at=word))
    from pvc.ops.pins import rendered_of, tools_of, version_of
    from pvc.ops.select import select

    try:
        repo = where.repo
    except NotFoundError as error:
        raise NotFoundError(f"no file `{word}`, and {error.message}", hint=error.hint) from None
    pin = select(repo, word).pin
    if pin is None:
        raise UsageError(
            f"`{word}` is a version; miss compares sessions or request bodies",
            hint="pvc log --pins lists sessions",
        )
    rendered = rendered_of(repo, pin)
    if pin.observed == "request":
        return Side(word, read_body_text(rendered.data, shape, at=word), pin)
    version = None if pin.observed else version_of(repo, pin)
    body = _body_of(pin, rendered, tools_of(repo, pin))
    return Side(pin.session, body, pin, rendered if version else None, version)


def _is_file(where: Where, word: str) -> bool:
    """Whether bytes can be read there, from a pipe too; no name that is too long for a file is."""
    if word.startswith((SESSION, TAG)):
        return False
    try:
        path = Path(where.directory) / word
        return word.startswith(PATH) or (path.exists() and not path.is_dir())
    except OSError:
        return False


def _read(path: Path, word: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"cannot read `{word}`: {error.strerror}") from error


def _body_of(pin: Pin, rendered: Rendered, tools: Value) -> Body:
    """Write a pinned session as a request and read it like any other."""
    shape = pin.provider or ANTHROPIC
    given = None if tools is None else as_tools(tools, shape)
    request = emit(shape, rendered.blocks, tools=given, model=pin.model or "")
    return read_body_text(dump(request).encode(), shape, at=pin.session)


def _before(repo: Repository, word: str) -> str:
    """Find the session that was pinned before this one, of the same tree and chain."""
    from pvc.ops.select import select
    from pvc.store.ledger import Ledger

    pin = select(repo, word).pin
    if pin is None:
        raise UsageError(f"`{word}` is no session", hint="pvc miss A B compares two")
    for other in Ledger(repo).newest(None, pin.tree):
        if other.chain == pin.chain and (other.time, other.receipt) < (pin.time, pin.receipt):
            return f"{SESSION}{other.session}" if other.session != pin.session else other.receipt
    raise NotFoundError(f"no pin of `{pin.tree}` before session `{pin.session}`")


# --- what is known besides ------------------------------------------------------------------


def _context_json(where: Where, file: str | None) -> dict[str, Value]:
    if file is None:
        return {}
    value = parse(_read(Path(where.directory) / file, file).decode("utf-8", "replace"), at=file)
    if not isinstance(value, dict):
        raise DecodeError("a context is a JSON object", at=file)
    for key in value:
        if key not in CONTEXT_KEYS:
            raise UsageError(f"unknown key `{key}`", at=file, hint=near(key, CONTEXT_KEYS))
    return value


def _context(known: dict[str, Value], sides: tuple[Side, ...], options: MissOptions) -> Context:
    a, b = sides
    seconds = options.seconds
    if seconds is None and (given := known.get("seconds_between")) is not None:
        seconds = _seconds(given)
    if seconds is None and a.pin and b.pin:
        seconds = max(0.0, (b.pin.time - a.pin.time) / 1e6)
    relation = _relation(options.relation or known.get("relation"))
    if relation is None and a.pin and b.pin:
        relation = "new_session"
    same_account, usage = known.get("same_account"), known.get("usage_b")
    if same_account is None and a.pin and b.pin:
        same_account = True  # one repository's sessions, until somebody says otherwise
    return Context(
        provider=a.body.shape,
        relation=relation,
        seconds_between=seconds,
        same_account=same_account if isinstance(same_account, bool) else None,
        usage_b=usage if isinstance(usage, dict) else None,
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


# --- the owner ------------------------------------------------------------------------------


def _owner(where: Where, sides: tuple[Side, ...], place: Divergence) -> Owner:
    a, b = sides
    now = _run_at(where, b, place.path_b, place.leaf_byte_offset)
    before = _run_at(where, a, place.path_a, place.leaf_byte_offset)
    if now and (_came_after(now, a) or not isinstance(now.origin, FromSource)):
        return Owner(now, "written")
    if before and isinstance(before.origin, FromSource) and b.version and a.version:
        removed = _removed(where.repo, before, a.version, b.version)
        if removed:
            return Owner(removed, "removed")
    unowned = BlameRun(place.offset, place.offset + 1, "", _loose(place), region=str(place.region))
    return Owner(now or before or unowned, "written")


def _loose(place: Divergence) -> FromTool | Unversioned:
    pointer = place.path_b or place.path_a or ""
    if place.region == "tools":
        return FromTool("", pointer, place.leaf_byte_offset or 0)
    return Unversioned(place.leaf_byte_offset or 0)


def _run_at(where: Where, side: Side, pointer: str | None, offset: int | None) -> BlameRun | None:
    """Blame the byte of a pinned prompt that stands at a place of its emitted body."""
    if side.rendered is None or side.version is None or pointer is None or offset is None:
        return None
    if "/tools" in pointer:
        return None
    at = _block_start(side.rendered, pointer) + offset
    if at >= len(side.rendered.data):  # B ends where A goes on
        return None
    return blame(where.repo, side.rendered, side.version, (at, at + 1))[0]


def _block_start(rendered: Rendered, pointer: str) -> int:
    """Find where the block of a system leaf begins.

    `/system/2/text` and `/messages/0/content/2/text` are the third block.
    """
    parts = pointer.split("/")
    number = {"system": parts[2:3], "messages": parts[4:5]}.get(parts[1], [])
    index = int(number[0]) if number and number[0].isdigit() else 0
    return (0, *rendered.block_ends)[index]


def _came_after(run: BlameRun, a: Side) -> bool:
    """Whether the bytes were adopted after A's version, or A stands in another tree."""
    if run.version is None or a.version is None:
        return False
    same_tree = (run.version.kind, run.version.name) == (a.version.kind, a.version.name)
    return not same_tree or run.version.number > a.version.number


def _removed(repo: Repository, run: BlameRun, a: VersionInfo, b: VersionInfo) -> BlameRun | None:
    """Find who took the byte out that `run` had in version `a`: the version, then the commit."""
    from pvc.core.follow import follow
    from pvc.store.history import GitHistory
    from pvc.store.versions import at_commit

    assert isinstance(run.origin, FromSource)  # noqa: S101  # the caller looked
    chain = GitHistory(repo, b.id)
    steps = list(chain.steps())
    after = next((i for i, step in enumerate(steps) if step.commit == a.id), None)
    if after is None:
        return None
    gone = follow(chain, steps[after + 1 :], run.origin.path, run.origin.offset)
    if gone.commit is None:
        return None
    version = at_commit(repo, gone.commit)
    parent = at_commit(repo, version.parents[0])
    source = _removed_in_source(repo, parent, version, gone.path, gone.offset)
    return replace(run, version=version, source=source)


def _removed_in_source(
    repo: Repository, parent: VersionInfo, version: VersionInfo, path: str, offset: int
) -> SourceCommit | None:
    """Find the user's commit between two adoptions that took the byte out, where it is here."""
    from pvc.core.follow import follow
    from pvc.ops.blame import source_commit
    from pvc.store.history import GitHistory, is_complete

    if parent.source is None or version.source is None or not is_complete(repo, version.source):
        return None
    history = GitHistory(repo, version.source, version.source_path)
    steps = list(history.steps())
    after = next((i for i, step in enumerate(steps) if step.commit == parent.source), None)
    if after is None:
        return None
    gone = follow(history, steps[after + 1 :], path, offset)
    if gone.commit is None:
        return None
    return source_commit(repo, gone.commit, f"{version.source_path}/{gone.path}".lstrip("/"))


# --- words ----------------------------------------------------------------------------------


def advise(miss: Miss, owner: Owner | None) -> str:
    """Say in one line what to do about it."""
    if owner and isinstance(owner.run.origin, FromBinding):
        name = owner.run.origin.name
        return f"the value `{name}` changed between the two; pass it with the first user message"
    if owner and owner.run.version:
        label = f"{owner.run.version.name}@{owner.run.version.number}"
        return f"{label} was adopted between the two; adopt edits together, or at a quiet hour"
    return ADVICE.get(str(miss.kind), "")


ADVICE = {
    "none": "nothing to do",
    "clock": "put the date into the first user message, or render it once per session",
    "random_id": "keep identifiers that are new by nature out of tools and system",
    "workspace_state": "send the state of the checkout with the first user message",
    "tool_order": "sort tools by name before each request",
    "tool_set": "offer the same tools from the first request on, or load late ones on demand",
    "schema_order": "serialize schemas from ordered structures, and sort lists that are sets",
    "serializer_form": "keep the text that was sent; do not parse and print it again",
    "line_endings": "store prompts as they are sent: `* -text` in .gitattributes",
    "model": "caches are kept per model: expect one cold request after a switch",
    "setting": "settle tool choice, thinking and effort at the start of the session",
    "account": "caches are kept per account: send a session's requests for one",
    "lookback_exceeded": "set a second marker within 20 blocks of the last one",
    "breakpoint_missing": "set a marker at the end of what both requests share",
    "ttl_expired": "ask for the longer lifetime, or send within it",
    "provider_side": "no byte differs: ask the provider",
}
