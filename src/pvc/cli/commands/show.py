"""`pvc show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments


@click.command()
@click.argument("word", metavar="PIN|TREE[@V]")
@click.option("--bytes", "as_bytes", is_flag=True, help="Print the exact prompt of the pin.")
@environment_options
@click.option("--tools", metavar="FILE", help="Tool definitions, to be proved like --env.")
@click.option(
    "--keep-tool-order", is_flag=True, help="The tools were pinned in this order, not by name."
)
@click.option("--rendered", metavar="FILE", help="The prompt's bytes, to be proved like --env.")
@json_option
@click.pass_obj
def command(
    app: App,
    word: str,
    *,
    as_bytes: bool,
    environment: EnvironmentArguments,
    tools: str | None,
    keep_tool_order: bool,
    rendered: str | None,
    as_json: bool,
) -> int:
    """Show one pin (by session or digest) or one version.

    `session:ID`, `b3:PREFIX` (of the prompt's digest or the receipt) and `NAME@7` are explicit; a
    bare word is a tree, a pack or a session. Of a session the newest pin is shown.

    With values, tools or bytes of your own these are held against the pin: they prove what was
    told where nothing of it was kept, and with --bytes they give the prompt again. Exits with 1
    where they are not what was pinned.
    """
    from pvc.cli.show import show
    from pvc.launch.environment import read_input, read_tools
    from pvc.ops import proof
    from pvc.ops.show import run

    given = proof.Given(
        environment.read(app) if environment.is_given else None,
        read_tools(tools, app.directory, in_order=keep_tool_order) if tools else None,
        read_input(rendered, app.directory) if rendered else None,
    )
    if given:
        proved = proof.run(app.repo, word, given)
        if as_bytes and proved.is_proved and proved.rendered is not None:
            app.write(proved.rendered.data)
        else:
            show(app, proved, as_json=as_json)
        return 0 if proved.is_proved else 1
    result = run(app.repo, word, render=as_bytes)
    if as_bytes:
        app.write(result.bytes_or_raise())
    else:
        show(app, result, as_json=as_json)
    return 0
