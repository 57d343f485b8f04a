"""`pvc blame`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.options import environment_options

if TYPE_CHECKING:
    from pvc.cli.app import App
    from pvc.cli.options import EnvironmentArguments

STYLES = ("json", "porcelain", "line-porcelain", "incremental")


@click.command()
@click.argument("words", metavar="PIN|TREE[@V]|[REVISION] PATH", nargs=-1, required=True)
@environment_options
@click.option("--byte", "byte_range", metavar="N[..M]", help="Only these bytes.")
@click.option("-L", "lines", metavar="N,M", help="Only these lines.")
@click.option("--section", metavar="NAME", help="Only this section of a prompt.")
@click.option("--at", type=int, metavar="N", help="The session as it was after its N-th change.")
@click.option("--head", "over_head", is_flag=True, help="Tools and prompt, as a cache sees them.")
@click.option("--first", is_flag=True, help="Also who had the text or value before.")
@click.option("--since", metavar="DATE", help="Mark what is older with `^`.")
@click.option("-w", "ignore_space", is_flag=True, help="Leave blanks to who wrote around them.")
@click.option("--granularity", type=click.Choice(["word", "byte"]), default="word")
@click.option("--no-moves", is_flag=True, help="Text that one commit moved is new.")
@click.option("--ignore-rev", metavar="REV", multiple=True, help="Look through this commit.")
@click.option("--ignore-revs-file", metavar="FILE", multiple=True, help="And through these.")
@click.option("--json", "style", flag_value="json", help="Print JSON; keys are a contract.")
@click.option("--porcelain", "style", flag_value="porcelain", help="As git, one entry a run.")
@click.option("--line-porcelain", "style", flag_value="line-porcelain", help="All in each entry.")
@click.option("--incremental", "style", flag_value="incremental", help="Without the text.")
@click.option("--html", metavar="FILE", help="Write a page to FILE.")
@click.pass_obj
def command(
    app: App,
    /,
    words: tuple[str, ...],
    environment: EnvironmentArguments,
    style: str | None,
    html: str | None,
    **asked: object,
) -> None:
    """Show which commit wrote each part of a prompt or of any text file, to the word.

    Each line is a run of bytes: where it starts, the version that brought it and the commit, author
    and day behind that, its section, its text. Below stands why each version was adopted. A version
    needs values for its placeholders; a pin has them.

    A file is read from the worktree, or at a revision: `pvc blame v1.2 -- AGENTS.md`. `path:P`
    names a file where a session or a tree has the same name.
    """
    from pvc.cli.blame_options import question
    from pvc.cli.progress import progress
    from pvc.cli.show_blame import show_blame
    from pvc.ops.subject import blame_words
    from pvc.report.blame import page

    if len(words) > 2:
        raise click.UsageError("one pin, one version, or a revision and one path")
    with progress("blame") as watch:
        told = question(app, environment.read(app), asked, watch)
        result = blame_words(app.repo, app.directory, words, told)
    if html:
        app.write_file(html, page(result).encode())
    if style or not html:
        show_blame(app, result, style or "text")
