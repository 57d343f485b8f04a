"""`pvc promote`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import reason_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("word", metavar="TREE[@V]")
@click.argument("channel")
@reason_option(required=True, help="Why it may go there; log quotes this.")
@click.option("--resolve", metavar="REMOTE", help="Go on from REMOTE's move and from this one.")
@click.option("--sign", is_flag=True, default=None, help="Sign it, whatever commit.gpgSign says.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would move; move nothing.")
@json_option
@click.pass_obj
def command(
    app: App,
    word: str,
    channel: str,
    reason: str,
    *,
    resolve: str | None,
    sign: bool | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Move CHANNEL of a tree to a version, on the record.

    TREE@CHANNEL then names that version in every command, and new sessions that are pinned to the
    channel start there; sessions that are pinned already stay where they are. TREE alone is its
    newest version, TREE@OTHER what another channel names; an older version is a rollback.
    """
    from pvc.cli.show import show
    from pvc.ops.promote import run

    result = run(app.repo, word, channel, reason, resolve=resolve, sign=sign, dry_run=dry_run)
    for note in result.notes:
        app.note(f"note: {note}")
    show(app, result, as_json=as_json)
