"""The story of one cache miss, told with the real commands in a throw-away repository.

Ada's agent stands on the built-in pack. Bob adopts an edit on his clone; both sync through a bare
repository. Ada's next session misses the cache, and `pvc miss` and `pvc blame` say whose byte it
was.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pvc.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.cli.app import App

ENVIRONMENT: Final = {
    "workspace": "/home/ada/harbour",
    "platform": "linux x86_64",
    "shell": "/bin/bash",
    "tools": ["read_file", "edit_file", "run_command"],
    "enforcement": "PlatformEnforced",
    "network": {"kind": "NetworkProxied", "allow": ["packages.example"]},
}

CONDUCT: Final = """\
Say what you are about to do before you do it, in one sentence.
Ask before you delete anything that is not under version control.
When two readings of a request lead to different code, take the one that is cheaper to undo.
"""


class Stage:
    """The folder of the story: three places, two people, and a way to run commands there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.people = {"ada": "Ada Osei", "bob": "Bob Lindqvist"}

    def environment(self, who: str) -> dict[str, str]:
        """Give one person's process environment: nothing of the user's own git."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        name = self.people.get(who, "pvc")
        email = f"{who}@harbour.example"
        return kept | {
            "HOME": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": email,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": email,
            "NO_COLOR": "1",
        }

    def run(
        self, who: str, line: str, *, codes: tuple[int, ...] = (0,), quiet: bool = False
    ) -> str:
        """Run one command line in `who`'s clone and show both; returns its stdout."""
        words = shlex.split(line)
        command = [sys.executable, "-m", "pvc", *words[1:]] if words[0] == "pvc" else words
        place = self.root / who
        if not quiet:
            click.echo(click.style(f"{who}$ {line}", bold=True))
        done = subprocess.run(
            command,
            cwd=place if place.exists() else self.root,
            env=self.environment(who),
            capture_output=True,
            text=True,
            check=False,
        )
        if not quiet:
            click.echo("".join(f"  {text}\n" for text in done.stdout.splitlines()), nl=False)
        if done.returncode not in codes:
            raise subprocess.CalledProcessError(done.returncode, line, done.stdout, done.stderr)
        if not quiet:
            click.echo("".join(f"  {text}\n" for text in done.stderr.splitlines()), nl=False)
        return done.stdout

    def write(self, who: str, path: str, text: str) -> None:
        """Put a file into `who`'s clone."""
        file = self.root / who / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        click.echo(click.style(f"{who}$ cat > {path}", bold=True))
        click.echo("".join(f"  {line}\n" for line in text.splitlines()), nl=False)


def run(_app: App, *, keep: bool) -> int:
    """Tell the story; returns 0. Raises `NotFoundError` where there is no git."""
    if shutil.which("git") is None:
        raise NotFoundError("git is not on the PATH", hint="install git 2.30 or newer")
    root = Path(tempfile.mkdtemp(prefix="pvc-demo-"))
    try:
        for _ in _story(Stage(root)):
            click.echo()
    finally:
        if keep:
            click.echo(f"Kept: {root}/ada, {root}/bob and the bare {root}/hub.git")
        else:
            shutil.rmtree(root, ignore_errors=True)
    return 0


def _say(text: str) -> None:
    click.echo(click.style(f"# {text}", fg="cyan"))


def _story(stage: Stage) -> Iterator[None]:
    stage.run("hub", "git init -q --bare hub.git", quiet=True)
    stage.run("hub", "git clone -q hub.git ada", quiet=True)
    stage.run("hub", "git clone -q hub.git bob", quiet=True)

    _say("Ada makes a tree on the built-in pack and adopts its first version.")
    stage.run("ada", "git checkout -q -b main", quiet=True)
    stage.run("ada", "mkdir -p prompts/agent")
    stage.run("ada", "pvc init prompts/agent")
    stage.run("ada", "git add prompts")
    stage.run("ada", "git commit -q -m 'Start the agent'")
    stage.run("ada", "pvc supersede agent -m 'First prompt of the agent'")
    yield

    _say("Her harness pins the prompt of Monday's session, then she shares everything.")
    env = json.dumps(ENVIRONMENT, indent=2) + "\n"
    stage.write("ada", "env.json", env)
    stage.run("ada", "pvc pin agent --session monday --env env.json")
    stage.run("ada", "git push -q origin main")
    stage.run("ada", "pvc sync origin")
    yield

    _say("Bob rewrites the section `conduct` of the pack for this agent, and adopts it.")
    stage.run("bob", "git pull -q origin main", quiet=True)
    stage.run("bob", "git checkout -q main", quiet=True)
    stage.run("bob", "pvc sync origin")
    stage.write("bob", "prompts/agent/conduct.md", CONDUCT)
    stage.run("bob", "git add prompts")
    stage.run("bob", "git commit -q -m 'Make the agent announce what it does'")
    stage.run("bob", "pvc supersede agent -m 'Users were surprised by silent deletions'")
    stage.run("bob", "git push -q origin main")
    stage.run("bob", "pvc sync origin")
    yield

    _say("On Tuesday Ada's agent takes the newest version. Her bill goes up. Why?")
    stage.run("ada", "git pull -q origin main")
    stage.run("ada", "pvc sync origin")
    stage.run("ada", "pvc pin agent --session tuesday --env env.json")
    stage.run("ada", "pvc miss monday tuesday", codes=(1,))
    yield

    _say("And who wrote the bytes that are there now?")
    stage.run("ada", "pvc blame tuesday --section conduct")
    stage.run("ada", "pvc log agent")
    yield
