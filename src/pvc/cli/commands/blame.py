"""`pvc blame`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("word", metavar="PIN|TREE[@V]")
@environment_options
@click.option("--byte", "byte_range", metavar="N[..M]", help="Only these bytes of the prompt.")
@click.option("--section", metavar="NAME", help="Only this section.")
@click.option("--at", type=int, metavar="N", help="The session as it was after its N-th change.")
@json_option
@click.pass_obj
def command(
    app: App,
    word: str,
    environment: EnvironmentArguments,
    byte_range: str | None,
    section: str | None,
    at: int | None,
    *,
    as_json: bool,
) -> None:
    """Show which commit wrote each part of a prompt.

    Each line is a run of bytes: where it starts, the version that brought it and the commit, author
    and day behind that, its section, its text. Below stands why each version was adopted. A version
    needs values for its placeholders; a pin has them.
    """
    from pvc.cli.options import parse_byte_range
    from pvc.cli.show import show
    from pvc.ops.subject import blame_subject

    wanted = parse_byte_range(byte_range) if byte_range else None
    values = environment.read(app)
    blamed = blame_subject(app.repo, word, values, wanted, section, at=at)
    show(app, blamed, as_json=as_json)
