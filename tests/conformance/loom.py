"""The operations of Loom's vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects import loom
from pvc.dialects.loom_write import encode_unchecked
from pvc.model.source import Source
from pvc.model.span import lift

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.model.finding import Finding
    from pvc.model.pack import Pack

Input = dict[str, Any]
Output = dict[str, Any]


def _read(text: str) -> Pack:
    return loom.read(Source("pack.loom", text.encode()))


def _decode(given: Input) -> Output:
    try:
        pack = _read(given["source"])
    except loom.LoomError as error:
        keys = ("subject", "line", "context", "error_code")
        return {"error": {key: getattr(error, key) for key in keys}}
    sections = [{"name": s.name, "template": s.template.decode()} for s in pack.sections]
    return {"version": pack.label, "digest": pack.fingerprint, "sections": sections}


def _encode(given: Input) -> Output:
    """Write as Loom itself does: the vectors hold packs that pvc refuses to write, too."""
    pack = _read(given["source"])
    data = encode_unchecked(pack)
    return {
        "text": data.decode(),
        "digest_of_text": loom.fingerprint(data),
        "digest_of_source": pack.fingerprint,
        "stable": _again(data.decode()) == data,
    }


def _again(text: str) -> bytes | None:
    try:
        return encode_unchecked(_read(text))
    except loom.LoomError:
        return None


def _render(given: Input) -> Output:
    compiled = compile_pack(_read(given["source"]))
    return {"text": lift(*program.run(compiled, given["environment"])).data.decode()}


def _problems(given: Input) -> Output:
    pack = _read(given["source"])
    assessment = loom.assess(pack)
    return {
        "problems": [_problem(finding) for finding in loom.problems(pack)],
        "corrupting": [_problem(finding) for finding in assessment.corrupting],
        "shaping": [_problem(finding) for finding in assessment.shaping],
    }


def _problem(finding: Finding) -> dict[str, str]:
    if finding.code == "placeholder-unknown":
        return {
            "kind": "UnknownPlaceholder",
            "section": finding.section,
            "name": finding.name,
        }
    return {"kind": "MissingSection", "name": finding.name}


def _placeholders(given: Input) -> Output:
    return {"names": list(loom.placeholders(given["template"].encode()))}


def _fill(given: Input) -> Output:
    values = [(name, value.encode()) for name, value in given["bindings"]]
    return {"text": loom.fill(given["template"].encode(), values).decode()}


def _fingerprint(given: Input) -> Output:
    return {"digest": loom.fingerprint(given["text"].encode())}


def _fragments_sorted(output: Output) -> Output:
    """The order of missing fragments is open, but not their place."""
    return {key: _by_kind(problems) for key, problems in output.items()}


def _by_kind(problems: list[dict[str, str]]) -> list[dict[str, str]]:
    def is_fragment(problem: dict[str, str]) -> bool:
        return problem["kind"] == "MissingSection" and problem["name"].startswith("_")

    places = [i for i, problem in enumerate(problems) if is_fragment(problem)]
    fragments = sorted((problems[i] for i in places), key=lambda problem: problem["name"])
    ordered = list(problems)
    for place, problem in zip(places, fragments, strict=True):
        ordered[place] = problem
    return ordered


OPS: dict[str, Callable[[Input], Output]] = {
    "decode": _decode,
    "encode": _encode,
    "render": _render,
    "problems": _problems,
    "placeholders": _placeholders,
    "fill": _fill,
    "fingerprint": _fingerprint,
}
NORMAL = {"problems": _fragments_sorted}
