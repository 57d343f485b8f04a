"""`pvc import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import FORMS

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command("import")
@click.argument("form", type=FORMS)
@click.argument("path")
@click.option("--name", help="The tree's name; PATH's last part by default.")
@click.option("--into", metavar="DIR", help="The tree's folder, which is made; NAME by default.")
@click.option(
    "--files", "globs", metavar="GLOB", multiple=True, help="Files the prompt is made of."
)
@json_option
@click.pass_obj
def command(
    app: App,
    form: str,
    path: str,
    name: str | None,
    into: str | None,
    globs: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Make a tree of prompts that are there already: a folder or a pack file, anywhere.

    Every byte is kept. Shows what was understood, what was not, and what is wrong with it. Nothing
    is overwritten: the tree's folder must be new or empty.
    """
    from pvc.cli.show import show
    from pvc.ops.import_ import run

    directory = Path(app.directory)
    target = None if into is None else directory / into
    result = run(app.repo, form, directory / path, directory, name=name, into=target, globs=globs)
    show(app, result, as_json=as_json)
