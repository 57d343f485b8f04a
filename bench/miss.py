"""Compare two bodies of 1 MB with `json.loads` of both, and two of 50 MB in time and memory.

    python bench/miss.py [--large]

The bodies are a conversation: 40 tools, 20 KB of system text, tool results and answers of some KB.
B is A with a turn more; with a tool result that was cleared; with another system text; and a body
that shares nothing with A. CPU time is the least of several runs; reading is included.
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
from typing import TYPE_CHECKING, Any

from pvc.core.miss import Context, compare
from pvc.providers.base import read_pair

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = {"type": "ephemeral"}


def body(size: int, seed: int, block: int) -> dict[str, Any]:
    """Write a conversation of about `size` bytes in blocks of about `block`."""
    dice = random.Random(seed)  # noqa: S311  # the same bodies each time
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(3000)]

    def text(length: int) -> str:
        return " ".join(dice.choices(words, k=length // 6)) + "\n"

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


def least(act: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        start = time.process_time()
        act()
        spent.append(time.process_time() - start)
    return min(spent)


def loaded(a_json: bytes, b_json: bytes) -> object:
    return json.loads(a_json), json.loads(b_json)


def missed(a_json: bytes, b_json: bytes) -> object:
    return compare(*read_pair(a_json, b_json), Context())


def ratios(block: int) -> None:
    a = body(1_000_000, 1, block)
    cleared, edited = later(a), later(a)
    cleared["messages"][len(a["messages"]) // 4 * 2]["content"][0]["content"] = "(cleared)"
    edited["system"][0]["text"] = "Be brief. " + edited["system"][0]["text"]
    cases = {
        "a turn more": later(a),
        "a result cleared": cleared,
        "system edited": edited,
        "nothing shared": body(1_000_000, 2, block),
    }
    a_json = json.dumps(a).encode()
    print(f"{len(a_json)} bytes, {len(a['messages'])} messages")
    for name, b in cases.items():
        b_json = json.dumps(b).encode()
        loads = least(partial(loaded, a_json, b_json), 15)
        miss = least(partial(missed, a_json, b_json), 15)
        print(f"  {name:<18} {miss * 1000:6.1f} ms, {miss / loads:.1f} x json.loads of both")


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
