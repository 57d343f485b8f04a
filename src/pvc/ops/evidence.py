"""Requests worth asking about, found in what clients keep: transcripts, traces, folders of bodies.

Rule 1: files are read line by line. Only a line that may hold usage is parsed; one that is no JSON
is said with its number, never passed over in silence.
Rule 2: a file of which nothing was understood is never a clean bill: what is in it is said, and
where nothing at all was understood that is an error.
Rule 3: a folder of bodies holds the exact requests, so each is compared with the one before it of
the same model and about the same system text, in order of time, as `pvc miss A B` would.
Rule 4: a wish (`since`, `top`) narrows what is listed and summed, never what a call is compared
with.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pvc.core import kind as kinds
from pvc.core.divergence import common_bytes, of_byte
from pvc.core.drops import Drops, moment
from pvc.core.miss import Context, compare
from pvc.core.moment import MICROS
from pvc.core.stream import ANTHROPIC
from pvc.errors import DecodeError, NotFoundError, UsageError
from pvc.launch.environment import up_to_bound
from pvc.model.body import Region, Verdict
from pvc.model.bounds import MAX_INPUT_BYTES, mebibytes
from pvc.ops.asked import micros_of
from pvc.ops.request import read_file
from pvc.providers.answers import answer_of
from pvc.providers.base import read as read_body
from pvc.providers.exchanges import Exchange, exchanges
from pvc.providers.formats import CALL_RECORDS, format_of, seen_in
from pvc.providers.records import State, calls
from pvc.providers.usage import plain_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pvc.core.drops import Day, Drop
    from pvc.core.json_text import Value
    from pvc.core.miss import Miss
    from pvc.model.body import Body
    from pvc.model.call import Call

MOST_PROBLEMS = 20
LOOKED_AT = 20
"""So many lines of a file are asked what they are."""
_NEEDED = (b'"usage"', b'"payload"', b"resourceSpans", b'"session"')


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the records show: drops, the worst first; sums by day; the first call of each head."""

    calls: int
    chains: int
    repeated: int
    drop_count: int
    lost_tokens: int
    drops: tuple[Drop, ...]
    days: tuple[tuple[str, Day], ...]
    kinds: tuple[tuple[str, int], ...]
    heads: tuple[tuple[str, Call], ...]
    other_lines: int
    problems: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Files that were named and of which nothing was understood, with what they are."""

    @property
    def missed(self) -> bool:
        """Whether anything was lost."""
        return self.drop_count > 0

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.evidence/1`."""
        return {
            "schema": "pvc.evidence/1",
            "calls": self.calls,
            "chains": self.chains,
            "repeated": self.repeated,
            "drop_count": self.drop_count,
            "lost_tokens": self.lost_tokens,
            "drops": [drop.to_json() for drop in self.drops],
            "days": [
                {
                    "day": name,
                    "calls": day.calls,
                    "input_tokens": day.total,
                    "read_tokens": day.read,
                    "drops": day.drops,
                    "lost_tokens": day.lost,
                }
                for name, day in self.days
            ],
            "kinds": dict(self.kinds),
            "heads": [
                {"digest": digest, "session": call.session, "time": moment(call.time)}
                for digest, call in self.heads
            ],
            "other_lines": self.other_lines,
            "problems": list(self.problems),
            "unread": list(self.unread),
        }


def read_evidence(
    directory: str,
    files: Sequence[str],
    *,
    since: str | None = None,
    top: int = 20,
    progress: Callable[[int], None] = lambda _: None,
) -> Evidence:
    """Read transcripts or traces; `progress` is called with the bytes that were read.

    Raises `DecodeError` when nothing of what was named is a record that pvc reads.
    """
    start = micros_of(since, "--since")
    drops = Drops(top, None if start is None else start / MICROS, _changed)
    other, problems, unread = 0, list[str](), list[str]()
    for word in files:
        records = [_Records(path) for path in found_files(directory, [word])]
        for file in records:
            for value in file.values(problems, progress):
                found = list(calls(value, file.state)) if value is not None else []
                other += not found
                file.understood |= bool(found)
                for call in found:
                    drops.take(call)
        if not any(file.understood for file in records):
            unread.append(f"{word}: {records[0].seen}")
    if len(unread) == len(files):
        raise DecodeError(
            f"nothing that pvc reads as a record of calls: {'; '.join(unread)}",
            hint=_records_hint([file.first for file in records]),
        )
    worst = drops.finish()
    return Evidence(
        drops.calls,
        drops.chain_count,
        drops.repeated,
        drops.drop_count,
        drops.lost,
        worst,
        tuple(sorted(drops.days.items())),
        tuple(sorted(drops.kinds.items(), key=lambda pair: -pair[1])),
        tuple(drops.heads.items()),
        other,
        tuple(problems),
        tuple(unread),
    )


