"""Clones with a person in front of them: real repositories, the real command as a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOOM_ENVIRONMENT: dict[str, Any] = {
    "workspace": "/srv/harbour",
    "platform": "linux x86_64",
    "shell": "/bin/bash",
    "tools": ["read_file", "edit_file"],
    "enforcement": "PlatformEnforced",
    "network": {"kind": "NetworkBlocked"},
}


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Clone:
    """A working copy and its person."""

    path: Path
    who: str = "Ada Osei"

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PVC_"))}
        email = f"{self.who.split()[0].lower()}@example.org"
        return kept | {
            "HOME": str(self.path.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": self.who,
            "GIT_AUTHOR_EMAIL": email,
            "GIT_COMMITTER_NAME": self.who,
            "GIT_COMMITTER_EMAIL": email,
            "LC_ALL": "C",
        }

    def run(self, command: list[str], **changes: str) -> Done:
        done = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment | changes,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def git(self, *words: str) -> str:
        done = self.run(["git", *words])
        assert done.code == 0, f"git {words}: {done.err}"
        return done.text.strip()

    def pvc(self, *words: str, code: int = 0, **changes: str) -> Done:
        done = self.run([sys.executable, "-m", "pvc", *words], **changes)
        assert done.code == code, f"pvc {words} gave {done.code}: {done.err}{done.text}"
        return done

    def refused(self, *words: str, code: int, **changes: str) -> str:
        """Run what must fail: one line, perhaps hints, nothing on stdout; gives stderr."""
        done = self.pvc(*words, code=code, **changes)
        first, *rest = done.err.rstrip("\n").split("\n")
        assert first.startswith("pvc: "), done.err
        assert all(line.startswith("  hint: ") for line in rest), done.err
        assert done.out == b""
        return done.err

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def commit(self, message: str = "Change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def refs(self) -> str:
        return self.git("for-each-ref", "refs/pvc")


@pytest.fixture
def make_clone(tmp_path: Path) -> Callable[..., Clone]:
    """Make a repository, or a clone of `origin`, for one person."""

    def make(name: str, who: str = "Ada Osei", origin: Path | None = None) -> Clone:
        path = tmp_path / name
        source = ["clone", "-q", str(origin)] if origin else ["init", "-q", "-b", "main"]
        subprocess.run(["git", *source, str(path)], check=True, capture_output=True)
        return Clone(path, who)

    return make


@pytest.fixture
def ada(make_clone: Callable[..., Clone]) -> Clone:
    """An empty repository of Ada's."""
    return make_clone("ada")


@pytest.fixture
def plain(ada: Clone) -> Clone:
    """Ada's repository with a plain tree `agent` of two files, not adopted yet."""
    ada.write("agent/pvc.toml", 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n')
    ada.write("agent/10-role.md", "# Role\n\nYou mend harbour software.\n")
    ada.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nNever force a push.\n")
    ada.commit("Start the agent")
    return ada


@pytest.fixture
def adopted(plain: Clone) -> Clone:
    """The same, with version 1."""
    plain.pvc("supersede", "agent", "-m", "First prompt")
    return plain
