"""`pvc render`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("tree")
@environment_options
@click.option("--map", "map_file", metavar="FILE", help="Write the spans as JSON; `-` is stdout.")
@click.option("--out", metavar="FILE", help="Write the bytes to FILE instead of stdout.")
@click.option("--worktree", is_flag=True, help="Render the folder as it stands, not yet adopted.")
@click.pass_obj
def command(
    app: App,
    tree: str,
    environment: EnvironmentArguments,
    map_file: str | None,
    out: str | None,
    *,
    worktree: bool,
) -> None:
    """Print the exact bytes of TREE[@VERSION], nothing added.

    `pvc render … | b3sum` agrees with the digest that `pvc pin` records.
    """
    import json

    from pvc.ops.render import render_folder, render_version
    from pvc.ops.select import select_version

    values = environment.read(app)
    if worktree:
        result = render_folder(app.repo, tree, values)
    else:
        result = render_version(app.repo, select_version(app.repo, tree), values)
    if map_file:
        text = json.dumps(result.map_json(), ensure_ascii=False, indent=1)
        app.write_file(map_file, text.encode() + b"\n")
    if out or map_file != "-":
        app.write_file(out or "-", result.rendered.data)
