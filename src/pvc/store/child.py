"""Children: `git` run as another process, the only program that pvc ever starts in a repository.

Rule 1: nothing found in a repository is run. A child gets no monitor, no hooks (only a push keeps
the user's), no prompt and no optional locks.
Rule 2: a child sees objects as they were made: replace refs and grafts are off (`launch.child`).
Rule 3: a child that writes, syncs: objects, then refs (git does not do so by itself).
Rule 4: a child is told where the repository is. Discovery happens once, in `store.open`.
Rule 5: what runs in nobody's sight asks nobody (`run_alone`): it has no terminal and no window to
ask in, and ends after some seconds, with all that it started.
"""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from pvc.errors import CorruptError, PvcError, UnsupportedError, WriteError
from pvc.launch.child import ENVIRONMENT, NO_HOOKS, NO_MONITOR

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = (
    NO_MONITOR,
    "core.fsync=committed,loose-object,reference",
    "core.fsyncMethod=fsync",
)
DISK_REFUSES = (
    "No space left",
    "Out of diskspace",
    "Disk quota exceeded",
    "Read-only file system",
    "Permission denied",
    "insufficient permission",
    "File too large",
    "unable to write",
    "unable to create temporary file",
    "unable to append to",
    "unable to rename temporary file",
)
ALONE_S = 20
_NO_PAGER = {"GIT_PAGER": "cat"}
_WINDOWS = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS", "GPG_TTY")
STALE_LOCK = "if no git process is running, a killed one left its lock: remove the `.lock` file"
_LOCKED = ("unable to create", "Unable to create", "cannot lock ref")


@dataclass(frozen=True, slots=True)
class Done:
    """What a child left: its exit code and both streams."""

    code: int
    out: bytes
    err: str

    @property
    def reason(self) -> str:
        """The line of stderr that says why, without git's own prefix."""
        text = self.err.replace(":\n\t", ": ")  # a list that begins on its own line
        lines = [line for line in text.split("\n") if line.startswith(("fatal:", "error:"))]
        line = (lines or self.err.split("\n") or [""])[0]
        return line.removeprefix("fatal: ").removeprefix("error: ").removesuffix(".").strip()

    @property
    def is_refused_by_disk(self) -> bool:
        """Whether the disk is full, read-only or not ours."""
        return any(words in self.err for words in DISK_REFUSES)

    @property
    def is_locked(self) -> bool:
        """Whether another process holds a lock that will go away."""
        return "File exists" in self.err and any(words in self.err for words in _LOCKED)


@dataclass(frozen=True, slots=True)
class Git:
    """Starts children in one repository, or, without `git_dir`, wherever `folder` leads git."""

    folder: Path
    git_dir: Path | None = None
    worktree: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()

    def command(self, *words: str, hooks: bool = False) -> list[str]:
        """Build the argument list of a child."""
        settings = SETTINGS if hooks else (*SETTINGS, NO_HOOKS)
        command = ["git", "-C", str(self.folder)]
        for setting in settings:
            command += ["-c", setting]
        if self.git_dir is not None:
            command.append(f"--git-dir={self.git_dir}")
        if self.worktree is not None:
            command.append(f"--work-tree={self.worktree}")
        return [*command, *words]

    def variables(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Build the environment of a child."""
        variables = {
            **os.environ,
            **ENVIRONMENT,
            **_NO_PAGER,
            **dict(self.environment),
            **(more or {}),
        }
        if self.git_dir is not None:
            for name in ("GIT_DIR", "GIT_WORK_TREE"):
                variables.pop(name, None)
        return variables

    def run(
        self,
        *words: str,
        data: bytes = b"",
        hooks: bool = False,
        more: Mapping[str, str] | None = None,
        holds: int = -1,
        to: IO[bytes] | None = None,
    ) -> Done:
        """Run a child to its end, whatever its exit code.

        It inherits the open file `holds`, so that a lock on it lasts as long as the child does.
        Its output goes into the file `to`, where one is given.
        """
        try:
            done = subprocess.run(
                self.command(*words, hooks=hooks),
                input=data,
                stdout=to or subprocess.PIPE,
                stderr=subprocess.PIPE,
                check=False,
                env=self.variables(more),
                pass_fds=(holds,) if holds >= 0 else (),
            )
        except FileNotFoundError:
            raise _no_git() from None
        return Done(done.returncode, done.stdout or b"", done.stderr.decode(errors="replace"))

    def run_alone(
        self,
        *words: str,
        data: bytes = b"",
        more: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Done:
        """Run a child that can ask nobody for anything, such as a key's passphrase.

        It is ended after `seconds`, `ALONE_S` where nothing is given.
        """
        limit = ALONE_S if seconds is None else seconds
        variables = {k: v for k, v in self.variables(more).items() if k not in _WINDOWS}
        try:
            child = subprocess.Popen(
                self.command(*words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=variables | {"SSH_ASKPASS_REQUIRE": "never"},
                start_new_session=True,
            )
        except FileNotFoundError:
            raise _no_git() from None
        with child:
            try:
                out, err = child.communicate(data, timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                return Done(1, b"", f"fatal: no answer within {limit:.0f} seconds")
        return Done(child.returncode, out, err.decode(errors="replace"))

    def output(
        self,
        *words: str,
        data: bytes = b"",
        error: type[PvcError] = CorruptError,
        more: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run a child that must succeed; raises `error`, or `WriteError` where the disk refuses."""
        done = self.run(*words, data=data, more=more)
        if done.code != 0:
            raise failure(done, words[0], error)
        return done.out

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a child that is spoken to through its pipes."""
        try:
            return subprocess.Popen(
                self.command(*words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self.variables(),
            )
        except FileNotFoundError:
            raise _no_git() from None


def failure(done: Done, verb: str, error: type[PvcError] = CorruptError) -> PvcError:
    """Make the error of a child that failed."""
    if done.is_refused_by_disk:
        return WriteError(f"git cannot write: {done.reason}")
    hint = STALE_LOCK if done.is_locked else ""
    return error(f"`git {verb}` failed: {done.reason}", hint=hint)


def _no_git() -> PvcError:
    return UnsupportedError("there is no `git` on the PATH", hint="install git 2.36 or newer")
