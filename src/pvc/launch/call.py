"""One pin that was asked for: what the arguments, or one line of `--batch`, said.

Rule 1: everything that can be refused without looking at the repository is refused here.
Rule 2: a line of `--batch` has the options' names as keys; `env`, `set` and `tools` hold values
instead of file names, flags are true, everything else is text as on the command line.
"""

from pvc.core.json_text import Value, parse
from pvc.errors import DecodeError, PvcError, UsageError
from pvc.launch.environment import as_environment, as_tools, merge, read_input
from pvc.launch.settings import chosen
from pvc.model.names import SessionId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.environment import Environment

SHAPES = ("anthropic.messages", "openai.chat", "openai.responses")
TEXTS = ("session", "chain", "tree", "provider", "model", "out", "repin", "privacy")
OBSERVED = ("request", "rendered")
SWITCHES = ("resume", "allow_empty")


class Call:
    """One pin that was asked for; complete once `check` has passed."""

    __slots__ = (
        "allow_empty",
        "chain",
        "environment",
        "id",
        "model",
        "must_record",
        "notes",
        "observed",
        "observed_bytes",
        "out",
        "privacy",
        "provider",
        "repin",
        "resume",
        "session",
        "tools",
        "tree",
    )

    def __init__(self) -> None:
        self.session = self.tree = self.provider = self.model = self.out = self.repin = ""
        self.privacy = ""
        self.chain = "main"
        self.id: Value = None
        self.environment: Environment | None = None
        self.notes: tuple[str, ...] = ()
        self.tools: Value = None
        self.observed = ""
        self.observed_bytes = b""
        self.resume = self.must_record = self.allow_empty = False

    def check(self) -> None:
        """Raise `UsageError` on what cannot be meant."""
        if not self.session:
            raise UsageError("no session is named", hint="--session ID")
        SessionId(self.session)
        SessionId(self.chain)
        if not self.tree and not self.resume and not self.observed:
            raise UsageError("no tree is named", hint="pvc pin TREE --session ID")
        has_values = self.environment is not None or self.tools is not None
        if self.resume and (has_values or self.observed or self.repin):
            raise UsageError(
                "`--resume` gives back what was pinned and takes no values",
                hint="leave it out to compare with what was pinned",
            )
        if self.observed and has_values:
            raise UsageError(f"`--{self.observed}` holds its values and tools already")
        if self.privacy:
            chosen("privacy", self.privacy, "--privacy")
            if self.resume:
                raise UsageError("`--resume` writes nothing, so `--privacy` has nothing to say")
        if self.provider and self.provider not in SHAPES:
            raise UsageError(f"no provider shape `{self.provider}`", hint=", ".join(SHAPES))


class LineError(Exception):
    """A line that cannot be taken, with the id to answer under."""

    def __init__(self, error: PvcError, line_id: Value) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = line_id


def from_line(line: bytes) -> Call:
    """Read one line of `--batch`; raises `LineError`."""
    call = Call()
    try:
        fields = as_environment(parse(line.decode()), "")
        call.id = fields.pop("id", None)
        _take_values(call, fields)
        for name, value in fields.items():
            if name in TEXTS:
                setattr(call, name, _text(name, value))
            elif name in OBSERVED and not call.observed:
                call.observed, call.observed_bytes = name, read_input(_text(name, value))
            elif name in SWITCHES and isinstance(value, bool):
                setattr(call, name, value)
            else:
                raise UsageError(f"a line cannot have such a `{name}`", hint="pvc pin --help")
        if call.out == "-":
            raise UsageError("a line's `out` is a file: answers go to standard output")
        call.check()
    except UnicodeDecodeError as error:
        raise LineError(DecodeError(f"byte {error.start} is no UTF-8"), call.id) from None
    except PvcError as error:
        raise LineError(error, call.id) from None
    return call


def _take_values(call: Call, fields: "Environment") -> None:
    if "tools" in fields:
        in_order = fields.get("keep_tool_order") is True
        call.tools = as_tools(fields.pop("tools"), "/tools", in_order=in_order)
        if isinstance(fields.get("keep_tool_order"), bool):
            del fields["keep_tool_order"]
    if not fields.keys() & {"env", "set", "guidance", "guidance_default"}:
        return
    values = as_environment(fields.pop("env", {}), "/env")
    given = as_environment(fields.pop("set", {}), "/set")
    sets = {key: _text(f"set/{key}", value) for key, value in given.items()}
    paths = fields.pop("guidance", [])
    if not isinstance(paths, list):
        raise UsageError("`guidance` is a list of file names")
    default = fields.pop("guidance_default", "")
    call.environment, call.notes = merge(
        values,
        sets,
        [_text("guidance", path) for path in paths],
        _text("guidance_default", default) or None,
    )


def _text(name: str, value: Value) -> str:
    if type(value) is not str:
        raise UsageError(f"`{name}` takes text")
    return value
