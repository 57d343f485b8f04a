"""`pvc verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("what", nargs=-1, metavar="[WHAT]…")
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    metavar="[SESSION=]b3:…",
    help="The record that a launch answered with must be here.",
)
@click.option("--since", metavar="DATE", help="Read only folds from then on.")
@click.option("--no-render", is_flag=True, help="Do not render prompts again.")
@click.option("--require-signed", is_flag=True, help="A missing signature is a finding.")
@click.option("--remote", default="", metavar="NAME", help="Ask where a remote stands now, too.")
@json_option
@click.pass_obj
def command(
    app: App,
    what: tuple[str, ...],
    receipts: tuple[str, ...],
    since: str | None,
    remote: str,
    *,
    no_render: bool,
    require_signed: bool,
    as_json: bool,
) -> int:
    """Look whether anything was tampered with.

    Exits with 1 on a finding.

    WHAT is a tree or pack, TREE@CHANNEL, a writer, a ref or what refs begin with, session:ID,
    b3:…, `spool`, `cache` or `bodies`; without any, all of this clone and all that it saw of
    remotes. Nothing is changed and nothing fetched.

    With --receipt alone, only these records are looked for.
    """
    from pvc.cli.progress import progress
    from pvc.cli.show import show
    from pvc.ops.verify import VerifyOptions, run

    options = VerifyOptions(what, receipts, since, not no_render, require_signed, remote)
    with progress("verify") as watch:
        result = run(app.repo, options, watch)
    show(app, result, as_json=as_json)
    return 1 if result.found else 0
