"""`pvc render`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments
    from pvc.ops.render import RenderResult


@click.command()
@click.argument("tree")
@environment_options
@click.option("--map", "map_file", metavar="FILE", help="Write the spans as JSON; `-` is stdout.")
@click.option("--out", metavar="FILE", help="Write the bytes to FILE instead of stdout.")
@click.option("--worktree", is_flag=True, help="Render the folder as it stands, not yet adopted.")
@click.option(
    "--emit",
    "shape",
    type=click.Choice(["anthropic", "openai-chat", "openai-responses"]),
    help="Print the front of a request with tools and prompt.",
)
@click.option("--tools", metavar="FILE", help="Tool definitions of the request, as JSON.")
@click.option("--keep-tool-order", is_flag=True, help="Leave them as given, not by name.")
@click.option("--model", default="", metavar="NAME", help="The model of the request.")
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    app: App,
    tree: str,
    environment: EnvironmentArguments,
    map_file: str | None,
    out: str | None,
    shape: str | None,
    tools: str | None,
    model: str,
    *,
    worktree: bool,
    keep_tool_order: bool,
) -> None:
    """Print the exact bytes of TREE[@VERSION], nothing added.

    `pvc render … | b3sum` agrees with the digest that `pvc pin` records. With `--emit` the same
    bytes stand in a request's system texts, with cache markers where `[markers]` of the tree's
    `pvc.toml` puts them.
    """
    import json

    from pvc.ops.render import render_folder, render_version
    from pvc.ops.select import select_version

    if shape is None and (tools or model or keep_tool_order):
        raise click.UsageError("`--tools` and `--model` speak of a request, so of `--emit`")
    values = environment.read(app)
    if worktree:
        result = render_folder(app.repo, tree, values)
    else:
        result = render_version(app.repo, select_version(app.repo, tree), values)
    if map_file:
        text = json.dumps(result.map_json(), ensure_ascii=False, indent=1)
        app.write_file(map_file, text.encode() + b"\n")
    data = result.rendered.data
    if shape:
        data = _request(app, result, shape, tools, model, in_order=keep_tool_order)
    if out or map_file != "-":
        app.write_file(out or "-", data)


def _request(
    app: App, result: RenderResult, shape: str, tools: str | None, model: str, *, in_order: bool
) -> bytes:
    from pvc.launch.environment import read_tools
    from pvc.ops.emit import emit_request

    given = read_tools(tools, app.directory, in_order=in_order) if tools else None
    return emit_request(result, shape, tools=given, model=model)
