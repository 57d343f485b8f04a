"""`pvc demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.option("--keep", is_flag=True, help="Leave the repositories to look into.")
@click.pass_obj
def command(app: App, *, keep: bool) -> int:
    """Tell the story of one cache miss with the real commands.

    It happens in throw-away repositories; --keep leaves them.
    """
    from pvc.cli.demo import run

    return run(app, keep=keep)
