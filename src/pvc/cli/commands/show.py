"""`pvc show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("word", metavar="PIN|TREE[@V]")
@click.option("--bytes", "as_bytes", is_flag=True, help="Print the exact prompt of the pin.")
@json_option
@click.pass_obj
def command(app: App, word: str, *, as_bytes: bool, as_json: bool) -> None:
    """Show one pin (by session or digest) or one version.

    `session:ID`, `b3:PREFIX` (of the prompt's digest or the receipt) and `NAME@7` are explicit; a
    bare word is a tree, a pack or a session. Of a session the newest pin is shown.
    """
    from pvc.cli.show import show
    from pvc.ops.show import run

    result = run(app.repo, word, render=as_bytes)
    if as_bytes:
        app.write(result.bytes_or_raise())
    else:
        show(app, result, as_json=as_json)
