"""`pvc supersede`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.files import State


@click.command()
@click.argument("name")
@click.option("-m", "reason", required=True, help="Why it is adopted; blame and miss quote this.")
@click.option("--index", "state", flag_value="index", help="Take what is staged.")
@click.option("--worktree", "state", flag_value="worktree", help="Take the files as they stand.")
@click.option("--from", "folder", metavar="DIR", help="The folder, from the repository's root.")
@click.option("--resolve", metavar="REMOTE", help="Go on from REMOTE's version and from this one.")
@click.option("--accept-findings", is_flag=True, help="Adopt it although names lead nowhere.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be adopted; move nothing.")
@json_option
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    app: App,
    name: str,
    reason: str,
    state: State | None,
    folder: str | None,
    resolve: str | None,
    *,
    accept_findings: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Adopt the folder of tree NAME as its next version.

    The folder is taken as git stores it at HEAD, so commit first. Older versions are never
    touched, and sessions that are pinned to one stay there. An identical folder makes no version.
    """
    from pvc.cli.show import show
    from pvc.ops.supersede import run

    result = run(
        app.repo,
        name,
        reason,
        state=state or "head",
        folder=folder,
        resolve=resolve,
        accept_findings=accept_findings,
        dry_run=dry_run,
    )
    show(app, result, as_json=as_json)
