"""`pvc supersede`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pvc.cli.app import json_option
from pvc.cli.options import reason_option

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.files import State
    from pvc.ops.revise import Edits


@click.command()
@click.argument("name")
@reason_option(required=True, help="Why it is adopted; blame and miss quote this.")
@click.option("--index", "state", flag_value="index", help="Take what is staged.")
@click.option("--worktree", "state", flag_value="worktree", help="Take the files as they stand.")
@click.option("--from", "folder", metavar="DIR", help="The folder, from the repository's root.")
@click.option(
    "--set", "sets", metavar="PATH=FILE", multiple=True, help="Put FILE (`-`: stdin) at PATH."
)
@click.option("--rm", "removed", metavar="PATH", multiple=True, help="Take a file out.")
@click.option(
    "--pack", "packs", metavar="NAME=V", multiple=True, help="Stand on version V of NAME."
)
@click.option("--revert-to", metavar="V", type=click.IntRange(1), help="Have version V again.")
@click.option("--resolve", metavar="REMOTE", help="Go on from REMOTE's version and from this one.")
@click.option("--first", is_flag=True, help="Begin a history although a remote may have one.")
@click.option("--allow-empty", is_flag=True, help="Adopt it although it renders to nothing.")
@click.option("--accept-findings", is_flag=True, help="Adopt it although names lead nowhere.")
@click.option("--sign", is_flag=True, default=None, help="Sign it, whatever commit.gpgSign says.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be adopted; move nothing.")
@json_option
@click.pass_obj
def command(
    app: App,
    /,
    *,
    name: str,
    reason: str,
    state: State | None,
    folder: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Adopt the folder of tree or pack NAME as its next version.

    The folder is taken as git stores it at HEAD, so commit first. Older versions are never
    touched, and sessions that are pinned to one stay there. An identical folder makes no version.

    With --set, --rm, --pack or --revert-to no folder is read: the next version is the newest one
    with these edits, and what they do not name is inherited.
    """
    from pvc.cli.show import show
    from pvc.ops.supersede import run

    edits = _edits(app, given)
    if edits and (state or folder is not None):
        raise click.UsageError(
            "edits are made to the version; --index, --worktree and --from read a folder"
        )
    result = run(app.repo, name, reason, state=state or "head", folder=folder, edits=edits, **given)
    for note in result.notes:
        app.note(f"note: {note}")
    for path in result.undone:
        app.note(
            f"note: {path} is as it was before it was edited in the chain; this takes that back"
        )
    show(app, result, as_json=as_json)
    if result.folder_differs:
        paths = ", ".join(result.folder_differs)
        app.note(
            f"note: the folder still differs from this version: {paths}; "
            "adopting the folder as it is takes this back"
        )


def _edits(app: App, given: dict[str, Any]) -> Edits | None:
    """Take out of the options what edits a version."""
    from pvc.cli.options import parse_pairs
    from pvc.ops.revise import Edits

    return Edits.of(
        parse_pairs(given.pop("sets"), "--set"),
        given.pop("removed"),
        parse_pairs(given.pop("packs"), "--pack"),
        given.pop("revert_to"),
        app.directory,
    )
