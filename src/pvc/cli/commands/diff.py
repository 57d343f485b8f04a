"""`pvc diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("a")
@click.argument("b")
@environment_options
@click.option("--stat", is_flag=True, help="Only how much changed in each section.")
@json_option
@click.pass_obj
def command(
    app: App, a: str, b: str, environment: EnvironmentArguments, *, stat: bool, as_json: bool
) -> int:
    """Compare two versions, sessions or request bodies.

    They are compared as they are rendered, by section and word, and what a cache loses is said.
    A value that a version asks for and that is not given stands as its placeholder, and so does one
    of a session that is not in this clone. Exits with 1 when anything differs, and with 4 when that
    cannot be told without such values.
    """
    from pvc.cli.show_diff import show_diff
    from pvc.ops.diff import diff

    found = diff(app, a, b, environment.read(app))
    if as_json:
        app.json(found.to_json())
    else:
        show_diff(app, found, stat=stat)
    return 1 if found.differs else 4 if found.is_unknown else 0
