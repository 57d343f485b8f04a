"""`pvc hook`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pvc.cli.app import json_option
from pvc.errors import UsageError

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("action", type=click.Choice(["install", "uninstall", "run"]))
@click.argument("words", nargs=-1, metavar="[NAME]…", type=click.UNPROCESSED)
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@json_option
@click.pass_obj
def command(app: App, action: str, words: tuple[str, ...], *, dry_run: bool, as_json: bool) -> int:
    """Put guards into a repository, take them away, or run one as git does.

    A clone gets `pre-commit`, `pre-push`, `reference-transaction` and `post-merge`; a bare
    repository gets `pre-receive`, the only one that nobody can step around. A hook that is there
    runs first and comes back when ours is taken away.
    """
    if action == "run":
        return _run(app, words)
    from pvc.ops.hook_install import install, uninstall

    result = (install if action == "install" else uninstall)(app.repo, words, dry_run=dry_run)
    if as_json:
        app.json(result.to_json())
        return 0
    for change in result.changes:
        app.say(f"{change.done} {change.name}")
    app.say(f"Hooks are in {result.folder}" + (" (nothing was written)" if dry_run else ""))
    return 0


def _run(app: App, words: tuple[str, ...]) -> int:
    import time

    from pvc.ops.hook import run
    from pvc.report.hook import to_lines

    if not words:
        raise UsageError("which hook?", hint="pvc hook run pre-commit")
    result = run(app.repo, words[0], words[1:], sys.stdin.buffer.read, time.time_ns() // 1000)
    for line in to_lines(result):
        app.note(line)
    return 1 if result.stops else 0