def _records_hint(seen: Sequence[object]) -> str:
    if any((found := format_of(value)) and found.bodies for value in seen):
        return "it holds requests: pvc miss FILE compares them in order"
    return f"--transcript and --otel read: {', '.join(CALL_RECORDS)}"


def found_files(directory: str, words: Sequence[str]) -> list[Path]:
    """Find the files that words name; a folder stands for all below it that hold lines of JSON."""
    found: list[Path] = []
    for word in words:
        path = Path(directory) / word
        if path.is_dir():
            below = sorted(p for p in path.rglob("*.json*") if p.suffix in (".json", ".jsonl"))
            if not below:
                raise NotFoundError(f"no .jsonl or .json below `{word}`")
            found += below
        elif path.is_file():
            found.append(path)
        else:
            raise NotFoundError(f"no file `{word}`")
    return found


def _changed(old: str, new: str) -> tuple[str, str]:
    """Name the kind of a change of instructions, as between two requests with nothing else."""
    a, b = (
        read_body(json.dumps({"system": text, "messages": []}).encode(), ANTHROPIC)
        for text in (old, new)
    )
    place = of_byte(a, b, common_bytes(a, b))
    cause = kinds.decide(a, b, place)
    return str(
        cause.kind
    ), f"the instructions differ at byte {place.leaf_byte_offset}: {cause.evidence}"


class _Records:
    """A file of records while it is read; `understood` when any of it is of a known kind."""

    def __init__(self, path: Path) -> None:
        self.path, self.state = path, State(str(path))
        self.understood = False
        self.first: object = None
        self.seen = "an empty file"

    def values(
        self, problems: list[str], progress: Callable[[int], None]
    ) -> Iterator[object | None]:
        """Give each value that may hold a call; None for any other line."""
        with self.path.open("rb") as lines:
            if self.path.suffix == ".json":  # one value, over many lines
                data = up_to_bound(lines, str(self.path))
                progress(len(data))
                yield self._parsed(data, f"{self.path}", problems)
                return
            looked_at = 0
            for number, line in enumerate(_lines(lines), 1):
                progress(len(line))
                self.state.line = number
                if len(line) > MAX_INPUT_BYTES:
                    most = mebibytes(MAX_INPUT_BYTES)
                    said = f"{self.path}:{number}: not read: a line larger than {most}"
                    _problem(problems, said)
                    continue
                if not line.strip():
                    continue
                needed = any(word in line for word in _NEEDED) or not line.rstrip().endswith(b"}")
                if not needed and (self.understood or looked_at >= LOOKED_AT):
                    yield None
                    continue
                looked_at += 1
                value = self._parsed(line, f"{self.path}:{number}", problems)
                yield value if needed else None

    def _parsed(self, data: bytes, at: str, problems: list[str]) -> object:
        value = _parsed(data, at, problems)
        if self.first is None:
            self.first = value
            self.seen = seen_in(value) if value is not None else "no JSON"
        found = format_of(value)
        # A trace is understood by its calls alone: its spans may be of anything.
        self.understood |= bool(found and found.calls and "OTLP" not in found.name)
        return value


def _parsed(data: bytes, at: str, problems: list[str]) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        _problem(problems, f"{at}: no JSON: {error}")
        return None
    return value


