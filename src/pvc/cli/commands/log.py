"""`pvc log`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("name", metavar="[NAME[@V]]", required=False)
@click.option("--tree", metavar="NAME", help="The same as NAME.")
@click.option("--packs", is_flag=True, help="List every pack, those that nothing stands on too.")
@click.option("--pins", is_flag=True, help="List pinned sessions instead of versions.")
@click.option("--session", metavar="ID", help="Of pins: this session's, all chains.")
@click.option("--since", metavar="DATE", help="Of pins: from then on.")
@click.option("--until", metavar="DATE", help="Of pins: up to then.")
@click.option("-S", "phrase", metavar="PHRASE", help="Versions whose rendered text has PHRASE.")
@environment_options
@click.option(
    "--limit", "-n", type=click.IntRange(1), default=50, show_default=True, help="At most so many."
)
@json_option
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    app: App,
    name: str | None,
    *,
    tree: str | None,
    session: str | None,
    since: str | None,
    until: str | None,
    phrase: str | None,
    environment: EnvironmentArguments,
    limit: int,
    packs: bool,
    pins: bool,
    as_json: bool,
) -> None:
    """List the versions of a tree or pack, newest first.

    Without NAME, the newest version of each tree, and of the packs that are yours or that a tree
    stands on. NAME@7 and NAME@CHANNEL begin there.

    A tree's version tells how many sessions stand on it. Below it stand the events that moved its
    prompt (a pack's version, an adoption, a change of the toolset) with the bytes that moved, over
    the values of the newest session here, and the channels that came to it. What a remote has
    otherwise stands on top.

    With --pins, the sessions that were pinned, newest first; no more of the ledger is read than
    the answer needs.

    With -S, first and last version that carry a phrase, and all between. Values that placeholders
    need may be given; for a version that lacks some, its source texts are searched.
    """
    from pvc.cli.progress import progress
    from pvc.cli.show import show
    from pvc.ops.log import pins_log
    from pvc.ops.phrase import phrase_log
    from pvc.ops.versions_log import versions_log

    name = name or tree
    if not pins and any(word is not None for word in (session, since, until)):
        raise click.UsageError("--session, --since and --until choose pins: add --pins")
    if phrase is not None:
        if pins:
            raise click.UsageError("-S searches versions, not pins")
        with progress("search") as watch:
            found = phrase_log(app.repo, phrase, name, environment.read(app), watch)
        show(app, found, as_json=as_json)
        if not found.carriers:
            _note_unfetched(app)
        return
    if pins:
        listed = pins_log(app.repo, name, limit, session=session, since=since, until=until)
        show(app, listed, as_json=as_json)
        if not listed.pins:
            _note_unfetched(app)
        return
    if packs and name:
        raise click.UsageError("--packs lists all packs, so it takes no name")
    show(app, versions_log(app.repo, name, limit, packs=packs), as_json=as_json)


def _note_unfetched(app: App) -> None:
    """Say of an empty answer that what is not in this clone was not looked through."""
    from pvc.ops.fresh import said, unfetched

    for name in unfetched(app.repo):
        app.note(f"note: {said(name)}")
