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
@click.option(
    "--files",
    "globs",
    metavar="GLOB",
    multiple=True,
    help="Files the prompt is made of: '**/*.j2'.",
)
@json_option
@click.pass_obj
def command(
    app: App,
    folder: str,
    name: str | None,
    form: str | None,
    globs: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Make FOLDER the tree of one agent's prompt.

    Writes `pvc.toml` and `.gitattributes` where they are missing, and copies the built-in packs to
    `refs/pvc/packs/`. An empty folder gets a starter that stands on the built-in pack; one whose
    files no form reads is refused, unless --files says which of them the prompt is made of.
    """
    from pvc.cli.show import show
    from pvc.ops.init import run

    where = Path(app.directory) / folder
    show(app, run(app.repo, where, name=name, form=form, globs=globs), as_json=as_json)
