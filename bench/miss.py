"""Compare two bodies of 1 MB with `json.loads` of both, and two of 50 MB in time and memory.

    python bench/miss.py [--large]

The bodies are a conversation: 40 tools, 20 KB of system text, tool results and answers of some KB.
B is A with a turn more, and besides with a tool result cleared, two messages gone, one byte or all
of system moved, or a tool changed; printed in another layout; or a body that shares nothing with A.
Reading is included. What is told is the median of the ratios of CPU time of runs side by side, and
the least time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from pvc.core.miss import Context, compare
from pvc.providers.base import read_pair

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = {"type": "ephemeral"}
ROUNDS = 25
LINE = 13  # words


def body(size: int, seed: int, block: int) -> dict[str, Any]:
    """Write a conversation of about `size` bytes in blocks of about `block`."""
    dice = random.Random(seed)  # noqa: S311  # the same bodies each time
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(3000)]

    def text(length: int) -> str:
        """Write lines of some eighty characters."""
        said = dice.choices(words, k=length // 6)
        return "\n".join(" ".join(said[at : at + LINE]) for at in range(0, len(said), LINE)) + "\n"

    def schema() -> dict[str, Any]:
        fields = {word: {"type": "string", "description": text(60)} for word in words[:5]}
        return {"type": "object", "properties": fields, "required": []}

    tools = [
        {"name": f"tool_{i}", "description": text(300), "input_schema": schema()} for i in range(40)
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": [part(text(block))]}]
    held = turn = 0
    while held < size - 60_000:
        turn += 1
        call = {"path": text(30), "n": turn, "old": text(block // 2)}
        answer = [part(text(block // 3)), {"type": "tool_use", "id": f"t{turn}", "input": call}]
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text(block * 2)}
        messages += [
            {"role": "assistant", "content": answer},
            {"role": "user", "content": [result]},
        ]
        held += len(json.dumps(messages[-2:]))
    messages[-1]["content"][0]["cache_control"] = MARK
    system = [{**part(text(20_000)), "cache_control": MARK}]
    return {"model": "claude-sonnet-5", "tools": tools, "system": system, "messages": messages}


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def later(a: dict[str, Any]) -> dict[str, Any]:
    """Give A with a turn more, and the marker moved."""
    b = deepcopy(a)
    del b["messages"][-1]["content"][0]["cache_control"]
    b["messages"].append({"role": "assistant", "content": [part("Done.")]})
    b["messages"].append({"role": "user", "content": [{**part("Thanks."), "cache_control": MARK}]})
    return b


def spent(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def loaded(a_json: bytes, b_json: bytes) -> object:
    return json.loads(a_json), json.loads(b_json)


def missed(a_json: bytes, b_json: bytes) -> object:
    return compare(*read_pair(a_json, b_json), Context())


def changed(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give later bodies by what is different in them."""
    later_ones = {name: later(a) for name in CASES}
    middle = len(a["messages"]) // 4 * 2
    later_ones["a result cleared"]["messages"][middle]["content"][0]["content"] = "(cleared)"
    del later_ones["two messages gone"]["messages"][middle : middle + 2]
    system = later_ones["a byte of system"]["system"][0]
    system["text"] = system["text"][:9_000] + "#" + system["text"][9_001:]
    edited = later_ones["system edited"]["system"][0]
    edited["text"] = "Be brief. " + edited["text"]
    tool = later_ones["a tool changed"]["tools"][20]
    tool["description"] = "Is new. " + tool["description"]
    return later_ones


CASES = (
    *("a turn more", "a result cleared", "two messages gone"),
    *("a byte of system", "system edited", "a tool changed"),
)


def ratios(block: int) -> None:
    a = body(1_000_000, 1, block)
    texts = {name: json.dumps(b) for name, b in changed(a).items()}
    texts["nothing shared"] = json.dumps(body(1_000_000, 2, block))
    texts["other layout"] = json.dumps(later(a), indent=1)
    a_json = json.dumps(a).encode()
    print(f"{len(a_json)} bytes, {len(a['messages'])} messages")
    for name, text in texts.items():
        b_json = text.encode()
        rounds = [
            (spent(partial(loaded, a_json, b_json)), spent(partial(missed, a_json, b_json)))
            for _ in range(ROUNDS)
        ]
        ratio = median(miss / loads for loads, miss in rounds)
        least = min(miss for _, miss in rounds)
        print(f"  {name:<18} {least * 1000:6.1f} ms, {ratio:.2f} x json.loads of both")


def large() -> None:
    a = body(50_000_000, 1, 2000)
    b = later(a)
    b["messages"][len(a["messages"]) // 4 * 2]["content"][0]["content"] = "(cleared)"
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.json", "b.json")]
        for path, value in zip(paths, (a, b), strict=True):
            path.write_text(json.dumps(value))
        words = [sys.executable, "-m", "pvc", "miss", *map(str, paths)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss >> 10
    print(f"50 MB each, the whole command: {used.ru_utime:.2f} s CPU, {peak} MB at peak")
    print(done.stdout.split("\n")[0], done.stderr)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--large", action="store_true")
    options = arguments.parse_args()
    if options.large:
        large()
        return 0
    for block in (600, 6000):
        ratios(block)
    return 0


if __name__ == "__main__":
    sys.exit(main())
