"""`pvc miss`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pvc.cli.app import json_option

if TYPE_CHECKING:
    from pvc.cli.app import App


@click.command()
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option(
    "--context",
    "context_file",
    metavar="FILE",
    help="JSON: provider, endpoint, relation, same_account, seconds_between, usage_b.",
)
@click.option("--relation", type=click.Choice(["next_turn", "new_session"]), help="What B is to A.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Time from A to B.")
@click.option("--response", "response_file", metavar="FILE", help="What came back for B: JSON.")
@click.option("--facts", "facts_file", metavar="FILE", help="Your own figures of the provider.")
@click.option("--tree", metavar="NAME", help="The tree that captured texts come from.")
@click.option("--transcript", metavar="FILE", multiple=True, help="Find misses in transcripts.")
@click.option("--otel", metavar="FILE", multiple=True, help="Find misses in traces (OTLP/JSON).")
@click.option("--since", metavar="DATE", help="Of records: only from then on.")
@click.option("--top", type=click.IntRange(min=1), default=20, help="Of records: how many to list.")
@json_option
@click.pass_obj
def command(
    app: App,
    /,
    a: str | None,
    b: str | None,
    *,
    transcript: tuple[str, ...],
    otel: tuple[str, ...],
    since: str | None,
    top: int,
    as_json: bool,
    **known: Any,
) -> int:
    """Say why B missed the cache that A had filled.

    It names the first byte that differs, who wrote it, and what the miss costs.
    A and B are sessions or files with request bodies. One session alone is compared with the pin
    before it of the same tree; in a folder, a HAR or a file with a body a line, each request is
    compared with the one before it.
    Works outside of a repository for files. Exits with 1 on a miss.
    """
    from pathlib import Path

    from pvc.ops.request import is_file

    if transcript or otel:
        return _evidence(app, (*transcript, *otel), since, top, as_json=as_json)
    if a is None:
        raise click.UsageError("Missing argument 'A'.")
    if b is None and ((Path(app.directory) / a).is_dir() or is_file(app, a)):
        return _bodies(app, a, top, as_json=as_json)
    from pvc.cli.show import show
    from pvc.ops.miss import MissOptions, run

    result = run(app, a, b, MissOptions(**known))
    show(app, result, as_json=as_json)
    return 1 if result.missed else 0


def _evidence(
    app: App, files: tuple[str, ...], since: str | None, top: int, *, as_json: bool
) -> int:
    from pvc.cli.show import show
    from pvc.ops.evidence import found_files, read_evidence

    size = sum(path.stat().st_size for path in found_files(app.directory, files))
    with app.progress(size) as step:
        found = read_evidence(app.directory, files, since=since, top=top, progress=step)
    show(app, found, as_json=as_json)
    return 1 if found.missed else 3 if found.unread else 0


def _bodies(app: App, word: str, top: int, *, as_json: bool) -> int:
    from pvc.cli.show import show
    from pvc.ops.evidence import found_files, read_bodies

    size = sum(path.stat().st_size for path in found_files(app.directory, [word]))
    with app.progress(size) as step:
        found = read_bodies(app.directory, word, top=top, progress=step)
    show(app, found, as_json=as_json)
    return 1 if found.missed else 0 if found.pairs else 3
