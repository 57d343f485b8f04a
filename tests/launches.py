"""Trees whose programs are cached, pins as processes, folds: what the launch tests share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pvc.errors
from pvc.core.json_text import parse
from pvc.core.program import run
from pvc.launch import cache
from pvc.launch.call import Call
from pvc.launch.pin import Pinner
from pvc.launch.place import find
from pvc.model.digest import Digest
from pvc.model.pin import Pin, PromptFacts
from pvc.model.span import Plane
from pvc.store.bodies import read_body
from pvc.store.fold import FoldResult, fold
from pvc.store.ledger import Ledger

if TYPE_CHECKING:
    from pvc.launch.cache import Compiled
    from workspace import Workspace

FIELDS = (("who", "text", False, (), "", ()), ("cwd", "text", False, (), "", ()))


@dataclass
class Done:
    """A process that ended."""

    code: int
    out: bytes
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """Its one line of JSON."""
        answer: dict[str, Any] = json.loads(self.out)
        return answer

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Its lines of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Launches:
    """A repository with trees, and sessions that are launched in it."""

    workspace: Workspace
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.workspace.path

    @property
    def home(self) -> Path:
        """The folder `pvc/` in the common git folder."""
        return self.path / ".git" / "pvc"

    @property
    def spooled(self) -> list[Path]:
        return sorted(path for path in (self.home / "spool").iterdir() if len(path.name) == 32)

    def adopt(self, text: bytes, tree: str = "agent") -> str:
        """Make the next version of a tree: `text`, then the values `who` and `cwd`."""
        git = self.workspace.git
        ref, number = f"refs/pvc/trees/{tree}", self.numbers.get(tree, 0) + 1
        blob = git("hash-object", "-w", "--stdin", data=text)
        folder = git("mktree", data=f"100644 blob {blob}\tAGENTS.md\n".encode())
        parents = ("-p", ref) if number > 1 else ()
        commit = git("commit-tree", folder, *parents, "-m", f"version {number}")
        git("update-ref", ref, commit)
        self.numbers[tree] = number
        cache.write(str(self.path / ".git"), commit, compiled(tree, number, commit, text))
        return commit

    def adopt_guided(self) -> None:
        """Make a next version that takes guidance files and nothing else."""
        commit = self.adopt(b"guided\n")
        number = self.numbers["agent"]
        hole = ("text", "guidance", ("repository_guidance",), "AGENTS.md", 0)
        fields = (("repository_guidance", "text", False, (), "", ()),)
        program = ("plain", 1, fields, ((("section", "body", False, (hole,)),),))
        cache.write(str(self.path / ".git"), commit, ("agent", number, commit, program))

    def pin(self, *words: str, data: bytes = b"", **variables: str) -> Done:
        """Run `pvc pin WORDS` here as its own process."""
        return process(self.path, "pin", *words, data=data, **variables)

    def record(self, session: str, who: str = "x", **more: str) -> str:
        """Pin a session within this process and give the receipt."""
        call = Call()
        call.tree, call.session, call.environment = "agent", session, {"who": who}
        for name, value in more.items():
            setattr(call, name, value)
        answer = self.pinner().pin([call])[0]
        assert answer.status == "pinned", answer.message
        return answer.receipt

    def pinner(self) -> Pinner:
        """Pin within this process."""
        return Pinner(find(str(self.path)))

    def fold(self) -> FoldResult:
        """Fold the spool, rendering again from the program cache."""
        repository = self.workspace.open()

        def again(pin: Pin) -> PromptFacts | None:
            body = read_body(repository, pin.environment) if pin.environment else None
            entry = cache.read(str(self.path / ".git"), str(pin.commit))
            if body is None or entry is None:
                return None
            return facts(*run(entry[3], parse(body.decode())))

        try:
            return fold(repository, render=again)
        finally:
            repository.close()

    def ledger(self) -> Ledger:
        return Ledger(self.workspace.open())


def compiled(tree: str, number: int, commit: str, text: bytes) -> Compiled:
    """Give the cache entry of a plain version."""
    block = (
        ("lit", text, "AGENTS.md", "body", 0),
        ("text", "who", ("who",), "AGENTS.md", len(text)),
        ("text", "cwd", ("cwd",), "AGENTS.md", len(text)),
    )
    return (tree, number, commit, ("plain", 1, FIELDS, ((("section", "body", False, block),),)))


def facts(data: bytes, spans: list[Any], ends: tuple[int, ...]) -> PromptFacts:
    """Say what follows from a rendered prompt."""
    launch = next((span[0] for span in spans if span[2][0] == "binding"), len(data))
    return PromptFacts(
        digest=Digest.of(data),
        size_bytes=len(data),
        sha256=sha256(data).hexdigest(),
        form="plain",
        rule=1,
        label="",
        fingerprint="",
        blocks=ends,
        stable=launch,
        planes=((Plane.SURFACE, 0), (Plane.LAUNCH, launch)),
    )


def process(folder: Path, *words: str, data: bytes = b"", **variables: str) -> Done:
    """Run `pvc WORDS` in `folder`."""
    return python(folder, "-m", "pvc", *words, data=data, **variables)


def python(folder: Path, *words: str, data: bytes = b"", **variables: str) -> Done:
    """Run this very interpreter in `folder`, with the pvc that is tested."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        input=data,
        capture_output=True,
        env=environment(**variables),
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def environment(**variables: str) -> dict[str, str]:
    """Give the variables that make a child import the pvc that is tested, from any folder."""
    source = str(Path(pvc.errors.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, **variables}
