"""The operations of the harness vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.core.context import update
from pvc.core.sections import SectionsError, arrange, split
from pvc.dialects import harness_events, harness_files, harness_gates
from pvc.dialects.harness import BUILT_IN_DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Input = dict[str, Any]
Output = dict[str, Any]
Row = tuple[str, int | None, bool, bool, Any]


def _rows(sections: Iterable[Input]) -> list[Row]:
    return [
        (s["id"], s["order"], s.get("complete", False), s.get("dynamic", False), s["text"])
        for s in sections
    ]


def _order(given: Input) -> Output:
    try:
        rows = arrange(_rows(given["sections"]), _rows(given.get("scoped", [])))
    except SectionsError as error:
        return {"error_code": error.code}
    return {"ids": [row[0] for row in rows], "texts": [row[4] for row in rows]}


def _split(given: Input) -> Output:
    stable, dynamic = split(arrange(_rows(given["sections"])), BUILT_IN_DYNAMIC)
    return {"stable": [row[0] for row in stable], "dynamic": [row[0] for row in dynamic]}


def _cap(given: Input) -> Output:
    files = {path: text["repeat"] * text["count"] for path, text in given["files"].items()}
    total, ok = harness_gates.always_on_cap(files)
    return _verdict(ok, "always-on-too-long") | {"total": total}


def _brace(given: Input) -> Output:
    held = given["file"] not in harness_files.ALWAYS_ON
    return _verdict(held or not harness_gates.double_braces(given["text"]), "template-brace")


def _scripts(given: Input) -> Output:
    missing = harness_gates.missing_scripts(given["text"], given["scripts"])
    names = [named.name for named in missing]
    return _verdict(not names, "script-missing") | {"missing": names}


def _triggers(given: Input) -> Output:
    skills = [(skill["name"], skill["trigger_line"]) for skill in given["skills"]]
    names = [named.name for named in harness_gates.untriggered(given["always_on"], skills)]
    return _verdict(not names, "trigger-missing") | {"skills": names}


def _delta(given: Input) -> Output:
    sent = update(given["delivered"], given["current"])
    return {
        "changed": list(sent.changed),
        "withdrawn": list(sent.withdrawn),
        "delivered_after": dict(sent.delivered),
    }


def _volatile(given: Input) -> Output:
    found = list(harness_gates.volatile_names(given["prefix"], given["volatile"]))
    return _verdict(not found, "volatile-marker") | {"found": found}


def _surface(given: Input) -> Output:
    return _verdict(not harness_files.not_editable(given["proposal"]), "not-editable")


def _event(given: Input) -> Output:
    return {"may_change_prefix": harness_events.may_change_prefix(given["event"])}


def _version(given: Input) -> Output:
    if "base" not in given:
        adopted = given["adopted"]
        return {
            "old_run_uses": harness_events.version_used(given["run_pinned"], adopted),
            "new_run_uses": harness_events.version_used(None, adopted),
        }
    base = harness_events.TreeVersion(given["base"]["version"], dict(given["base"]["files"]))
    new = base.superseded(given["edit"])
    return {
        "new": {"version": new.number, "files": dict(new.files)},
        "base_unchanged": (base.number, base.files)
        == (given["base"]["version"], given["base"]["files"]),
    }


def _verdict(ok: bool, code: str) -> Output:  # noqa: FBT001 - a verdict is one
    return {"ok": True} if ok else {"ok": False, "error_code": code}


OPS: dict[str, Callable[[Input], Output]] = {
    "order-sections": _order,
    "split-stable-dynamic": _split,
    "always-on-cap": _cap,
    "template-brace": _brace,
    "script-ref": _scripts,
    "skill-trigger": _triggers,
    "context-delta": _delta,
    "volatile-lint": _volatile,
    "editable-surface": _surface,
    "prefix-change-event": _event,
    "tree-version": _version,
}
