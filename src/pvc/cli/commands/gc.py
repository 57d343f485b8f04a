"""`pvc gc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would go, and let nothing go.")
@json_option
@click.pass_obj
def command(app: App, *, dry_run: bool, as_json: bool) -> int:
    """Fold, and collect what nobody needs any more.

    With `git config pvc.keepBodies 90.days` the values, tools and texts of this clone's older pins
    are forgotten, as `pvc forget` does; the records stay. Bodies that no record names, left by
    launches that were killed, go after a day (`pvc.keepOrphans`), and so do files that nothing
    reads. `git gc --prune=now` then takes the bytes off the disk.
    """
    from pvc.cli.show import show
    from pvc.ops.gc import run

    result = run(app.repo, dry_run=dry_run)
    show(app, result, as_json=as_json)
    return 1 if result.has_findings else 0
