"""The door of both commands, `pvc` and `git-pvc`.

Rule 1: `pin` goes the short way (`launch`), and so does a `blame` that is warm; everything else
goes through click. So this imports nothing of either before it knows which.
Rule 2: bytes do not hang on the locale: words and streams are UTF-8, or a value given with `--set`
would render to other bytes on another machine.
Rule 3: a stream that is closed leads nowhere, as in git; else the next file to be opened would take
its number and be written over.
"""

import gc
import os
import sys

from pvc.errors import INTERRUPTED, READER_LEFT, PvcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TextIO


def main() -> "NoReturn":
    """Run what the command line says, and exit."""
    _settle_streams()
    words = sys.argv[1:]
    if words[:1] == ["-C"] and words[2:3] == ["pin"]:
        words = ["pin", *words[:2], *words[3:]]
    if words[:1] == ["blame"] or (words[:1] == ["-C"] and words[2:3] == ["blame"]):
        gc.disable()  # an answer is one pass over its runs
        code = _short(lambda: _warm_blame(words))
        if code is not None:
            _end(code)
        gc.enable()
    if words[:1] != ["pin"] or "--help" in words or "-h" in words:
        from pvc.cli.main import main as cli

        sys.exit(cli())
    gc.disable()  # one pin leaves no more rubbish than its process takes with it
    _end(_short(lambda: _pin(words[1:])) or 0)


def _end(code: int) -> "NoReturn":
    """Exit at once: what was answered is written, and taking the interpreter apart costs time."""
    sys.stderr.flush()
    os._exit(code)


def _pin(words: list[str]) -> int:
    from pvc.launch.main import main as pin

    return pin(words)


def _warm_blame(words: list[str]) -> int | None:
    from pvc.launch.blame import main as blame

    return blame(words[1:]) if words[0] == "blame" else blame(words[3:], words[1])


def _short(work: "Callable[[], int | None]") -> int | None:
    """Go the short way, with the exit codes of the long one."""
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return READER_LEFT
    except OSError as error:
        from pvc.launch.answer import failed
        from pvc.launch.disk import refusal

        answer = failed(refusal(error))
        sys.stderr.write("\n".join(answer.remarks()) + "\n")
        return answer.exit_code
    except Exception:  # noqa: BLE001 - a fault of ours: shown whole, under its own exit code
        import traceback

        traceback.print_exc()
        return PvcError.exit_code


def _settle_streams() -> None:
    if sys.getfilesystemencoding() != "utf-8":  # no locale of today, but some container's
        words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, words)  # noqa: S606 - this very program again
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
        sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - it stays open
    if sys.stdout is None or sys.stdout.encoding != "utf-8":
        sys.stdout = _writer(1)
    if sys.stderr is None or sys.stderr.encoding != "utf-8":
        sys.stderr = _writer(2)


def _writer(number: int) -> "TextIO":
    return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
