"""What `pvc pin` says: one answer for each call, as text or as one line of JSON.

Rule 1: results go to standard output, all else to standard error; with `--out -` standard output is
the prompt's, and the answer goes to standard error.
Rule 2: control characters are escaped in whatever came from outside: a session's name must not
move a cursor.
Rule 3: exit codes are the contract: a refusal is 1, an error its own code, `unrecorded` is 0.
"""

from pvc.core.json_text import Value, dump
from pvc.errors import PvcError, RefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Status = Literal["pinned", "same", "refused", "error", "unrecorded"]

SCHEMA = "pvc.pin/1"
_LINES = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSEEN = (0x00AD, 0x180E, 0x200B, *range(0x2060, 0x2065), 0xFEFF)
CONTROL = {code: f"\\u{code:04x}" for code in (*_LINES, *_TURNS, *_UNSEEN)}
"""What a terminal acts on or does not show, as JSON escapes it. Joiners (U+200C, U+200D) are not
among them: words of many languages are written with them."""
CONTROL.update(
    (code, f"\\udb40\\u{0xDC00 + (code & 0xFF):04x}") for code in range(0xE0000, 0xE0080)
)


class Answer:
    """What became of one call."""

    __slots__ = (
        "commit",
        "data",
        "divergence",
        "error",
        "head_digest",
        "hint",
        "id",
        "message",
        "notes",
        "out",
        "prompt_digest",
        "receipt",
        "status",
        "version",
    )

    def __init__(self, status: "Status", call_id: Value = None, out: str = "") -> None:
        self.status: Status = status
        self.id = call_id
        self.out = out
        self.receipt = self.prompt_digest = self.head_digest = ""
        self.version = self.commit = self.message = self.hint = ""
        self.divergence: dict[str, Value] | None = None
        self.data: bytes | None = None
        self.error: PvcError | None = None
        self.notes: list[str] = []

    @property
    def exit_code(self) -> int:
        """The process's exit code for this answer alone."""
        if self.error is not None:
            return self.error.exit_code
        return RefusedError.exit_code if self.status == "refused" else 0

    def as_json(self) -> str:
        """Write the answer as one line of JSON."""
        return escape_json(dump(self._fields()))

    def as_text(self) -> str:
        """Write the answer in words; empty when all there is to say is an error."""
        if self.status == "error" or not self.prompt_digest:
            return ""
        words: list[str] = [self.status, self.prompt_digest]
        words += [self.version] if self.version else []
        words += ["receipt", self.receipt] if self.receipt else []
        return plain(" ".join(words))

    def remarks(self) -> list[str]:
        """Give the lines for standard error."""
        lines = [f"note: {text}" for text in self.notes]
        if self.message:
            lines.append(("warning: " if self.status == "unrecorded" else "pvc: ") + self.message)
        sides = self.divergence or {}
        lines += [f"  {side}: {dump(sides[side])}" for side in ("pinned", "given") if side in sides]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return [plain(line) for line in lines]

    def _fields(self) -> dict[str, Value]:
        fields: dict[str, Value] = {"schema": SCHEMA, "id": self.id, "status": self.status}
        for name in ("receipt", "prompt_digest", "head_digest", "version", "commit"):
            fields[name] = getattr(self, name) or None
        fields["first_divergence"] = self.divergence
        fields["message"] = self.message or None
        fields["hint"] = self.hint or None
        fields["notes"] = list[Value](self.notes)
        return fields


def failed(error: PvcError, call_id: Value = None) -> Answer:
    """Answer a call that could not be carried out."""
    answer = Answer("error", call_id)
    answer.error, answer.message, answer.hint = error, str(error), error.hint
    return answer


def plain(text: str) -> str:
    """Escape what a terminal would act on or hide; what comes out is one line."""
    return text.translate(CONTROL).encode("utf-8", "backslashreplace").decode()


def escape_json(text: str) -> str:
    """Escape in a JSON text what JSON allows and a terminal would act on."""
    return plain(text)
