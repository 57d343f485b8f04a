"""`pvc` and `git-pvc`: a group whose commands are imported when they are called.

Results go to stdout, all else to stderr. Rule 1: this is the one place where an error becomes an
exit code (DESIGN §6). Rule 2: text that came from outside is shown with its control characters
escaped, for a terminal obeys them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from pvc.errors import INTERRUPTED, READER_LEFT, PvcError, UsageError
from pvc.launch.answer import plain
from pvc.launch.disk import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the order of a prompt's road, which is the order of `pvc --help`.
COMMANDS = (
    "init",
    "import",
    "render",
    "supersede",
    "promote",
    "pin",
    "session",
    "context",
    "log",
    "show",
    "blame",
    "miss",
    "diff",
    "check",
    "impact",
    "hook",
    "verify",
    "sync",
    "forget",
    "gc",
    "demo",
)


class LazyGroup(click.Group):
    """Imports `pvc.cli.commands.<name>` when that command is asked for."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """List all commands, in the order of the road."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; null when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = import_module(f"pvc.cli.commands.{module}").command
        assert isinstance(command, click.Command)  # noqa: S101  # a fault of ours, never of the user's
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the near name when there is no such command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean `{near[0]}`?" if near else "pvc --help lists the commands"
            raise UsageError(f"no command `{args[0]}`", hint=hint)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="git-pvc", prog_name="pvc")
@click.option(
    "-C", "directory", default=".", metavar="DIR", help="Work as if started in DIR.", type=str
)
@click.pass_context
def pvc(ctx: click.Context, directory: str) -> None:
    """Version control for prompts: what a session was told, and whose byte broke the cache."""
    from pvc.cli.app import App

    ctx.obj = App(directory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        result: Any = pvc.main(
            args=list(sys.argv[1:] if argv is None else argv),
            prog_name="pvc",
            standalone_mode=False,
        )
    except PvcError as error:
        return report(error)
    except click.ClickException as error:
        return report(_misused(error))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # the reader left, as `| head` does
        _let_go_of_stdout()
        return READER_LEFT
    except OSError as error:
        _let_go_of_stdout()
        return report(refusal(error))
    except Exception:  # noqa: BLE001  # a fault in pvc: its traceback is what mends it
        import traceback

        traceback.print_exc()
        sys.stderr.write("pvc: this is a fault in pvc; please report it with the lines above\n")
        return PvcError.exit_code
    return result if isinstance(result, int) else 0


def _misused(error: click.ClickException) -> UsageError:
    """Say click's errors as all others are said."""
    text = error.format_message().split("\n")[0].removesuffix(".").replace("'", "`")
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "pvc"
    return UsageError(text[:1].lower() + text[1:], hint=f"{command} --help")


def _let_go_of_stdout() -> None:
    """Lead stdout nowhere, so that its flush at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(error: PvcError) -> int:
    """Say what went wrong in one line and a hint; returns the exit code."""
    sys.stderr.write(f"pvc: {plain(str(error))}\n")
    if error.hint:
        sys.stderr.write("".join(f"  hint: {plain(line)}\n" for line in error.hint.split("\n")))
    return error.exit_code
