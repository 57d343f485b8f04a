"""`pvc forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import reason_option
from pvc.errors import UsageError

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("sessions", nargs=-1, metavar="SESSION…")
@click.option(
    "--before", metavar="DATE", help="All pins before then: 2026-09-01 (UTC), or 90.days.ago."
)
@reason_option("--reason", metavar="REASON", help="Why; it stays on record.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and let nothing go.")
@json_option
@click.pass_obj
def command(
    app: App,
    sessions: tuple[str, ...],
    *,
    before: str | None,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Forget what sessions were told; that they were, stays provable.

    Values, tools, texts and kept bytes of SESSION…, or of all pins before DATE, go from this clone,
    but for what another session needs. The records stay as they are, their receipts and chains
    verify, and the ledger says what was forgotten, when, by whom and why: other clones let go of
    their copies at their next sync. `git gc --prune=now` then takes the bytes off the disk.
    """
    from pvc.cli.show import show
    from pvc.ops.forget import Wanted, run

    if bool(sessions) == (before is not None):
        raise UsageError("name sessions, or a date with `--before`")
    named = tuple(dict.fromkeys(word.removeprefix("session:") for word in sessions))
    wanted = Wanted(named, before, reason=reason)
    result = run(app.repo, wanted, dry_run=dry_run)
    for note in result.notes:
        app.note(f"note: {note}")
    show(app, result, as_json=as_json)
    return 1 if result.has_findings else 0
