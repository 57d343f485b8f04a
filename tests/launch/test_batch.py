"""`pvc pin --batch` as a stream: lines come in any pieces, and a slow reader is waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from launches import environment
from pvc.launch import spool as spools
from pvc.launch.prompt import digest
from pvc.launch.spool import Spool

if TYPE_CHECKING:
    from launches import Launches

PIPE_BYTES = 1 << 16


def start(launches: Launches) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "pvc", "pin", "--batch"],
        cwd=launches.path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def feed_until_it_waits(handle: int, line: bytes) -> int:
    """Write lines until nothing was taken for a second; gives how many were."""
    os.set_blocking(handle, False)
    taken, last = 0, time.monotonic()
    while time.monotonic() - last < 1:
        try:
            taken += os.write(handle, line) == len(line)
            last = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    return taken


def test_a_reader_that_takes_no_answers_stops_the_writer_and_loses_none(
    launches: Launches,
) -> None:
    line = json.dumps({"id": "x" * 472, "tree": "agent"}).encode().ljust(511) + b"\n"
    answers: list[bytes] = []
    with start(launches) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        taken = feed_until_it_waits(process.stdin.fileno(), line)
        reader = threading.Thread(target=answers.extend, args=[process.stdout])
        reader.start()
        process.stdin.close()
        reader.join()
    assert process.returncode == 2
    assert taken * len(line) < 32 * PIPE_BYTES, "it read on although nobody took its answers"
    assert len(answers) == taken
    assert {json.loads(answer)["status"] for answer in answers} == {"error"}


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_lines_are_put_together_wherever_the_pipe_cuts_them(launches: Launches, size: int) -> None:
    lines = [{"id": i, "tree": "agent", "note": "é" * 3 * i} for i in range(20)]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    with start(launches) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for at in range(0, len(data), size):
            process.stdin.write(data[at : at + size])
            process.stdin.flush()
        process.stdin.close()
        assert [json.loads(line)["id"] for line in process.stdout] == [*range(20)]


def test_an_answer_does_not_wait_for_the_next_line(launches: Launches) -> None:
    with start(launches) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for i in range(3):
            line = json.dumps({"id": i, "tree": "agent", "session": f"s{i}"})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert (answer["id"], answer["status"]) == (i, "pinned")
            assert len(launches.spooled) == i + 1
    assert process.returncode == 0


def test_a_process_that_pins_for_ever_does_not_remember_every_body(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spools, "REMEMBERED", 4)
    launches.record("s")
    spool = Spool(str(launches.home))
    for i in range(20):
        data = b"%d" % i
        spool.add_body(digest(data), data)
        spool.sync_bodies()
        assert len(spool._durable) <= 5
