"""`pvc pin` as a process: arguments in, answers out, exit code.

Rule 1: `--batch` answers in order and only what is durable; as many lines as have arrived, up to
`BATCH`, share one sync of each folder. Nothing is read while an answer waits to be taken, so a slow
reader slows its writer down, and no memory grows.
Rule 2: `--out` is written whenever rendering worked, whole or not at all.
"""

import gc
import os
import sys

from pvc.errors import PvcError
from pvc.launch import arguments
from pvc.launch.answer import Answer, failed
from pvc.launch.call import Call, LineError, from_line
from pvc.launch.disk import refusal
from pvc.launch.environment import take_standard_input
from pvc.launch.pin import Pinner
from pvc.launch.place import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 64
GROUP_BYTES = 1 << 20
"""Lines that are read ahead to share a sync."""


def main(words: list[str]) -> int:
    """Carry out `pvc pin WORDS` and give the exit code."""
    as_json, is_hook = "--json" in words, "--hook" in words
    try:
        given = arguments.read(words)
        as_json, is_hook = given.is_json, given.is_hook
        pinner = Pinner(find())
        if given.is_batch:
            return _stream(pinner, must_record=given.call.must_record)
        answer = pinner.pin([given.call])[0]
        if given.emit and answer.error is None:
            _emit(pinner, given, answer)
    except PvcError as error:
        answer = failed(error)
    return _finish(answer, as_json=as_json, is_hook=is_hook)


def _emit(pinner: Pinner, given: arguments.Arguments, answer: Answer) -> None:
    """Give the front of the session's requests out in the place of its prompt."""
    from pvc.ops.emit import resumed

    call = given.call
    directory = pinner.place.git_dir
    answer.data = resumed(directory, call.session, given.emit, call.tree, call.chain)
    answer.out = call.out or "-"


def _finish(answer: Answer, *, as_json: bool, is_hook: bool) -> int:
    answer = _written(answer)
    is_prompt_out = answer.out == "-" and answer.data is not None
    to_stdout = not is_prompt_out and not is_hook
    line = answer.as_json() if as_json else answer.as_text()
    if line and (as_json or answer.status != "refused"):
        (sys.stdout if to_stdout else sys.stderr).write(line + "\n")
    if is_prompt_out and answer.data is not None:
        sys.stdout.buffer.write(answer.data)
    _remark(answer)
    sys.stdout.flush()
    return answer.exit_code


def _remark(answer: Answer) -> None:
    lines = answer.remarks()
    if lines:
        sys.stderr.write("\n".join(lines) + "\n")


def _written(answer: Answer) -> Answer:
    """Write `--out`; the answer is an error where that fails."""
    if not answer.out or answer.out == "-" or answer.data is None:
        return answer
    try:
        write_out(answer.out, answer.data)
    except PvcError as error:
        return failed(error, answer.id)
    return answer


def write_out(path: str, data: bytes) -> None:
    """Put `data` in the place of a file, whole or not at all; into a pipe or device as it is."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise refusal(error, path, "cannot be written") from None


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.tmp.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


# --- many pins in one process ------------------------------------------------------------------


def _stream(pinner: Pinner, *, must_record: bool) -> int:
    gc.enable()
    take_standard_input("`--batch`")
    code = 0
    for lines in _arriving():
        code = _answer(pinner, lines, must_record=must_record) or code
    return code


def _arriving() -> "Iterator[list[bytes]]":
    """Give lines in the groups that they arrive in: what is there is taken, up to a bound."""
    from select import select

    parts: list[bytes] = []  # of the line that has not ended
    lines: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 16):
        head, *more = part.split(b"\n")
        parts.append(head)
        size += len(part)
        for line in more:
            lines.append(b"".join(parts))
            parts = [line]
        is_more = len(lines) < BATCH and size < GROUP_BYTES and select([0], [], [], 0)[0]
        if lines and not is_more:
            yield lines
            lines, size = [], 0
    yield [*lines, b"".join(parts)]


def _answer(pinner: Pinner, lines: list[bytes], *, must_record: bool) -> int:
    code = 0
    group: list[Call | Answer] = []
    for line in lines:
        if not line.strip():
            continue
        item = _read(line, must_record=must_record)
        if len(group) == BATCH or _repeats(group, item):
            code = _flush(pinner, group) or code
            group = []
        group.append(item)
    return _flush(pinner, group) or code


def _read(line: bytes, *, must_record: bool) -> Call | Answer:
    try:
        call = from_line(line)
    except LineError as error:
        return failed(error.error, error.id)
    call.must_record = must_record
    return call


def _repeats(group: list[Call | Answer], item: Call | Answer) -> bool:
    """Tell whether a session is in the group already; its second line must see its first."""
    return isinstance(item, Call) and any(
        isinstance(other, Call) and (other.session, other.chain) == (item.session, item.chain)
        for other in group
    )


def _flush(pinner: Pinner, group: list[Call | Answer]) -> int:
    answers = iter(pinner.pin([item for item in group if isinstance(item, Call)]))
    code = 0
    for item in group:
        answer = _written(next(answers) if isinstance(item, Call) else item)
        sys.stdout.write(answer.as_json() + "\n")
        code = answer.exit_code or code
    sys.stdout.flush()
    return code
