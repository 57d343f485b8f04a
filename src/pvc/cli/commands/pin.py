"""`pvc pin`: the help page. The command itself runs before click is imported (`pvc.launch`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.errors import UsageError

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("tree", required=False, metavar="TREE[@VERSION|@CHANNEL]")
@click.option("--session", metavar="ID", help="What the harness calls the session.")
@click.option(
    "--chain", metavar="NAME", help="A helper agent's own chain of pins; `main` by default."
)
@click.option("--env", metavar="FILE", help="The environment: a JSON object.")
@click.option("--set", metavar="KEY=TEXT", multiple=True, help="One value, over those of --env.")
@click.option("--guidance", metavar="FILE", multiple=True, help="A guidance file of the workspace.")
@click.option("--guidance-default", metavar="FILE", help="The user's own default guidance file.")
@click.option("--tools", metavar="FILE", help="Tool definitions: JSON of a provider or of MCP.")
@click.option(
    "--keep-tool-order", is_flag=True, help="Pin the tools in the order given, not by name."
)
@click.option(
    "--provider", metavar="SHAPE", help="anthropic.messages, openai.chat, openai.responses."
)
@click.option("--model", metavar="NAME", help="Recorded with the pin.")
@click.option("--out", metavar="FILE", help="Write the prompt to FILE; `-` is stdout.")
@click.option("--resume", is_flag=True, help="Give the pinned bytes back; needs no environment.")
@click.option(
    "--emit",
    metavar="SHAPE",
    help="With --resume: the front of a request in place of the prompt, as it was pinned.",
)
@click.option("--repin", metavar="REASON", help="Let a known session change; recorded.")
@click.option(
    "--privacy", metavar="WHAT", help="What is kept: inputs, bytes, digest or keyed; pvc.privacy."
)
@click.option("--allow-empty", is_flag=True, help="Pin a prompt of no bytes.")
@click.option("--must-record", is_flag=True, help="Fail when the pin cannot be recorded.")
@click.option("--request", metavar="FILE", help="Pin a request body as it was sent.")
@click.option("--rendered", metavar="FILE", help="Pin a prompt that something else rendered.")
@click.option(
    "--hook", metavar="NAME", help="Take the session from a start hook's JSON: claude-code."
)
@click.option("--batch", is_flag=True, help="JSON lines in, JSON lines out, answered when durable.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON; keys are a contract.")
@click.pass_obj
def command(_app: App, /, **_arguments: object) -> None:
    """Render TREE for one session and record what it was told.

    The record is durable before the answer is given. A known session keeps its version, whatever
    was adopted since; other values for it are refused until --repin says why.
    """
    raise UsageError("`pin` comes first", hint="pvc pin -C DIR TREE --session ID")
