"""`pvc log`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("name", required=False)
@click.option("--pins", is_flag=True, help="List pinned sessions instead of versions.")
@click.option(
    "--limit", "-n", type=click.IntRange(1), default=50, show_default=True, help="At most so many."
)
@json_option
@click.pass_obj
def command(app: App, name: str | None, limit: int, *, pins: bool, as_json: bool) -> None:
    """List the versions of a tree or pack, newest first.

    Without NAME, the newest version of each tree and pack.

    Below a tree's version stand the events that moved its prompt (a pack's version, an adoption, a
    change of the toolset) with the bytes that moved, over the values of the newest session here.
    """
    from pvc.cli.show import show
    from pvc.ops.log import pins_log, versions_log

    result = pins_log(app.repo, name, limit) if pins else versions_log(app.repo, name, limit)
    show(app, result, as_json=as_json)
