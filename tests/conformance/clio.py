"""The operations of Clio's vectors, each through the module that does it in pvc."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.core.inputs import hints
from pvc.dialects import clio, clio_cache, clio_preload, clio_session, clio_worker
from pvc.dialects.clio_fields import ADDITIONAL, SESSION
from pvc.dialects.clio_json import UNDEFINED, BigInt, CanonicalError, canonical_json, digest
from pvc.dialects.clio_source import FragmentError
from pvc.dialects.clio_table import table_of
from pvc.dialects.clio_turn import additional
from pvc.errors import RefusedError, UsageError
from pvc.model.javascript import length
from pvc.model.pack import Layout, Pack
from pvc.model.recipe import Named
from pvc.model.source import Source
from pvc.model.span import Rendered, lift
from pvc.ops.clio import compile_prompt, sections
from pvc.packs import builtin_packs

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.dialects.clio_preload import Coverage, Preload
    from pvc.dialects.clio_table import Table
    from pvc.model.pack import Field
    from pvc.model.recipe import Parts

Input = dict[str, Any]
Output = dict[str, Any]


def table(*fragments: tuple[str, str, str]) -> Table:
    """Lay fragments, as path, id and body, over the words pack."""
    words = next(pack.files for pack in builtin_packs() if pack.name == "builtin-clio")
    given = [Source(path, fragment(name, body).encode()) for path, name, body in fragments]
    return table_of([*words, *given])


def fragment(name: str, body: str) -> str:
    return f"---\nid: {name}\nversion: 1\ndescription: A test piece\n---\n{body}"


def run(parts: Parts, fields: tuple[Field, ...], environment: Any) -> Rendered:
    """Render a recipe that needs no fragments."""
    pack = Pack("clio", 1, (), (), fields, Layout(joint=b"\n\n"), recipe=parts)
    return lift(*program.run(compile_pack(pack), environment))


# --- loading and JSON -----------------------------------------------------------------------


def _load(given: Input) -> Output:
    files = [Source(file["path"], b64decode(file["b64"])) for file in given["files"]]
    try:
        fragments = table_of(files).fragments
    except FragmentError as error:
        return {"error_code": error.error_code, "file": error.path, "message": error.report}
    return {
        "fragments": [
            {
                "relPath": one.path,
                "id": one.id,
                "version": one.version,
                "description": one.description,
                "dynamic": one.dynamic,
                "body": one.body,
                "contentHash": one.hash,
            }
            for one in fragments
        ]
    }


def _canonical_json(given: Input) -> Output:
    try:
        text = canonical_json(_value(given["value"]))
    except CanonicalError as error:
        return {"error_code": error.error_code}
    return {"text": text, "sha256": digest(text)}


def _value(value: Any) -> Any:
    """Read the stand-ins for what JSON lacks."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$undefined"}:
        return UNDEFINED
    if value.keys() == {"$number"}:
        return float(value["$number"].replace("Infinity", "inf"))
    if value.keys() == {"$bigint"}:
        return BigInt(value["$bigint"])
    return {key: _value(item) for key, item in value.items()}


# --- prompts --------------------------------------------------------------------------------


def _compose(given: Input) -> Output:
    rendered = run((additional(),), (ADDITIONAL,), {"additional": given["sections"]})
    text = rendered.data.decode()
    return {
        "text": text,
        "sections": [{"id": part.id, "tokenEstimate": part.tokens} for part in sections(rendered)],
        "sha256_of_text": digest(text),
        "manifest_tail_ids": [section["id"] for section in given["sections"]],
    }


def _compile(given: Input) -> Output:
    bodies = {"identity": "", "contract": "", "safety": ""} | given
    fixture = table(
        ("i.md", "identity.fixture", bodies["identity"]),
        ("o.md", "operating.fixture", bodies["contract"]),
        ("s.md", "safety.calm", bodies["safety"]),
    )
    environment = {
        "identity": "identity.fixture" if "session" in given else given["identity"],
        "contract": "operating.fixture",
        "safety": "safety.calm",
        "session": given.get("session", {}),
        "additional": given.get("additional", []),
    }
    try:
        compiled = compile_prompt(fixture, environment, clio_session.LEGACY_ORDER)
    except UsageError as error:
        if "is not found" not in error.message:
            raise
        return {"error_code": "fragment-not-found", "message": _not_found(error.message)}
    return {
        "text": compiled.rendered.data.decode(),
        "section_ids": [section.id for section in compiled.sections],
        "manifest": [
            {"id": one.id, "relPath": one.path, "contentHash": one.hash, "dynamic": one.dynamic}
            for one in compiled.manifest
        ],
    }


def _not_found(message: str) -> str:
    """Say in Clio's words which role has no fragment of that id."""
    role, _, rest = message.partition(" fragment `")
    role = {"contract": "operating contract"}.get(role, role)
    return f'prompts/compiler: {role} fragment id "{rest.partition("`")[0]}" not found'


