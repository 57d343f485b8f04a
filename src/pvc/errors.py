"""What stops pvc, with the place, a hint and the exit code.

A *finding* speaks of the user's prompt and is a value (`model.finding`); an *error* means that pvc
cannot go on. Rule 1: a message is one line in lower case without a final period, names stand in
backticks. Rule 2: what to do about it stands in `hint`. Rule 3: this module imports nothing, for
the launch path raises these too.
"""

INTERRUPTED, READER_LEFT = 130, 141
"""Exit codes of a program that `SIGINT` or `SIGPIPE` ended; what became of this one, in effect."""


class PvcError(Exception):
    """Base of everything that pvc raises on purpose.

    `at` is a place such as `pack.loom:12`, `hint` says what to do, `exit_code` is the contract of
    DESIGN §6. Anything else that escapes is a fault in pvc and exits with 70.
    """

    exit_code = 70

    def __init__(self, message: str, *, at: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.at}: {self.message}" if self.at else self.message


class RefusedError(PvcError):
    """pvc could, but must not: the answer would differ from what was promised (exit 1)."""

    exit_code = 1


class UsageError(PvcError):
    """The call's words, a setting or a value given at launch are wrong (exit 2)."""

    exit_code = 2


class DecodeError(PvcError):
    """Bytes that are not in the form they should be in (exit 3)."""

    exit_code = 3


class CorruptError(PvcError):
    """Stored bytes that no longer are what was stored (exit 3)."""

    exit_code = 3


class TooLargeError(CorruptError):
    """Stored bytes beyond a bound of `model.bounds`: they were not read."""


class NotFoundError(PvcError):
    """No such tree, version, session, file or repository (exit 4)."""

    exit_code = 4


class MovedError(PvcError):
    """A ref was moved by somebody else between reading and writing it (exit 4)."""

    exit_code = 4


class UnsupportedError(PvcError):
    """A kind of repository, file system or platform that pvc does not serve (exit 5)."""

    exit_code = 5


class WriteError(PvcError):
    """The disk refused: full, read-only, not ours (exit 5)."""

    exit_code = 5


def fault_of(error: BaseException) -> str:
    """Say in a line what a fault of ours was, and where."""
    at, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        at = f"{frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = str(error).partition("\n")[0][:200]
    return f"{type(error).__name__} at {at}: {text}"
