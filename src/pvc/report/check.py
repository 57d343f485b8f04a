"""Findings as text, as SARIF 2.1.0 and as annotations of GitHub Actions.

Rule 1: a host's limits are respected and said. What is left out is counted in the output itself.
Rule 2: the gravest findings come first where something must be left out.
Rule 3: a file's text is not copied into a report, except for what a finding's message quotes.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pvc.core.check import RULES
from pvc.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pvc.core.check import Located
    from pvc.ops.check import Checked

MAX_SARIF_RESULTS: Final = 5000
"""GitHub shows that many results of a run; it takes 25,000, and 10 MB compressed."""
MAX_ANNOTATIONS: Final = 10
"""GitHub shows that many of each level for one step."""
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT: Final = "pvcFinding/v1"

_RANK = {severity: rank for rank, severity in enumerate(Severity)}
_SARIF_LEVELS = {
    Severity.CORRUPTING: "error",
    Severity.VOLATILE: "error",
    Severity.SHAPING: "warning",
    Severity.HYGIENE: "note",
}
_COMMANDS = {
    Severity.CORRUPTING: "error",
    Severity.VOLATILE: "error",
    Severity.SHAPING: "warning",
    Severity.HYGIENE: "notice",
}


def to_lines(result: Checked) -> Iterator[str]:
    """Write findings for people: `path:line:column: severity code: message`, hints below."""
    for one in result.found:
        finding = one.finding
        yield f"{finding.at}: {finding.severity.value} {finding.code}: {finding.message}"
        if finding.hint:
            yield f"  hint: {finding.hint}"
    for path in result.fixed:
        yield f"mended {path}"
    yield summary(result)


def summary(result: Checked) -> str:
    """Say in one sentence what was found."""
    counts = [
        f"{number} {severity.value}"
        for severity in Severity
        if (number := sum(one.finding.severity is severity for one in result.found))
    ]
    aside = [f"{result.ignored} ignored"] if result.ignored else []
    aside += [f"{result.known} known before"] if result.known else []
    files = f"{result.files} files" if result.files != 1 else "1 file"
    said = ", ".join(counts) if counts else "nothing found"
    return f"{files}: {said}" + (f" ({', '.join(aside)})" if aside else "") + "."


# --- SARIF ------------------------------------------------------------------------------------


def to_sarif(result: Checked) -> dict[str, object]:
    """Write a SARIF 2.1.0 log of one run, with byte regions and stable fingerprints."""
    kept = _gravest(result.found, MAX_SARIF_RESULTS)
    codes = sorted({one.finding.code for one in kept} | {rule.code for rule in RULES})
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pvc",
                        "semanticVersion": version("git-pvc"),
                        "rules": [_sarif_rule(code, kept) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the repository"}}},
                "invocations": [_invocation(len(result.found) - len(kept))],
                "results": [_sarif_result(one, codes) for one in kept],
            }
        ],
    }


def _sarif_rule(code: str, found: Sequence[Located]) -> dict[str, object]:
    rule = next((rule for rule in RULES if rule.code == code), None)
    own = next((one.finding.severity for one in found if one.finding.code == code), None)
    severity = rule.severity if rule else own or Severity.SHAPING
    row: dict[str, object] = {
        "id": code,
        "defaultConfiguration": {"level": _SARIF_LEVELS[severity]},
        "properties": {"tags": ["prompt", severity.value]},
    }
    return row | ({"shortDescription": {"text": rule.summary}} if rule else {})


def _invocation(left_out: int) -> dict[str, object]:
    said = f"{left_out} more findings are not in this log, which holds {MAX_SARIF_RESULTS}"
    notice = {"level": "warning", "message": {"text": said}}
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [notice] if left_out else [],
    }


def _sarif_result(one: Located, codes: Sequence[str]) -> dict[str, object]:
    finding = one.finding
    text = finding.message + (f" ({finding.hint})" if finding.hint else "")
    region: dict[str, object] = {
        "startLine": one.line,
        "startColumn": one.character,
        "byteOffset": one.start,
        "byteLength": one.end - one.start,
    }
    uri = quote(one.path.encode(errors="surrogateescape"), safe="/@._~-")
    artifact = {"uri": uri, "uriBaseId": "SRCROOT"}
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {FINGERPRINT: one.fingerprint.hex},
    }


def _gravest(found: Iterable[Located], limit: int) -> list[Located]:
    """Keep the gravest findings, in order of path and place."""
    ranked = sorted(enumerate(found), key=lambda pair: (_RANK[pair[1].finding.severity], pair[0]))
    return [one for _, one in sorted(ranked[:limit], key=lambda pair: pair[0])]


# --- GitHub -----------------------------------------------------------------------------------


def to_annotations(result: Checked) -> Iterator[str]:
    """Write workflow commands, as many of each level as are shown, then a sentence."""
    for command in ("error", "warning", "notice"):
        here = [one for one in result.found if _COMMANDS[one.finding.severity] == command]
        for one in here[:MAX_ANNOTATIONS]:
            yield _annotation(command, one)
        if len(here) > MAX_ANNOTATIONS:
            yield f"{len(here) - MAX_ANNOTATIONS} more of level {command} are not annotated."
    yield summary(result)


def _annotation(command: str, one: Located) -> str:
    finding = one.finding
    place = f"file={_property(one.path)},line={one.line},col={one.character}"
    title = f"title={_property(f'{finding.severity.value} {finding.code}')}"
    text = finding.message + (f" (hint: {finding.hint})" if finding.hint else "")
    return f"::{command} {place},{title}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
