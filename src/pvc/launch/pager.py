"""Long results on a terminal go through the user's pager, as git's do.

Rule 1: git says which pager (`git var GIT_PAGER`: its variable, `core.pager`, `PAGER`, `less`), so
nobody has to tell pvc. None, or `cat`, means none.
Rule 2: only a terminal gets a pager or colour; `NO_COLOR` means no colour.
Rule 3: a reader who leaves early, as `| head` does, is no error.
"""

import os
import sys

from pvc.launch.child import output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_LESS, _LV = "FRX", "-c"


def wants_colour() -> bool:
    """Whether stdout is a terminal that wants colour (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


class Pager:
    """Stdout, or a pager in front of it while a result is written."""

    def __init__(self, git_dir: str) -> None:
        self.colour = wants_colour()
        self.exit_code = 0
        self._git_dir = git_dir
        self._child = 0
        self._handle = -1

    def __enter__(self) -> "Self":
        if sys.stdout.isatty():
            said = output([f"--git-dir={self._git_dir}", "var", "GIT_PAGER"]) or b""
            command = said.decode(errors="surrogateescape").strip("\n")
            if command not in ("", "cat"):
                self._start(command)
        return self

    def write(self, text: str) -> None:
        """Write a result; texts that are no Unicode go out as they came."""
        data = text.encode("utf-8", "surrogateescape")
        try:
            if self._child:
                with open(self._handle, "wb", closefd=False) as pipe:
                    pipe.write(data)
            else:
                sys.stdout.flush()
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
        except BrokenPipeError:
            if not self._child:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                self.exit_code = 141

    def __exit__(self, *_: object) -> None:
        if self._child:
            os.close(self._handle)
            os.waitpid(self._child, 0)
            self._child = 0

    def _start(self, command: str) -> None:
        read, self._handle = os.pipe()
        os.set_inheritable(self._handle, False)
        more = {"LESS": os.environ.get("LESS", _LESS), "LV": os.environ.get("LV", _LV)}
        self._child = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", command],
            {**os.environ, **more},
            file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_CLOSE, read)],
        )
        os.close(read)
