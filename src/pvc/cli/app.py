"""What a command needs from outside: repository, streams, clock; each opened on first use."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from pvc.cli.text import plain, printable

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from pvc.ops.session import Now
    from pvc.store.repo import Repository


class App:
    """One call of the command line."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    @cached_property
    def repo(self) -> Repository:
        """The repository that holds the directory; raises `NotFoundError` where there is none."""
        from pvc.store.open import open_repository

        return open_repository(self.directory)

    @property
    def colour(self) -> bool:
        """Whether stdout is a terminal that wants colour (no-color.org)."""
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def now(self) -> Now:
        """Say what is true only now: the date, and where this machine works."""
        from datetime import datetime
        from pathlib import Path

        from pvc.ops.session import Now

        folders = {"cwd": str(Path(self.directory).resolve()), "home": str(Path.home())}
        return Now(datetime.now().astimezone().date(), folders)

    def write(self, data: bytes) -> None:
        """Write bytes to stdout untouched."""
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def write_file(self, path: str, data: bytes) -> None:
        """Write a file, or stdout for `-`; by a rename, so that it is whole or not there."""
        if path == "-":
            self.write(data)
            return
        from pvc.launch.main import write_out

        write_out(path, data)

    def say(self, text: str, *, marked: re.Pattern[str] | None = None) -> None:
        """Write a line for people: escaped, so that it stays one, then `marked` in colour."""
        shown = plain(text)
        if marked and self.colour:
            shown = marked.sub(lambda found: click.style(found[0], fg="yellow"), shown)
        click.echo(shown)

    def note(self, text: str) -> None:
        """Write to stderr what is no result."""
        click.echo(plain(text), err=True)

    @contextmanager
    def progress(self, size: int) -> Iterator[Callable[[int], None]]:
        """Give what tells a progress bar of work done; it is shown on a terminal alone."""
        with click.progressbar(
            length=size, file=sys.stderr, hidden=not sys.stderr.isatty(), update_min_steps=1 << 20
        ) as bar:
            yield bar.update

    def json(self, value: dict[str, Any]) -> None:
        """Write one JSON document and a line feed."""
        # What a terminal would obey stands in strings alone, where JSON has the same escapes.
        click.echo(printable(json.dumps(value, ensure_ascii=False, indent=2)))


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; keys are a contract."
)
