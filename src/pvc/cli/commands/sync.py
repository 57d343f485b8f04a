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
    """Exchange versions and pins with REMOTE; never forces.

    REMOTE is `origin` or the only one there is. First the pins of this clone that only its spool
    holds are folded into its ledger; without any remote that is all. What the pins name (values,
    tools) is sent only where `git config pvc.pushBodies true` is set. Exits with 1 when two clones
    adopted different versions, a ref was refused, or a pin is damaged or renders to other bytes.
    """
    from pvc.cli.show import show
    from pvc.ops.sync import run

    result = run(app.repo, remote)
    show(app, result, as_json=as_json)
    return 1 if result.has_findings else 0
