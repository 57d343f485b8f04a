"""`pvc check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.errors import UsageError
from pvc.model.finding import Severity

if TYPE_CHECKING:
    from pvc.cli.app import App

FORMATS = ("text", "json", "sarif", "github")


def _severities(_context: click.Context, _option: click.Parameter, text: str) -> list[Severity]:
    """Read `--fail-on`."""
    names = [name for name in text.split(",") if name and text != "none"]
    unknown = [name for name in names if name not in list(Severity)]
    if unknown:
        known = ", ".join(Severity)
        raise UsageError(f"`{unknown[0]}` is no severity", hint=f"{known}, or none")
    return [Severity(name) for name in names]


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH|TREE@V]…")
@click.option("--index", is_flag=True, help="Check what is staged.")
@click.option("--rev", default="", metavar="REV|A..B", help="Check a commit, or what a range adds.")
@click.option("--tools", metavar="FILE", help="Tool definitions that are sent with the prompt.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    default="corrupting,volatile",
    show_default=True,
    metavar="SEVERITIES",
    callback=_severities,
    help="Exit with 1 on these; `none` never does.",
)
@click.option("--baseline", metavar="FILE", help="Leave out what an earlier --json output has.")
@click.option("--fix", is_flag=True, help="Mend what is certain: line ends, marks, blanks.")
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    app: App,
    paths: tuple[str, ...],
    rev: str,
    tools: str | None,
    form: str,
    fail_on: list[Severity],
    baseline: str | None,
    *,
    index: bool,
    as_json: bool,
    fix: bool,
) -> int:
    """Look for what breaks prompts or their caching.

    Exits with 1 on a grave finding.

    Without PATH it checks every folder with a `pvc.toml`. A file or folder without one is checked
    too when it is named, inside of a repository or not.
    """
    from pvc.ops.check import CheckOptions, run
    from pvc.report.check import to_annotations, to_lines, to_sarif

    options = CheckOptions(paths, index, rev, tools, baseline, fix, tuple(fail_on))
    result = run(app.directory, options)
    if as_json or form == "json":
        app.json(result.to_json())
    elif form == "sarif":
        app.json(to_sarif(result))
    else:
        for line in to_annotations(result) if form == "github" else to_lines(result):
            app.say(line)
    return 1 if result.failed else 0
