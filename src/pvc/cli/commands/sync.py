"""`pvc sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("remote", required=False)
@json_option
@click.pass_obj
def command(app: App, remote: str | None, *, as_json: bool) -> int:
    """Fold the spool, then exchange versions and pins with REMOTE; never forces.

    Without a remote it only folds. Exits with 1 when two clones adopted different
    versions, or a ref was refused.
    """
    from pvc.cli.show import show
    from pvc.ops.sync import run

    result = run(app.repo, remote)
    show(app, result, as_json=as_json)
    return 1 if result.diverged or result.refused else 0
