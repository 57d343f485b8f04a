"""What a check reports about the user's prompt: values, never errors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How a finding matters (DESIGN §8)."""

    CORRUPTING = "corrupting"
    """A name leads nowhere: what was meant is not what is rendered."""
    SHAPING = "shaping"
    """A thing is left out, which may be what was meant."""
    VOLATILE = "volatile"
    """Text that is new by nature stands in a plane that should stay."""
    HYGIENE = "hygiene"
    """Bytes that a checkout or an editor changes without being asked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    `code` is the rule's id in kebab case; `section` and `name` say what it is about; `at` is
    `path:line:column` where the place is known.
    """

    code: str
    severity: Severity
    message: str
    section: str = ""
    name: str = ""
    at: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """Findings split by whether the prompt can be used at all; together they are all of them."""

    corrupting: tuple[Finding, ...]
    shaping: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: tuple[Finding, ...]) -> Assessment:
        """Partition `findings`, each part in the given order."""
        return cls(
            tuple(f for f in findings if f.severity is Severity.CORRUPTING),
            tuple(f for f in findings if f.severity is not Severity.CORRUPTING),
        )
