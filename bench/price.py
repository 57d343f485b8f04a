"""Hold the price model against an independent reckoning, over texts that people really changed.

    python bench/price.py BUNDLE|FOLDER… [--files 400] [--pairs 40]

A BUNDLE is a git bundle with a branch `main`: the versions of its Markdown files are prompts. A
FOLDER holds golden vectors: every text in them is one. Neighbouring and random pairs go out as the
requests of each kind of cache, cut into blocks and marked in many ways. For each, what `ops.cost`
predicts must be what `core.miss` says of the two bodies, and both what is reckoned here from
nothing but the streams' bytes and the ends of the marked blocks. Prints `N examples, M
differences` for each kind of loss; exits with 1 unless M is 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pvc.core.miss import Context, compare
from pvc.core.reuse import in_order, reuse
from pvc.model.span import Rendered, Span, Unversioned
from pvc.ops.cost import Asked, Prompt, alike, cost
from pvc.providers.base import read_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.body import Body

KINDS = (
    Asked("anthropic.messages", "claude-opus-5"),
    Asked("openai.chat", "gpt-5"),
    Asked("openai.responses", "gpt-5.6-luna"),
    Asked("openai.chat", "deepseek-chat"),
    Asked("openai.chat", "minimax-m3"),
)
TOOLS: Any = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}]
WIDEST = 5


def main() -> int:
    """Compare all pairs of all places."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=40)
    given = parser.parse_args()
    chance = random.Random(12)  # noqa: S311  # the same examples each time
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for place in given.places:
        found = _histories(place, given.files) if place.is_file() else _vectors(place)
        for old, new in _pairs(found, chance, given.pairs):
            for asked in KINDS:
                kind, said = _check(asked, old, new, chance)
                done[kind] += 1
                failed[kind] += bool(said)
                if said:
                    print(f"FAILED {place.name} {asked.model}: {said}")
    for kind in sorted(done):
        print(f"{kind}: {done[kind]} examples, {failed[kind]} differences")
    return 1 if failed.total() or not done else 0


def _pairs(
    found: Iterator[list[bytes]], chance: random.Random, most: int
) -> Iterator[tuple[bytes, bytes]]:
    """Give each text with the next of its history, and some with any other."""
    everything: list[bytes] = []
    for versions in found:
        yield from pairwise(versions)
        everything += versions
    for _ in range(most if everything else 0):
        yield chance.choice(everything), chance.choice(everything)


def _histories(bundle: Path, most: int) -> Iterator[list[bytes]]:
    """Give the versions of each Markdown file, oldest first."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo.git"
        _git(Path(folder), "clone", "-q", "--bare", str(bundle.resolve()), str(repo))
        words = ("--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=", "main")
        log = _git(repo, "log", *words)
        blobs: dict[str, list[str]] = {}
        for line in log.decode("utf-8", "replace").splitlines():
            fields, _, path = line.partition("\t")
            if path.endswith(".md") and fields.split()[4] != "D":
                blobs.setdefault(path, []).append(fields.split()[3])
        changed = sorted(blobs.items(), key=lambda item: -len(item[1]))
        for _, oids in changed[:most]:
            texts = [_git(repo, "cat-file", "blob", oid) for oid in oids]
            yield [text for text in texts if _is_text(text)]


def _git(folder: Path, *words: str) -> bytes:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True
    ).stdout


def _is_text(data: bytes) -> bool:
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


def _vectors(folder: Path) -> Iterator[list[bytes]]:
    """Give the texts of each vector: those that were rendered and those that they came from."""
    for path in sorted(folder.rglob("*.json")):
        texts = [text.encode() for text in _texts(json.loads(path.read_bytes())) if text]
        yield [text for text in texts if len(text) > 1]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and not any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        yield value
    children = value.values() if isinstance(value, dict) else value
    for child in children if isinstance(value, dict | list) else ():
        yield from _texts(child)


# --- one example ------------------------------------------------------------------------------


def _check(asked: Asked, old: bytes, new: bytes, chance: random.Random) -> tuple[str, str]:
    """Price one change; gives the kind of loss, and what differs, empty for nothing."""
    asked = Asked(asked.shape, asked.model, tools=chance.choice([None, TOOLS]))
    count = chance.randint(1, WIDEST)
    one, other = (_prompt(text, count) for text in (old, new))
    a_json, b_json = alike(asked.request(one), asked.request(other))
    if asked.shape == "anthropic.messages":
        marks = set(chance.sample(range(count), chance.randint(0, min(3, count)))) | {count - 1}
        a_json, b_json = (_marked(each, marks) for each in (a_json, b_json))
        a, b = asked.read(a_json), asked.read(b_json)
        found = reuse(a, b, relation="new_session")
    else:
        found = cost(asked, one, other).reuse
    a, b = read_pair(a_json, b_json, (asked.shape, asked.shape), facts=asked.facts)
    verdict = compare(a, b, Context(asked.shape, "new_session", 1, same_account=True))
    scope, kept = _reckoned(a, b)
    predicted = found.scope, found.kept
    told = verdict.scope_bytes, verdict.reusable_bytes
    said = "" if predicted == told == (scope, kept) else f"{predicted}, {told}, {(scope, kept)}"
    if found.kept + found.lost != found.scope or not 0 <= found.least <= found.kept:
        said = f"{said} kept, lost and scope do not add up"
    return str(found.kind_of_loss), said


def _prompt(text: bytes, count: int) -> Prompt:
    """Cut a text into so many blocks, at ends of code points."""
    step = max(1, len(text) // count)
    ends = []
    for at in range(1, count):
        end = min(at * step, len(text))
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end += 1
        ends.append(end)
    return Prompt(Rendered(text, (Span(0, len(text), Unversioned()),), (*ends, len(text))))


def _marked(request: bytes, marks: set[int]) -> bytes:
    """Put markers on blocks of the system text, of one lifetime."""
    body = json.loads(request)
    for at, block in enumerate(body["system"]):
        block.pop("cache_control", None)
        if at in marks or at == len(body["system"]) - 1:
            block["cache_control"] = {"type": "ephemeral"}
    return json.dumps(body, ensure_ascii=False).encode()


def _reckoned(a: Body, b: Body) -> tuple[int, int]:
    """Count scope and kept bytes from the two streams alone."""
    a, b = in_order(a, b.rules.order), in_order(b, b.rules.order)
    old, new = a.stream(), b.stream()
    same = next((i for i, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), None)
    common = min(len(old), len(new)) if same is None else same
    if not a.markers:
        return len(old), common
    ends = {a.element_ends[mark.element] for mark in a.markers}
    looked = {
        b.element_ends[at]
        for mark in b.markers
        for at in range(max(0, mark.element - 19), mark.element + 1)
    }
    return max(ends), max((end for end in ends if end <= common and end in looked), default=0)


if __name__ == "__main__":
    sys.exit(main())
