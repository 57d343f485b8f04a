"""One pin that was asked for: what the arguments, or one line of `--batch`, said.

Rule 1: everything that can be refused without looking at the repository is refused here.
Rule 2: files are read whole, once, and only up to a stated size.
"""

import os
import sys

from pvc.core.json_text import Value, parse
from pvc.errors import DecodeError, NotFoundError, UsageError, WriteError
from pvc.model.names import SessionId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_INPUT_BYTES = 64 << 20
"""Largest environment, tool list or request that is read; providers refuse half of it."""
SHAPES = ("anthropic.messages", "openai.chat", "openai.responses")

_TEXTS = ("session", "chain", "tree", "provider", "model", "out", "repin", "id")


class Call:
    """One pin that was asked for. Made by `arguments` or `from_line`, then checked by `check`."""

    __slots__ = (
        "chain",
        "environment",
        "guidance",
        "guidance_default",
        "id",
        "model",
        "must_record",
        "observed",
        "observed_bytes",
        "out",
        "provider",
        "repin",
        "resume",
        "session",
        "sets",
        "tools",
        "tree",
    )

    def __init__(self) -> None:
        self.session = self.tree = self.provider = self.model = self.out = self.repin = ""
        self.chain = "main"
        self.id: Value = None
        self.environment: dict[str, Value] | None = None
        self.sets: dict[str, str] = {}
        self.guidance: list[str] = []
        self.guidance_default: list[str] = []
        self.tools: Value = None
        self.observed = ""
        self.observed_bytes = b""
        self.resume = self.must_record = False

    @property
    def has_values(self) -> bool:
        """Whether anything was given that a resumed session does not take."""
        return bool(
            self.environment is not None
            or self.sets
            or self.guidance
            or self.guidance_default
            or self.tools is not None
            or self.observed
        )

    def check(self) -> None:
        """Raise `UsageError` on what cannot be meant."""
        if not self.session:
            raise UsageError("which session? none is named", hint="--session ID")
        SessionId(self.session)
        SessionId(self.chain)
        if not self.tree and not self.resume and not self.observed:
            raise UsageError("which tree? none is named", hint="pvc pin TREE --session ID")
        if self.resume and (self.has_values or self.repin):
            raise UsageError(
                "`--resume` gives back what was pinned and takes no values",
                hint="leave it out to compare with what was pinned",
            )
        if self.observed and (self.has_environment or self.tools is not None):
            raise UsageError("bytes that were sent already take no values")
        if self.provider and self.provider not in SHAPES:
            raise UsageError(f"no provider shape `{self.provider}`", hint=", ".join(SHAPES))

    @property
    def has_environment(self) -> bool:
        """Whether any value for the prompt was given."""
        return bool(
            self.environment is not None or self.sets or self.guidance or self.guidance_default
        )


def read_input(path: str) -> bytes:
    """Read a file, or standard input for `-`."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError("no such file", at=path) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {os.strerror(error.errno or 0)}", at=path) from None
    if len(data) > MAX_INPUT_BYTES:
        raise UsageError(f"larger than {MAX_INPUT_BYTES >> 20} MiB", at=path)
    return data


def read_json(path: str) -> Value:
    """Read a file as one JSON value."""
    data = read_input(path)
    try:
        return parse(data.decode(), at=path)
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"byte {error.start} is no UTF-8", at=path, hint="JSON is UTF-8"
        ) from None


def read_environment(value: Value, at: str) -> dict[str, Value]:
    """Take a JSON value as an environment."""
    if not isinstance(value, dict):
        raise UsageError("an environment is a JSON object", at=at)
    return value


def from_line(line: bytes, must_record: bool) -> Call:  # noqa: FBT001 - one flag, named at the call
    """Read one line of `--batch`: a JSON object with the options' names as keys."""
    call = Call()
    call.must_record = must_record
    try:
        fields = parse(line.decode())
    except UnicodeDecodeError as error:
        raise DecodeError(f"byte {error.start} of the line is no UTF-8") from None
    if not isinstance(fields, dict):
        raise UsageError("a line of `--batch` is a JSON object")
    call.id = fields.pop("id", None)
    try:
        for name, value in fields.items():
            _take(call, name, value)
        call.check()
    except (UsageError, DecodeError, NotFoundError) as error:
        raise LineError(error, call.id) from None
    return call


class LineError(Exception):
    """A line that cannot be taken, with the id to answer under."""

    def __init__(self, error: UsageError | DecodeError | NotFoundError, line_id: Value) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = line_id


def _take(call: Call, name: str, value: "Any") -> None:
    if name in _TEXTS:
        setattr(call, name, _text(name, value))
    elif name == "env":
        call.environment = read_environment(value, "env")
    elif name == "set":
        call.sets = {key: _text(key, item) for key, item in read_environment(value, name).items()}
    elif name == "tools":
        call.tools = value
    elif name in ("guidance", "guidance_default"):
        setattr(call, name, [_text(name, item) for item in value])
    elif name == "resume" and isinstance(value, bool):
        call.resume = value
    elif name in ("request", "rendered"):
        call.observed, call.observed_bytes = name, read_input(_text(name, value))
    else:
        raise UsageError(f"a line of `--batch` has no `{name}` like this", hint="`pvc pin --help`")


def _text(name: str, value: object) -> str:
    if type(value) is not str:
        raise UsageError(f"`{name}` takes text")
    return value
