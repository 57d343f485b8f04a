"""`pvc session …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options, reason_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments

chain_option = click.option(
    "--chain", default="main", metavar="NAME", help="A helper agent's own chain of pins."
)


@click.group()
def command() -> None:
    """Change a session's prompt, show it as it was, resume it.

    Each change is an entry with a position, pinned at once: nothing before it is rewritten.
    """


def _adding(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.argument("session"),
        click.argument("file", required=False),
        click.option("--text", help="The text itself, instead of FILE (`-` is stdin)."),
        click.option("--author", default="session", help="Who adds it: an extension's name."),
        reason_option(help="Why; blame and log quote this."),
        click.option(
            "--accept-volatile", is_flag=True, help="Add it although it is true only now."
        ),
        chain_option,
        json_option,
        click.pass_obj,
    )[::-1]:
        function = option(function)
    return function


@command.command()
@_adding
def append(app: App, **given: Any) -> None:
    """Add the text of FILE behind the prompt of SESSION.

    Every byte before it stays, so a cache reads all of them back.
    """
    _add(app, "append", **given)


@command.command()
@_adding
def replace(app: App, **given: Any) -> None:
    """Make the text of FILE the whole prompt of SESSION from here on."""
    _add(app, "replace", **given)


def _add(  # noqa: PLR0913  # one parameter an option
    app: App,
    mode: str,
    *,
    session: str,
    file: str | None,
    text: str | None,
    author: str,
    reason: str,
    accept_volatile: bool,
    chain: str,
    as_json: bool,
) -> None:
    from pvc.cli.show import show as show_result
    from pvc.errors import UsageError
    from pvc.launch.entry import Change
    from pvc.launch.environment import read_input
    from pvc.ops.session import add

    if (file is None) == (text is None):
        raise UsageError("give the text as FILE or as `--text`", hint="`-` is standard input")
    data = text.encode() if text is not None else read_input(str(file), app.directory)
    now = None if accept_volatile else app.now()
    change = Change(data, mode, author, reason)
    show_result(app, add(app.repo, session, change, chain=chain, now=now), as_json=as_json)


@command.command()
@click.argument("session")
@click.option(
    "--at", type=int, metavar="N", help="As it was after its N-th change; 0 is the start."
)
@chain_option
@json_option
@click.pass_obj
def show(app: App, session: str, at: int | None, chain: str, *, as_json: bool) -> None:
    """Print the exact prompt of SESSION, now or at a past position."""
    from pvc.ops.session import show as show_session

    position = show_session(app.repo, session, at, chain)
    if as_json:
        app.json(position.to_json())
    else:
        app.write(position.rendered.data)


@command.command()
@click.argument("session")
@click.option("--lines", is_flag=True, help="As a session log in JSON lines, texts included.")
@chain_option
@json_option
@click.pass_obj
def log(app: App, session: str, chain: str, *, lines: bool, as_json: bool) -> None:
    """List the positions of SESSION: what changed its prompt, who, when and why."""
    from pvc.cli.show import show as show_result
    from pvc.cli.text import printable
    from pvc.ops import session as ops

    if lines:
        app.write(printable(ops.lines(app.repo, session, chain).decode()).encode())
    else:
        show_result(app, ops.log(app.repo, session, chain), as_json=as_json)


@command.command()
@click.argument("session")
@click.argument("version", required=False, metavar="TREE[@VERSION|@CHANNEL]")
@environment_options
@click.option("--layer", "layers", metavar="NAME=DIR", multiple=True, help="A live layer's folder.")
@click.option("--log", "log_file", metavar="FILE", help="The harness's own session log.")
@click.option("--record", "reason", metavar="REASON", default="", help="Record the difference.")
@chain_option
@json_option
@click.pass_obj
def resume(  # noqa: PLR0913  # one parameter an option
    app: App,
    session: str,
    version: str | None,
    environment: EnvironmentArguments,
    layers: tuple[str, ...],
    log_file: str | None,
    reason: str,
    chain: str,
    *,
    as_json: bool,
) -> int:
    """Say whether what SESSION was told still holds, and what a change would cost.

    Nothing is recorded without --record. Exit 1 when something differs.
    """
    from pathlib import Path

    from pvc.cli.options import parse_pairs
    from pvc.cli.show import show as show_result
    from pvc.launch.environment import read_input
    from pvc.ops.resume import Wanted, run
    from pvc.ops.select import select_version

    wanted = Wanted(
        environment.read(app) if environment.is_given else None,
        select_version(app.repo, version) if version else None,
        {name: Path(app.directory) / folder for name, folder in parse_pairs(layers, "--layer")},
        read_input(log_file, app.directory) if log_file else None,
        reason,
    )
    result = run(app.repo, session, wanted, chain)
    show_result(app, result, as_json=as_json)
    return 1 if result.status == "differs" else 0
