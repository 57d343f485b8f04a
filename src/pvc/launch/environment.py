"""What is given at launch, read from files and words: the environment, tools, observed bytes.

The click commands read theirs through here too, so that `pvc render` and `pvc pin` cannot differ.

Rule 1: files are read whole, once, and only up to a stated size.
Rule 2: `--set` texts are merged over `--env`; a key with dots is a key, not a path.
Rule 3: guidance files become one value, fenced; whoever gives that value too is asked which one
is meant.
"""

import os
import sys

from pvc.core.json_text import Value, parse
from pvc.errors import DecodeError, NotFoundError, UsageError
from pvc.model.bounds import MAX_INPUT_BYTES, mebibytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    Environment = dict[str, Value]

GUIDANCE = "repository_guidance"
_readers: list[str] = []
"""Who has claimed standard input in this process: nobody or one."""


def read_environment(
    env: str | None,
    sets: "Sequence[str]",
    guidance: "Sequence[str]" = (),
    guidance_default: str | None = None,
    directory: str = "",
) -> "tuple[Environment, tuple[str, ...]]":
    """Put the environment together; gives notes for the user beside it."""
    values: Environment = {}
    if env is not None:
        values = as_environment(read_json(env, directory), env)
    return merge(values, dict(map(_pair, sets)), guidance, guidance_default, directory)


def merge(
    values: "Environment",
    sets: "dict[str, str]",
    guidance: "Sequence[str]",
    guidance_default: str | None,
    directory: str = "",
) -> "tuple[Environment, tuple[str, ...]]":
    """Merge texts and guidance files over `values`."""
    merged: Environment = {**values, **sets}
    if not guidance and not guidance_default:
        return merged, ()
    if GUIDANCE in merged:
        raise UsageError(
            f"`{GUIDANCE}` is given as a value and as files", hint="leave one of them out"
        )
    from pvc.core.guidance import USER_DEFAULT, WORKSPACE, fence

    named = [(guidance_default, USER_DEFAULT)] if guidance_default else []
    named += [(path, WORKSPACE) for path in guidance]
    files = [(path, origin, read_input(path, directory)) for path, origin in named]
    merged[GUIDANCE], notes = fence(files)
    return merged, notes


def as_environment(value: Value, at: str) -> "Environment":
    """Take a JSON value as an environment."""
    if not isinstance(value, dict):
        raise UsageError("an environment is a JSON object", at=at)
    return value


def read_tools(path: str, directory: str = "", *, in_order: bool = False) -> Value:
    """Read tool definitions; see `as_tools`."""
    return as_tools(read_json(path, directory), path, in_order=in_order)


def as_tools(value: Value, at: str, *, in_order: bool = False) -> Value:
    """Take a JSON value as tool definitions: a list, or an object that holds one.

    They are ordered by name, or with `in_order` left as given; what is pinned is that order.
    """
    if not isinstance(value, (list, dict)):
        raise UsageError("tools are a JSON list", at=at)
    if in_order:
        return value
    from pvc.core.stream import by_name

    return by_name(value)


def read_json(path: str, directory: str = "") -> Value:
    """Read a file as one JSON value."""
    data = read_input(path, directory)
    try:
        return parse(data.decode(), at=path)
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"byte {error.start} is no UTF-8", at=path, hint="JSON is UTF-8"
        ) from None


def read_input(path: str, directory: str = "") -> bytes:
    """Read a file, or standard input for `-`."""
    try:
        if path == "-":
            take_standard_input("`-`")
            data = up_to_bound(sys.stdin.buffer, path)
        else:
            # Buffered: a raw read of a pipe ends with what has arrived so far.
            with open(os.path.join(directory, path), "rb") as file:
                data = up_to_bound(file, path)
    except FileNotFoundError:
        raise NotFoundError("no such file", at=path) from None
    except (OSError, ValueError) as error:  # `ValueError`: a zero byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot be read: {reason.lower()}", at=path) from None
    return data


def up_to_bound(file: "BinaryIO", at: str) -> bytes:
    """Read all of an open file that somebody names on the command line; `at` names it in errors."""
    data = file.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise UsageError(f"larger than {mebibytes(MAX_INPUT_BYTES)}", at=at)
    return data


def take_standard_input(reader: str) -> None:
    """Claim standard input, which can be read once: a second reader would find nothing there."""
    if _readers:
        raise UsageError(
            f"standard input is read by {_readers[0]} already", hint="name a file instead of `-`"
        )
    _readers.append(reader)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"`--set` takes KEY=TEXT, not `{text}`", hint=f"--set {key or 'KEY'}=…")
    return key, value
