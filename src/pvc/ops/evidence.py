"""Requests worth asking about, found in what clients keep: transcripts, traces, folders of bodies.

Rule 1: files are read line by line. Only a line that may hold usage is parsed; one that is no JSON
is said with its number, never passed over in silence.
Rule 2: a folder of bodies holds the exact requests, so each is compared with the one before it of
the same model and first system text, in order of time, as `pvc miss A B` would.
Rule 3: a wish (`since`, `top`) narrows what is listed and summed, never what a call is compared
with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.core.drops import Drops, moment
from pvc.core.miss import Context, compare
from pvc.core.moment import MICROS
from pvc.errors import DecodeError, NotFoundError
from pvc.model.body import Region, Verdict
from pvc.ops.asked import micros_of
from pvc.providers.base import read as read_body
from pvc.providers.records import State, calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pvc.core.drops import Day, Drop
    from pvc.core.miss import Miss
    from pvc.model.body import Body
    from pvc.model.call import Call

MOST_PROBLEMS = 20
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
        }


def read_evidence(
    directory: str,
    files: Sequence[str],
    *,
    since: str | None = None,
    top: int = 20,
    progress: Callable[[int], None] = lambda _: None,
) -> Evidence:
    """Read transcripts or traces; `progress` is told how many bytes were read."""
    start = micros_of(since, "--since")
    drops = Drops(top, None if start is None else start / MICROS)
    other, problems = 0, list[str]()
    for path in found_files(directory, files):
        for value in _values(path, problems, progress):
            if value is None:
                other += 1
                continue
            for call in calls(value[0], value[1]):
                drops.take(call)
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
    )


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


def _values(
    path: Path, problems: list[str], progress: Callable[[int], None]
) -> Iterator[tuple[object, State] | None]:
    """Give each value that may hold a call; null for any other line."""
    state = State(str(path))
    with path.open("rb") as lines:
        if path.suffix == ".json":  # one value, over many lines
            data = lines.read()
            progress(len(data))
            value = _parsed(data, f"{path}", problems)
            yield None if value is None else (value, state)
            return
        for number, line in enumerate(lines, 1):
            progress(len(line))
            state.line = number
            if not line.strip():
                continue
            if not any(word in line for word in _NEEDED) and line.rstrip().endswith(b"}"):
                yield None
                continue
            value = _parsed(line, f"{path}:{number}", problems)
            yield None if value is None else (value, state)


def _parsed(data: bytes, at: str, problems: list[str]) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        if len(problems) < MOST_PROBLEMS:
            problems.append(f"{at}: no JSON: {error}")
        elif len(problems) == MOST_PROBLEMS:
            problems.append("and more")
        return None
    return value


# --- folders of bodies ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A request and the one before it of the same chain, compared."""

    a: str
    b: str
    miss: Miss
    seconds: float


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
    """Compare the request bodies of a folder, each with the one before it of its chain."""
    paths = [p for p in found_files(directory, [word]) if not p.name.endswith(".response.json")]
    paths.sort(key=lambda path: (path.stat().st_mtime_ns, path.name))
    last: dict[tuple[str, str, bytes], tuple[str, Body, float]] = {}
    misses: list[Pair] = []
    problems: list[str] = []
    pairs = read = 0
    for path in paths:
        data = path.read_bytes()
        progress(len(data))
        try:
            body = read_body(data, at=str(path))
        except DecodeError as error:
            problems.append(str(error))
            continue
        read += 1
        time = path.stat().st_mtime
        chain = (body.shape, body.model, _first_text(body))
        before, last[chain] = last.get(chain), (path.name, body, time)
        if before is None:
            continue
        pairs += 1
        gap = time - before[2]
        miss = compare(before[1], body, Context(seconds_between=gap, same_account=True))
        if miss.verdict is Verdict.MISS:
            misses.append(Pair(before[0], path.name, miss, gap))
    misses.sort(key=lambda pair: pair.miss.reusable_bytes - pair.miss.scope_bytes)
    return Bodies(read, len(last), pairs, tuple(misses[:top]), tuple(problems))


def _first_text(body: Body) -> bytes:
    """Give the beginning of the first system text, by which chains are told apart."""
    texts = (
        leaf.data for leaf in body.leaves if leaf.region is Region.SYSTEM and len(leaf.data) > 16
    )
    return next(texts, b"")[:64]
