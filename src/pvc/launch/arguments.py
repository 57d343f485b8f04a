"""The words after `pvc pin`, read by hand: click alone would cost three starts of Python.

Rule 1: this knows every option that `pvc pin --help` shows, and nothing else; a test compares.
Rule 2: `--option VALUE` and `--option=VALUE` are the same; `--` ends the options.
"""

import os

from pvc.errors import NotFoundError, UsageError
from pvc.launch.call import Call, read_environment, read_input, read_json

VALUED = (
    "--session",
    "--chain",
    "--env",
    "--set",
    "--guidance",
    "--guidance-default",
    "--tools",
    "--provider",
    "--model",
    "--out",
    "--repin",
    "--request",
    "--rendered",
    "-C",
)
FLAGS = ("--json", "--batch", "--resume", "--must-record")
REPEATED = ("--set", "--guidance", "--guidance-default", "-C")


class Arguments:
    """What `pvc pin` was told: one call, or a stream of them, and how to answer."""

    __slots__ = ("batch", "call", "json")

    def __init__(self) -> None:
        self.call = Call()
        self.json = self.batch = False


def read(words: list[str]) -> Arguments:
    """Read the words after `pvc pin`."""
    given, trees = _split(words)
    arguments = Arguments()
    arguments.json = "--json" in given
    arguments.batch = "--batch" in given
    for directory in given.get("-C", []):
        _enter(directory)
    if len(trees) > 1:
        raise UsageError(f"one tree at a time, not also `{trees[1]}`")
    call = arguments.call
    call.tree = trees[0] if trees else ""
    call.must_record = "--must-record" in given
    if arguments.batch:
        _nothing_else(given, trees)
        return arguments
    call.resume = "--resume" in given
    for name in ("session", "chain", "provider", "model", "out", "repin"):
        if f"--{name}" in given:
            setattr(call, name, given[f"--{name}"][0])
            if not given[f"--{name}"][0]:
                raise UsageError(f"`--{name}` is empty")
    call.sets = dict(_pair(text) for text in given.get("--set", []))
    call.guidance = given.get("--guidance", [])
    call.guidance_default = given.get("--guidance-default", [])
    _read_files(call, given)
    call.check()
    return arguments


def _enter(directory: str) -> None:
    """Go to a folder, as `git -C` does, so that all paths count from there."""
    try:
        os.chdir(directory)
    except OSError as error:
        raise NotFoundError(os.strerror(error.errno or 0).lower(), at=directory) from None


def _read_files(call: Call, given: dict[str, list[str]]) -> None:
    if "--env" in given:
        path = given["--env"][0]
        call.environment = read_environment(read_json(path), path)
    if "--tools" in given:
        call.tools = read_json(given["--tools"][0])
    for name in ("request", "rendered"):
        if f"--{name}" in given:
            if call.observed:
                raise UsageError("either `--request` or `--rendered`, not both")
            call.observed, call.observed_bytes = name, read_input(given[f"--{name}"][0])


def _split(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    given: dict[str, list[str]] = {}
    trees: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            trees += rest
        elif not word.startswith("-") or word == "-":
            trees.append(word)
        else:
            name, equals, value = word.partition("=")
            if name in FLAGS and not equals:
                given.setdefault(name, []).append("")
                continue
            if name not in VALUED:
                raise UsageError(f"no option `{word}`", hint=_near(name))
            if not equals:
                value = next(rest, "")
                if value == "":
                    raise UsageError(f"`{name}` needs a value")
            given.setdefault(name, []).append(value)
            if len(given[name]) > 1 and name not in REPEATED:
                raise UsageError(f"`{name}` is given twice")
    return given, trees


def _near(name: str) -> str:
    from difflib import get_close_matches  # only where something is wrong already

    near = get_close_matches(name, (*VALUED, *FLAGS), 1)
    return f"did you mean `{near[0]}`?" if near else "`pvc pin --help` lists them"


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"`--set` takes KEY=VALUE, not `{text}`")
    return key, value


def _nothing_else(given: dict[str, list[str]], trees: list[str]) -> None:
    other = [name for name in given if name not in ("--batch", "--json", "--must-record", "-C")]
    if other or trees:
        raise UsageError(
            f"`--batch` reads its pins from standard input, not from `{(other + trees)[0]}`"
        )
