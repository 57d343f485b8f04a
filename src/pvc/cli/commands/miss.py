"""`pvc miss`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("a")
@click.argument("b", required=False)
@click.option(
    "--context",
    "context_file",
    metavar="FILE",
    help="JSON: provider, relation, same_account, seconds_between, usage_b.",
)
@click.option("--relation", type=click.Choice(["next_turn", "new_session"]), help="What B is to A.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Time from A to B.")
@click.option("--response", "response_file", metavar="FILE", help="What came back for B: JSON.")
@click.option("--facts", "facts_file", metavar="FILE", help="Your own figures of the provider.")
@click.option("--tree", metavar="NAME", help="The tree that captured texts come from.")
@json_option
@click.pass_obj
def command(app: App, /, a: str, b: str | None, *, as_json: bool, **known: Any) -> int:
    """Say why B missed the cache that A had filled.

    It names the first byte that differs, who wrote it, and what the miss costs.
    A and B are sessions or files with request bodies. One session alone is compared with the pin
    before it of the same tree. Works outside of a repository for files. Exits with 1 on a miss.
    """
    from pvc.cli.show import show
    from pvc.ops.miss import MissOptions, run

    result = run(app, a, b, MissOptions(**known))
    show(app, result, as_json=as_json)
    return 1 if result.missed else 0
