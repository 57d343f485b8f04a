"""`pvc context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("session")
@click.option("--section", "sections", metavar="NAME=FILE", multiple=True, help="A section's text.")
@click.option("--fact", "facts", metavar="NAME=TEXT", multiple=True, help="A short value.")
@environment_options
@click.option("--skills", is_flag=True, help="Section `skills`: what was adopted among them since.")
@click.option("--whole", is_flag=True, help="Repeat all that is current, not only what is new.")
@click.option("--chain", default="main", metavar="NAME", help="A helper agent's own chain.")
@json_option
@click.pass_obj
def command(
    app: App,
    /,
    session: str,
    sections: tuple[str, ...],
    facts: tuple[str, ...],
    *,
    environment: EnvironmentArguments,
    as_json: bool,
    **asked: Any,
) -> None:
    """Print what changed around SESSION since it was last told, and record that it is told now.

    All that is current is given each time; what is not given any more is withdrawn. That holds for
    dynamic sections that a launch brings too: give its values again with --env. Only sections that
    the version lists under `dynamic` may be told so; the prompt itself never changes here.
    """
    from pvc.cli.options import parse_pairs
    from pvc.launch.environment import read_input
    from pvc.ops.context import run

    texts = {
        name: read_input(file, app.directory) for name, file in parse_pairs(sections, "--section")
    }
    named = dict(parse_pairs(facts, "--fact"))
    result = run(
        app.repo,
        session,
        texts,
        named,
        environment=environment.read(app),
        **asked,
    )
    if as_json:
        app.json(result.to_json())
    elif result.message:
        app.write(result.message.encode())
    for note in result.notes:
        app.note(f"note: {note}")
    if result.pin is None:
        app.note("note: nothing changed since the last delivery")
