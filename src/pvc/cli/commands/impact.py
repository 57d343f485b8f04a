"""`pvc impact`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments
    from pvc.files import State

FORMATS = ("text", "json", "md")


@click.command()
@click.argument("tree", metavar="TREE[@V]")
@click.argument("other", required=False, metavar="[TREE@V]")
@click.option("--index", "state", flag_value="index", help="Take what is staged.")
@click.option("--worktree", "state", flag_value="worktree", help="Take the files as they stand.")
@click.option("--from", "folder", metavar="DIR", help="The folder, from the repository's root.")
@environment_options
@click.option(
    "--since",
    default="24h",
    show_default=True,
    metavar="DATE",
    help="Sessions pinned from then on count.",
)
@click.option("--list", "listing", is_flag=True, help="Name every session.")
@click.option(
    "--what-if-order",
    "what_if",
    is_flag=False,
    flag_value="",
    metavar="[A,B,…]",
    help="Replay past adoptions in another order; without names, seldom-changed sections first.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    app: App,
    tree: str,
    other: str | None,
    *,
    state: State | None,
    folder: str | None,
    environment: EnvironmentArguments,
    since: str,
    what_if: str | None,
    form: str,
    listing: bool,
    as_json: bool,
) -> None:
    """Say what adopting TREE's folder would invalidate: sections, bytes, tokens, sessions, price.

    Compares the folder at HEAD with the newest version; or two versions. Text that is not in the
    prompt costs 0. Without values sections are placed over a sample of the placeholders.
    """
    from pvc.ops.impact import ImpactOptions, run
    from pvc.report.impact import to_lines, to_markdown

    values = environment.read(app)
    options = ImpactOptions(state or "head", folder, values or None, since, what_if=what_if)
    result = run(app.repo, tree, other, options)
    if as_json or form == "json":
        app.json(result.to_json(listing=listing))
        return
    lines = to_markdown(result) if form == "md" else to_lines(result, listing=listing)
    for line in lines:
        app.say(line)
