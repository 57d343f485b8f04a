"""`docs/cli.md`, made from the commands themselves: `python -m pvc.cli.reference`."""

from __future__ import annotations

import sys

import click

from pvc.cli.main import COMMANDS, pvc

HEAD = """\
# Command reference

Made from the commands by `make docs`; a test compares the two. Results go to stdout, all else to
stderr.

Exit codes: 0 fine · 1 a finding, a difference, a miss, a refusal · 2 usage · 3 bytes not in their
form, or corrupt · 4 not found, or the ref moved under us · 5 unsupported repository or platform, or
the disk refused · 70 a fault in pvc.

`pvc -C DIR …` works as if started in DIR; `git pvc …` is the same program, its help
`git pvc -h` (where git reads `--help` it looks for a manual).

Completion: `eval "$(_PVC_COMPLETE=bash_source pvc)"` in `.bashrc`, with `zsh_source` in `.zshrc`;
`_PVC_COMPLETE=fish_source pvc | source` for fish.
"""


def reference() -> str:
    """Write the whole page."""
    return "\n".join([HEAD, *(_section(name) for name in COMMANDS)])


def _section(name: str) -> str:
    root = click.Context(pvc, info_name="pvc")
    command = pvc.get_command(root, name)
    assert command is not None  # noqa: S101  # the name is from our own table
    return "\n".join(_pages(command, click.Context(command, info_name=name, parent=root)))


def _pages(command: click.Command, context: click.Context) -> list[str]:
    """Write the help of a command and of those below it."""
    context.terminal_width = 100
    pages = [f"## {context.command_path}\n\n```\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            pages += _pages(inner, click.Context(inner, info_name=name, parent=context))
    return pages


if __name__ == "__main__":
    sys.stdout.write(reference())
