"""Options that several commands share, and how their words become values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from pvc.errors import UsageError
from pvc.model.names import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.cli.app import App


FORMS = click.Choice(["loom", "plain", "harness", "clio", "panto", "raku"])
"""The forms that this pvc reads; a test compares them with its dialects."""


@dataclass(frozen=True, slots=True)
class EnvironmentArguments:
    """The words that say what fills a prompt's placeholders."""

    env: str | None
    sets: tuple[str, ...]
    guidance: tuple[str, ...]
    guidance_default: str | None

    @property
    def is_given(self) -> bool:
        """Whether any value is given at all."""
        return bool(self.env or self.sets or self.guidance or self.guidance_default)

    def read(self, app: App) -> dict[str, Any]:
        """Read the files; raises `UsageError` or `DecodeError` with the place."""
        from pvc.launch.environment import read_environment

        values, notes = read_environment(
            self.env, self.sets, self.guidance, self.guidance_default, app.directory
        )
        for note in notes:
            app.note(f"note: {note}")
        return values


def environment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--env`, `--set`, `--guidance`, `--guidance-default`; passes `environment`."""

    @click.option("--env", metavar="FILE", help="The environment: a JSON object.")
    @click.option("--set", "sets", metavar="KEY=TEXT", multiple=True, help="One value.")
    @click.option("--guidance", metavar="FILE", multiple=True, help="A workspace's guidance file.")
    @click.option("--guidance-default", metavar="FILE", help="The user's default guidance file.")
    @wraps(function)
    def wrapped(
        *args: Any,
        env: str | None,
        sets: tuple[str, ...],
        guidance: tuple[str, ...],
        guidance_default: str | None,
        **kwargs: Any,
    ) -> Any:
        given = EnvironmentArguments(env, sets, guidance, guidance_default)
        return function(*args, environment=given, **kwargs)

    return wrapped


def reason_option(*names: str, required: bool = False, **more: Any) -> Callable[..., Any]:
    """Give `-m`: said more than once, each is a paragraph, as with `git commit`."""

    def joined(_context: click.Context, _option: click.Parameter, words: tuple[str, ...]) -> str:
        return "\n\n".join(text for word in words if (text := word.strip("\n")).strip())

    return click.option(
        "-m", *names, "reason", required=required, multiple=True, callback=joined, **more
    )


def parse_pairs(words: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    """Read the `NAME=VALUE` words of an option, each name once."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise UsageError(f"`{option}` takes NAME=VALUE, not `{word}`")
        if name in found:
            raise UsageError(f"`{option}` names `{name}` twice")
        found[name] = value
    return [*found.items()]


def parse_byte_range(text: str) -> tuple[int, int]:
    """Read `N` or `N..M` (half-open) as a byte range."""
    first, dots, last = text.partition("..")
    start, end = whole_number(first), whole_number(last)
    if start is None or (dots and end is None):
        raise UsageError(f"`{text}` is no byte range", hint="--byte 120 or --byte 120..180")
    return start, start + 1 if end is None else end
