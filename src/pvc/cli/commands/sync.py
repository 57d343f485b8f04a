"""`pvc sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("remote", required=False)
@click.option(
    "--consolidate",
    is_flag=True,
    help="Take the remote's inbox and idle ledgers into this clone's own, and remove their refs.",
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0),
    default=7,
    show_default=True,
    metavar="DAYS",
    help="With --consolidate: how long nobody added to a ledger that is taken.",
)
@json_option
@click.pass_obj
def command(app: App, remote: str | None, *, consolidate: bool, idle: float, as_json: bool) -> int:
    """Exchange versions and pins with REMOTE; never forces.

    REMOTE is `origin` or the only one there is. First the pins of this clone that only its spool
    holds are folded into its ledger; without any remote that is all. What the pins name (values,
    tools) is sent only where `git config pvc.pushBodies true` is set. Where a host takes only heads
    and tags, set `pvc.refPrefix` to `refs/heads/pvc` in every clone. `pvc.inbox` sends the ledger
    of a clone that lives for one session to where --consolidate collects it. Exits with 1 when two
    clones adopted different versions, a ref was refused, or a pin is damaged or renders to other
    bytes.
    """
    import time

    from pvc.cli.show import show
    from pvc.ops.sync import run

    days = idle if consolidate else None
    result = run(app.repo, remote, idle_days=days, now_seconds=int(time.time()))
    show(app, result, as_json=as_json)
    return 1 if result.has_findings else 0
