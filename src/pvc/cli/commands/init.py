"""`pvc init`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import FORMS

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("folder", default=".")
@click.option("--name", help="The tree's name; the folder's by default.")
@click.option("--form", type=FORMS, help="How its files are written; told by them by default.")
@json_option
@click.pass_obj
def command(app: App, folder: str, name: str | None, form: str | None, *, as_json: bool) -> None:
    """Make FOLDER the tree of one agent's prompt.

    Writes `pvc.toml` and `.gitattributes` where they are missing, and copies the built-in packs to
    `refs/pvc/packs/`. An empty folder gets a starter that stands on the built-in pack.
    """
    from pvc.cli.show import show
    from pvc.ops.init import run

    show(app, run(app.repo, Path(app.directory) / folder, name=name, form=form), as_json=as_json)
