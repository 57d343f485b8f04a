"""The words after `pvc pin`, read by hand: click alone would cost three starts of Python.

Rule 1: this knows every option that `pvc pin --help` shows, and nothing else; a test compares.
Rule 2: `--option VALUE` and `--option=VALUE` are the same; `--` ends the options.
"""

import os

from pvc.errors import NotFoundError, UsageError
from pvc.launch.call import OBSERVED, Call
from pvc.launch.environment import read_environment, read_input, read_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    Given = dict[str, list[str]]

REPEATED = ("--set", "--guidance", "-C")
VALUED = (
    *REPEATED,
    "--session",
    "--chain",
    "--env",
    "--guidance-default",
    "--tools",
    "--provider",
    "--model",
    "--out",
    "--repin",
    "--request",
    "--rendered",
    "--hook",
    "--privacy",
    "--emit",
)
FLAGS = (*("--json", "--batch", "--resume", "--must-record", "--keep-tool-order", "--allow-empty"),)
WITH_BATCH = ("--json", "--batch", "--must-record", "-C")


class Arguments:
    """What `pvc pin` was told: one call, or that calls come as lines."""

    __slots__ = ("call", "emit", "is_batch", "is_hook", "is_json")

    def __init__(self, call: Call, *, is_json: bool, is_batch: bool) -> None:
        self.call = call
        self.emit = ""
        self.is_hook = False
        self.is_json = is_json
        self.is_batch = is_batch


def read(words: list[str]) -> Arguments:
    """Read the words after `pvc pin`; goes to the folder that `-C` names."""
    given, trees = _split(words)
    for directory in given.get("-C", []):
        _enter(directory)
    call = Call()
    call.must_record = "--must-record" in given
    arguments = Arguments(call, is_json="--json" in given, is_batch="--batch" in given)
    if arguments.is_batch:
        others = [name for name in given if name not in WITH_BATCH] + trees
        if others:
            raise UsageError(f"`--batch` reads its pins from standard input, not `{others[0]}`")
        return arguments
    if len(trees) > 1:
        raise UsageError(f"one tree at a time, not also `{trees[1]}`")
    call.tree = trees[0] if trees else ""
    call.resume = "--resume" in given
    call.allow_empty = "--allow-empty" in given
    for name in ("session", "chain", "provider", "model", "out", "repin", "privacy"):
        if f"--{name}" in given:
            setattr(call, name, given[f"--{name}"][0])
    _read_files(call, given)
    if "--emit" in given:
        arguments.emit = given["--emit"][0]
        if not call.resume:
            raise UsageError(
                "`--emit` writes what a session was pinned with, so it goes with `--resume`",
                hint="pin first; pvc render --emit writes a version's request",
            )
    if "--hook" in given:
        from pvc.launch import hook

        if call.session:
            raise UsageError("`--hook` names the session, so `--session` does not")
        if "-" in [*given.get("--env", ()), *given.get("--tools", ()), *given.get("--request", ())]:
            raise UsageError("standard input is the hook's")
        hook.apply(call, given["--hook"][0], read_input("-"))
        arguments.is_hook = True
    call.check()
    return arguments


def _read_files(call: Call, given: "Given") -> None:
    if given.keys() & {"--env", "--set", "--guidance", "--guidance-default"}:
        call.environment, call.notes = read_environment(
            given.get("--env", [None])[0],
            given.get("--set", []),
            given.get("--guidance", []),
            given.get("--guidance-default", [None])[0],
        )
    in_order = "--keep-tool-order" in given
    if "--tools" in given:
        call.tools = read_tools(given["--tools"][0], in_order=in_order)
    elif in_order:
        raise UsageError("`--keep-tool-order` speaks of `--tools`, and none are given")
    for name in OBSERVED:
        if f"--{name}" in given:
            if call.observed:
                raise UsageError("either `--request` or `--rendered`, not both")
            call.observed, call.observed_bytes = name, read_input(given[f"--{name}"][0])


def _enter(directory: str) -> None:
    """Go to a folder, as `git -C` does, so that all paths count from there."""
    try:
        os.chdir(directory)
    except OSError as error:
        raise NotFoundError(os.strerror(error.errno or 0).lower(), at=directory) from None


def _split(words: list[str]) -> "tuple[Given, list[str]]":
    given: Given = {}
    trees: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            trees += rest
        elif word[:1] != "-":
            trees.append(word)
        else:
            name, equals, value = word.partition("=")
            if name in VALUED:
                value = value if equals else next(rest, "")
                if not value:
                    raise UsageError(f"`{name}` needs a value")
            elif name not in FLAGS or equals:
                raise UsageError(f"no option `{word}`", hint=_near(name))
            if name in given and name not in REPEATED:
                raise UsageError(f"`{name}` is given twice")
            given.setdefault(name, []).append(value)
    return given, trees


def _near(name: str) -> str:
    from difflib import get_close_matches  # only where something is wrong already

    near = get_close_matches(name, (*VALUED, *FLAGS), 1)
    return f"did you mean `{near[0]}`?" if near else "pvc pin --help"