def _runtime(given: Input) -> Output:
    parts = (Named("runtime", clio_session.RUNTIME),)
    session = {name: held for name, value in given.items() if (held := _value(value)) != UNDEFINED}
    return {"text": run(parts, (SESSION,), {"session": session}).data.decode()}


def _memory(given: Input) -> Output:
    parts = (Named("memory", clio_session.MEMORY),)
    session = {"memorySection": given["section"]}
    return {"text": run(parts, (SESSION,), {"session": session}).data.decode()}


def _stable_prefix(given: Input) -> Output:
    prefix = clio.stable_prefix(given["identity"], given["contract"])
    return {"hashed_text": prefix.text, "bytes": prefix.size_bytes, "hash": prefix.hash}


def _hints(given: Input) -> Output:
    entries = [(entry["tool"], entry["hint"]) for entry in given["entries"]]
    chosen = hints(entries, given["admitted"])
    return {"hints": [{"tool": tool, "hint": hint} for tool, hint, _ in chosen]}


def _worker(given: Input) -> Output:
    fixture = table(
        ("w.md", "identity.clio-worker", "You are a worker.\n"),
        ("o.md", "operating.contract", "The contract.\n"),
        ("a.md", "operating.worker", "The task.\n"),
        ("s.md", "safety.auto-edit", "The level.\n"),
    )
    persona = {"id": "agent.p"} | given["persona"]
    try:
        compiled = compile_prompt(fixture, {"worker": given | {"persona": persona}})
    except UsageError as error:
        codes = {guard.message: code for code, guard in clio_worker.GUARDS}
        return {"error_code": codes.get(error.message, error.message)}
    return {
        "ok": True,
        "section_ids": [section.id for section in compiled.sections],
        "manifest_ids": [entry.id for entry in compiled.manifest],
    }


# --- preload and cache ----------------------------------------------------------------------


def _offsets(given: Input) -> Output:
    source = given["source"]
    return {
        "offsets": clio_preload.safe_prefix_offsets(source, given["maxOffset"]),
        "lineCount": clio_preload.physical_lines(source),
    }


def _preload(given: Input) -> Output:
    project = clio_preload.Project(
        given["text"],
        tuple(clio_preload.Handbook(**book) for book in given["handbookSources"]),
        tuple(given["supportFragments"]),
        given["noticeLine"],
        given["retrievalLine"],
    )
    limits = clio_preload.Limits(given["maxChars"], given["maxLines"])
    try:
        preload = clio_preload.select(project, limits, given["providerSupportsTools"])
    except RefusedError:
        return {"error_code": "metadata-overflow"}
    return {"text": preload.text, "classification": _classification(preload)}


def _classification(preload: Preload) -> Output:
    text, included = preload.project.text, preload.text
    return {
        "mode": preload.mode,
        "chars": length(text),
        "lines": clio_preload.rendered_lines(text),
        "includedChars": length(included),
        "includedLines": clio_preload.rendered_lines(included),
        "sources": [_coverage(source) for source in preload.sources],
        "omittedSupportFragments": preload.omitted_support,
        "providerSupportsTools": preload.tools,
        "reason": preload.reason,
        "nearLimit": preload.near_limit,
        "label": preload.label,
    }


def _coverage(source: Coverage) -> Output:
    return {
        "path": source.path,
        "contentHash": source.hash,
        "availableChars": source.available_chars,
        "availableLines": source.available_lines,
        "includedChars": source.included_chars,
        "includedLines": source.included_lines,
        "includedRange": source.included and list(source.included),
        "omittedRange": source.omitted and list(source.omitted),
        "omissionReason": None if source.complete else "budget",
    }


def _cache_identity(given: Input) -> Output:
    key = clio_cache.CompileKey(
        target=given["targetId"],
        runtime=given["runtimeId"],
        model=given["wireModelId"],
        autonomy=given["autonomy"],
        session_id=given["sessionId"],
        folder=given["cwd"],
        working_paths=tuple(given["workingContextPaths"]),
        window_source=given["contextWindowSource"],
        epoch=given["promptInputEpoch"],
        session=_value(given["sessionInputs"]),
        schemas=tuple(_value(given["attachedToolSchemas"])),
    )
    try:
        identity = clio_cache.cache_identity(key)
    except CanonicalError as error:
        return {"error_code": error.error_code}
    return {"canonical": identity.canonical, "key": identity.key}


def _attached_schemas(given: Input) -> Output:
    return {"schemas": clio_cache.attached_schemas(_value(given["tools"]))}


OPS: dict[str, Callable[[Input], Output]] = {
    "load-fragments": _load,
    "canonical-json": _canonical_json,
    "compose-sections": _compose,
    "compile": _compile,
    "runtime-block": _runtime,
    "memory-block": _memory,
    "stable-prefix": _stable_prefix,
    "tool-hints": _hints,
    "worker-guard": _worker,
    "safe-prefix-offsets": _offsets,
    "project-preload": _preload,
    "cache-identity": _cache_identity,
    "attached-schemas": _attached_schemas,
}