def _problem(problems: list[str], text: str) -> None:
    if len(problems) < MOST_PROBLEMS:
        problems.append(text)
    elif len(problems) == MOST_PROBLEMS:
        problems.append("and more")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Give each line; of one beyond the bound only its beginning, one byte beyond as well."""
    while line := file.readline(MAX_INPUT_BYTES + 1):
        rest = line
        while len(rest) > MAX_INPUT_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(MAX_INPUT_BYTES + 1)
        yield line


# --- folders and files of bodies ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A request and the one before it of the same chain, compared."""

    a: str
    b: str
    miss: Miss
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Bodies:
    """The requests of a folder, each against the one before it; misses, the worst first."""

    requests: int
    chains: int
    pairs: int
    misses: tuple[Pair, ...]
    problems: tuple[str, ...]

    @property
    def missed(self) -> bool:
        """Whether any request missed."""
        return bool(self.misses)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.bodies/1`."""
        return {
            "schema": "pvc.bodies/1",
            "requests": self.requests,
            "chains": self.chains,
            "pairs": self.pairs,
            "misses": [
                {"a": pair.a, "b": pair.b, "seconds": pair.seconds, **pair.miss.to_json()}
                for pair in self.misses
            ],
            "problems": list(self.problems),
        }


def read_bodies(
    directory: str, word: str, *, top: int = 20, progress: Callable[[int], None] = lambda _: None
) -> Bodies:
    """Compare the request bodies of a folder or file, each with the one before it of its chain.

    Raises `DecodeError` when none of it is a request body.
    """
    problems: list[str] = []
    sent = list(_sent(directory, word, problems, progress))
    if len(sent) == 1 and sent[0].label == word and not problems:
        raise UsageError(f"`{word}` is one request body", hint="pvc miss A B compares two")
    chains: list[_Chain] = []
    misses: list[Pair] = []
    pairs = read = 0
    for exchange in sent:
        try:
            body = read_body(exchange.body_json, at=exchange.label)
        except DecodeError as error:
            problems.append(str(error))
            continue
        read += 1
        chain = _chain_of(chains, body)
        before, now = chain.last, (exchange, body)
        chain.last, chain.words = now, _system_words(body)
        if before is None:
            chains.append(chain)
            continue
        pairs += 1
        gap = None
        if exchange.time is not None and before[0].time is not None:
            gap = max(0.0, exchange.time - before[0].time)
        given = (exchange.answer or {}).get("usage")
        usage = plain_numbers(given) if isinstance(given, dict) else None
        context = Context(seconds_between=gap, same_account=True, usage_b=usage)
        miss = compare(before[1], body, context)
        if miss.verdict is Verdict.MISS:
            misses.append(Pair(before[0].label, exchange.label, miss, gap))
    if not read:
        raise DecodeError(
            f"no request body that pvc reads in `{word}`: {problems[0] if problems else 'no JSON'}",
            hint="bodies of Anthropic's or OpenAI's APIs, a file each or a line each, or a HAR",
        )
    misses.sort(key=lambda pair: pair.miss.reusable_bytes - pair.miss.scope_bytes)
    return Bodies(read, len(chains), pairs, tuple(misses[:top]), tuple(problems))


def _sent(
    directory: str, word: str, problems: list[str], progress: Callable[[int], None]
) -> Iterator[Exchange]:
    """Give the requests of a file in its order, or of a folder in order of time."""
    paths = found_files(directory, [word])
    if not (Path(directory) / word).is_dir():
        data = read_file(paths[0], str(paths[0]))
        progress(len(data))
        for found in exchanges(data, word):
            if isinstance(found, Exchange):
                yield found
            elif len(problems) < MOST_PROBLEMS:
                problems.append(f"{word}: {found}")
        return
    paths.sort(key=lambda path: (path.stat().st_mtime_ns, path.name))
    answers = _answers(paths, problems)
    for path in paths:
        data = read_file(path, str(path))
        progress(len(data))
        if not path.name.endswith(_ANSWER):
            yield Exchange(path.name, data, answers.get(path), path.stat().st_mtime)


_ANSWER = ".response.json"


def _answers(paths: Sequence[Path], problems: list[str]) -> dict[Path, dict[str, Value]]:
    """Pair answers with requests by time: one that came while a single request was open is its.

    Names do not tell (requests are numbered by the client, answers by the provider), and where two
    requests were open nothing does.
    """
    found: dict[Path, dict[str, Value]] = {}
    waiting: list[Path] = []
    for path in paths:
        if not path.name.endswith(_ANSWER):
            waiting.append(path)
        elif len(waiting) == 1:
            try:
                found[waiting[0]] = answer_of(read_file(path, str(path)), str(path))
            except DecodeError as error:
                problems.append(str(error))
            waiting.clear()
    return found


@dataclass(slots=True)
class _Chain:
    """Requests that follow each other: the newest, and the words of its system text."""

    last: tuple[Exchange, Body] | None = None
    words: Counter[bytes] = field(default_factory=Counter)


MOST_CHAINS = 64
"""So many of the newest chains are asked for a request's predecessor."""


def _chain_of(chains: Sequence[_Chain], body: Body) -> _Chain:
    """Find the chain that a request continues; a new one when no system text is like its own.

    A helper has another prompt, and a prompt that differs in a clock is the same prompt: so the
    chain is the one that shares the most words, at least half of the larger text.
    """
    words = _system_words(body)
    best, most = _Chain(), 0
    for chain in chains[-MOST_CHAINS:]:
        if chain.last is None or (chain.last[1].shape, chain.last[1].model) != (
            body.shape,
            body.model,
        ):
            continue
        size = max(chain.words.total(), words.total())
        shared = (chain.words & words).total() + 1  # two requests without a system text are alike
        if 2 * shared > size and shared >= most:
            best, most = chain, shared
    return best


def _system_words(body: Body) -> Counter[bytes]:
    texts = (leaf.data for leaf in body.leaves if leaf.region is Region.SYSTEM)
    return Counter(word for text in texts for word in text.split())
