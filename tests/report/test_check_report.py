"""Findings as text, SARIF and annotations: their shape, and what hosts take."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from pvc.core.check import check
from pvc.core.check_subject import Subject, TextFile
from pvc.model.source import Source
from pvc.ops.check import Checked
from pvc.report.check import (
    MAX_ANNOTATIONS,
    MAX_SARIF_RESULTS,
    to_annotations,
    to_lines,
    to_sarif,
)

LINE = "Today is 2026-11-30.\n"


def checked(text: str, path: str = "a b,1%.md") -> Checked:
    subject = Subject((TextFile(Source(path, text.encode())),))
    return Checked(check(subject).found, 1)


def test_a_sarif_result_has_bytes_a_line_and_a_fingerprint() -> None:
    run = to_sarif(checked("é: " + LINE))["runs"][0]  # type: ignore[index]  # its shape is tested
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b%2C1%25.md", "uriBaseId": "SRCROOT"}
    assert place["region"] == {
        "startLine": 1,
        "startColumn": 13,
        "byteOffset": 13,
        "byteLength": 10,
    }
    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "volatile-date"
    assert result["level"] == "error"
    assert len(result["partialFingerprints"]["pvcFinding/v1"]) == 64
    assert run["columnKind"] == "unicodeCodePoints"


def test_a_sarif_log_is_made_of_what_its_version_has() -> None:
    log = to_sarif(checked(LINE + "x"))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    run = json.loads(json.dumps(log))["runs"][0]
    assert set(run) <= {
        "tool", "columnKind", "originalUriBaseIds", "invocations", "results",
    }  # fmt: skip
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning", "note")
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1


def test_a_sarif_log_is_valid_under_the_official_schema() -> None:
    path = Path(sys.prefix) / "sarif-schema-2.1.0.json"
    if not path.exists():
        pytest.skip("no npm was there to take the schema from its package: `make test` does it")
    schema = json.loads(path.read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    many = checked(LINE * (MAX_SARIF_RESULTS + 3) + "x")
    for result in (checked(""), checked("é: " + LINE), many):
        log = json.loads(json.dumps(to_sarif(result)))
        del log["runs"][0]["results"][3:]  # five thousand alike take the validator half a minute
        assert [error.json_path for error in validator.iter_errors(log)] == []
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(log)


def test_what_a_host_would_drop_is_left_out_and_counted_the_gravest_kept() -> None:
    many = checked(LINE * (MAX_SARIF_RESULTS + 3) + "x")
    run = json.loads(json.dumps(to_sarif(many)))["runs"][0]
    assert len(run["results"]) == MAX_SARIF_RESULTS
    assert {result["ruleId"] for result in run["results"]} == {"volatile-date"}
    notice = run["invocations"][0]["toolExecutionNotifications"][0]
    assert notice["message"]["text"].startswith("4 more findings")


def test_annotations_escape_what_a_workflow_command_reads() -> None:
    (line, summary) = to_annotations(checked(LINE))
    assert line.startswith(
        "::error file=a b%2C1%25.md,line=1,col=10,title=volatile volatile-date::"
    )
    assert "\n" not in line
    assert summary == "1 file: 1 volatile."


def test_annotations_stop_where_the_host_does() -> None:
    lines = list(to_annotations(checked(LINE * (MAX_ANNOTATIONS + 5))))
    assert sum(line.startswith("::error") for line in lines) == MAX_ANNOTATIONS
    assert "5 more of level error are not annotated." in lines


def test_text_has_one_line_a_finding_and_its_hint_below() -> None:
    first, hint, last = to_lines(checked(LINE, "a.md"))
    assert first == "a.md:1:10: volatile volatile-date: `2026-11-30` is the date of one day"
    assert hint.startswith("  hint: ")
    assert last == "1 file: 1 volatile."


def test_a_clean_prompt_is_one_sentence() -> None:
    assert list(to_lines(checked("One.\n"))) == ["1 file: nothing found."]


def test_this_module_names_no_place_of_this_machine() -> None:
    assert str(Path.home()) not in json.dumps(to_sarif(checked(LINE)))
