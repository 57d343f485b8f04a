"""Check prompts: read them from where they are, run the rules, keep what was asked for.

Rule 1: one folder that cannot be read is a finding; it must not hide what is wrong with others.
Rule 2: text of a pack that a tree stands on is the pack's business: it is read to decode the tree,
and nothing is reported in it.
Rule 3: a range reports what its end has and its beginning had not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pvc.core.check import Located, Waiver, check, unreadable
from pvc.core.check_subject import Hit, Subject, TextFile
from pvc.core.check_tool_list import read_tool_list
from pvc.core.json_text import parse
from pvc.dialects.base import PACKS, RESERVED, findings_of, read_layers, read_pack
from pvc.dialects.globs import matches
from pvc.dialects.manifest import parse_manifest
from pvc.errors import DecodeError, NotFoundError, PvcError, RefusedError, UsageError
from pvc.model.finding import Finding, Severity
from pvc.model.manifest import MANIFEST, Kind
from pvc.model.source import Source, Sources
from pvc.ops.check_files import (
    choose,
    folder_problems,
    is_text,
    mend,
    place_of,
    refuse_links,
    relative,
    repository_at,
    root_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.core.check_tool_list import ToolList
    from pvc.dialects.base import Layer
    from pvc.model.manifest import Manifest
    from pvc.model.pack import Pack
    from pvc.ops.check_files import Chosen, Place
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

SCHEMA = "pvc.check/1"
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
FAIL_ON = (Severity.CORRUPTING, Severity.VOLATILE)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What is checked and against what; the options of `pvc check`."""

    paths: tuple[str, ...] = ()
    index: bool = False
    rev: str = ""
    tools: str | None = None
    baseline: str | None = None
    fix: bool = False
    fail_on: tuple[Severity, ...] = FAIL_ON


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found, in order of path and place."""

    found: tuple[Located, ...]
    files: int
    ignored: int = 0
    known: int = 0
    """Findings that the baseline, or the beginning of the range, had already."""
    fixed: tuple[str, ...] = ()
    fail_on: tuple[Severity, ...] = FAIL_ON

    @property
    def failed(self) -> bool:
        """Whether a finding is of a severity that fails."""
        return any(one.finding.severity in self.fail_on for one in self.found)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.check/1`."""
        return {
            "schema": SCHEMA,
            "failed": self.failed,
            "fail_on": [severity.value for severity in self.fail_on],
            "files": self.files,
            "ignored": self.ignored,
            "known": self.known,
            "fixed": list(self.fixed),
            "findings": [one.to_json() for one in self.found],
        }


def run(directory: str, options: CheckOptions) -> Checked:
    """Check what `options` name, seen from `directory`; writes nothing unless `fix`.

    Raises `NotFoundError` where there is nothing to check, `UsageError` on words that exclude each
    other, `RefusedError` where `fix` would write through a linked folder.
    """
    if options.fix:
        refuse_links(directory, options.paths)
    directory, options = _start(directory, options)
    repo = repository_at(directory)
    first, dots, last = options.rev.partition("..")
    if options.fix and (options.index or options.rev):
        raise UsageError("`--fix` mends files of the worktree alone")
    if options.index and options.rev:
        raise UsageError("`--index` and `--rev` exclude each other")
    if dots:
        before = _run(repo, directory, replace(options, rev=first or "HEAD", baseline=None))
        known = frozenset(one.fingerprint for one in before.found)
        result = _run(repo, directory, replace(options, rev=last or "HEAD"))
        return without(result, known)
    result = _run(repo, directory, options)
    if options.fix:
        fixed = mend(root_of(repo, directory), result.found)
        result = replace(_run(repo, directory, options), fixed=fixed)
    return result


def _run(repo: Repository | None, directory: str, options: CheckOptions) -> Checked:
    root = root_of(repo, directory)
    checker = _Checker(repo, _tools(directory, options.tools, root))
    asked = []
    for word in options.paths:
        version = _version(repo, word)
        if version is None or repo is None:
            asked.append(word)
        else:
            checker.version(repo, version)
    if asked or not options.paths:
        place = place_of(repo, directory, index=options.index, rev=options.rev)
        paths = place.paths()
        chosen = choose(paths, [relative(root, directory, word) for word in asked])
        if not chosen.folders and not chosen.loose:
            raise NotFoundError("no prompt here", hint="name files: pvc check AGENTS.md; pvc init")
        checker.chosen(place, chosen)
    result = replace(checker.result(), fail_on=options.fail_on)
    return without(result, _baseline(directory, options.baseline))


# --- where files are --------------------------------------------------------------------------


def _start(directory: str, options: CheckOptions) -> tuple[str, CheckOptions]:
    """Start where the first path is, for it may lie in another repository, or in none.

    Where git's variables name the repository, as in a hook, they decide.
    """
    given = [Path(directory) / word for word in options.paths]
    if not given or not given[0].exists() or any(map(os.environ.get, _PLACES)):
        return directory, options
    start = given[0] if given[0].is_dir() else given[0].parent
    there = [str(path.absolute()) if path.exists() else word
             for path, word in zip(given, options.paths, strict=True)]  # fmt: skip
    tools, baseline = (
        None if file in (None, "-") else str((Path(directory) / str(file)).absolute())
        for file in (options.tools, options.baseline)
    )
    return str(start), replace(options, paths=tuple(there), tools=tools, baseline=baseline)


def _version(repo: Repository | None, word: str) -> VersionInfo | None:
    """Find the version that a word names; null where it is a path."""
    from pvc.ops.select import select_version

    name, at, _ = word.partition("@")
    if repo is None or not at or "/" in name:
        return None
    known = any(repo.ref(f"refs/pvc/{kind}/{name}") for kind in ("trees", "packs"))
    return select_version(repo, word) if known else None


def _tools(directory: str, path: str | None, root: Path) -> tuple[ToolList, Source] | None:
    """Read tool definitions; their file is shown as the others are, where it is among them."""
    if path is None:
        return None
    from pvc.launch.environment import read_input

    data = read_input(path, directory)
    whole = (Path(directory) / path).resolve()
    shown = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else path
    return read_tool_list(data, shown), Source(shown, data)


# --- checking ---------------------------------------------------------------------------------


class _Checker:
    """Gathers the findings of all that is checked in one call."""

    def __init__(self, repo: Repository | None, tools: tuple[ToolList, Source] | None) -> None:
        self._repo = repo
        self._tools = tools
        self._found: dict[tuple[object, ...], Located] = {}
        self._files = 0
        self._ignored = 0

    def result(self) -> Checked:
        """Give what was found, each once."""
        found = sorted(self._found.values(), key=_in_order)
        return Checked(tuple(found), self._files, self._ignored)

    def version(self, repo: Repository, version: VersionInfo) -> None:
        """Check a version."""
        from pvc.store.versions import sources

        self._prompt(sources(repo, version), f"{version.label}:", None)

    def chosen(self, place: Place, chosen: Chosen) -> None:
        """Check folders of prompts, and files by themselves."""
        for folder, paths in chosen.folders:
            prefix = f"{folder}/" if folder else ""
            datas = place.read(paths)
            files = [Source(p.removeprefix(prefix), data) for p, data in datas.items()]
            for problem in folder_problems(place, folder):
                fault = RefusedError(f"a version cannot hold this folder: {problem}")
                self._add([_unreadable(fault, {}, MANIFEST, prefix)], chosen)
            self._prompt(Sources.of(files), prefix, chosen)
        for path, data in place.read(chosen.loose).items():
            self._loose(Source(path, data))

    def _loose(self, source: Source) -> None:
        """Check a file that belongs to no tree."""
        self._files += 1
        try:
            source.data.decode()
        except UnicodeDecodeError as error:
            fault = DecodeError(f"not UTF-8 at byte {error.start}", at=source.position(error.start))
            self._add([_unreadable(fault, {source.path: source}, "", "")], None)
        self._check(Subject((TextFile(source),), tools=self._tool_list))

    def _prompt(self, files: Sources, prefix: str, chosen: Chosen | None) -> None:
        """Check a folder with a manifest."""
        there = {source.path: source for source in files}
        self._files += sum(not path.startswith(RESERVED) for path in there)
        try:
            whole = Sources.of([*files, *_pack_files(self._repo, files)])
            layers = read_layers(whole)
            pack = read_pack(whole)
            form = findings_of(pack, whole)
        except PvcError as error:
            self._add([_unreadable(error, there, MANIFEST, prefix)], chosen)
            return
        manifest = layers[-1].manifest
        if manifest.kind is Kind.PACK:  # what it lacks, another pack or the tree may have
            form = tuple(finding for finding in form if finding.at)
        subject = subject_of(layers[-1], pack, prefix, self._tool_list)
        self._check(subject, form, waivers_of(manifest, there), {MANIFEST: there[MANIFEST]}, chosen)

    @property
    def _tool_list(self) -> ToolList | None:
        return self._tools[0] if self._tools else None

    def _check(
        self,
        subject: Subject,
        form: Iterable[Finding] = (),
        waivers: Iterable[Waiver] = (),
        others: Mapping[str, Source] | None = None,
        chosen: Chosen | None = None,
    ) -> None:
        known = dict(others or {})
        if self._tools:
            known[self._tools[1].path] = self._tools[1]
        found, ignored = check(subject, form, waivers, known)
        self._ignored += ignored
        self._add(found, chosen)

    def _add(self, found: Iterable[Located], chosen: Chosen | None) -> None:
        for one in found:
            inner = RESERVED in one.path
            if not inner and (chosen is None or chosen.counts(one.path)):
                self._found[(one.path, one.start, one.finding.code, one.finding.message)] = one


def _in_order(one: Located) -> tuple[str, int, str]:
    return (one.path, one.start, one.finding.code)


def subject_of(
    layer: Layer, pack: Pack, prefix: str = "", tools: ToolList | None = None
) -> Subject:
    """Make the subject of the rules of a folder's own layer and what it decodes to."""
    texts = _texts(layer, pack)
    return Subject(texts, pack, tools, layer.manifest.budget, MANIFEST, prefix)


def _texts(layer: Layer, pack: Pack) -> tuple[TextFile, ...]:
    """Give the tree's own texts, and say which of their ends reach the prompt.

    A script that the tree carries along is no prose; forms that arrange sections by themselves
    put their own ends.
    """
    planes = {piece.path: s.plane for s in reversed(pack.sections) for piece in s.pieces}
    shown = {piece.path for s in pack.sections if not s.fragment for piece in s.pieces}
    keeps_ends = not (pack.layout.trim or pack.layout.merge or pack.recipe)
    last = layer.files.files[-1].path if layer.files.files else ""
    return tuple(
        TextFile(
            source,
            planes.get(source.path, layer.plane(source)),
            is_tidied=pack.layout.tidy,
            ends_prompt=keeps_ends and (not pack.layout.edges or source.path == last),
        )
        for source in layer.files
        if source.path in shown or is_text(source.path)
    )


def _pack_files(repo: Repository | None, files: Sources) -> list[Source]:
    """Read the packs that a folder stands on; a version has them inside."""
    from pvc.store.versions import find, sources

    manifest = parse_manifest(_manifest(files).data)
    found: list[Source] = []
    for use in manifest.packs if not files.under(PACKS) else ():
        there = _builtin(use.name, use.number)
        if repo is not None and repo.ref(f"refs/pvc/packs/{use.name}"):
            there = sources(repo, find(repo, "packs", use.name, use.number)).files
        if there is None:
            raise NotFoundError(f"pack `{use.name}` is not here", at=MANIFEST, hint="pvc sync")
        found += [
            Source(f"{PACKS}{use.name}/{file.path}", file.data)
            for file in there
            if not file.path.startswith(RESERVED)
        ]
    return found


def _builtin(name: str, number: int) -> tuple[Source, ...] | None:
    """Read a pack of the wheel: a fresh clone has no refs of ours yet."""
    from pvc.packs import builtin_packs

    packs = {pack.name: pack.files for pack in builtin_packs()} if number == 1 else {}
    return next((files for known, files in packs.items() if known == name), None)


def _manifest(files: Sources) -> Source:
    source = files.get(MANIFEST)
    if source is None:
        raise NotFoundError(f"no `{MANIFEST}`", hint="pvc init makes a folder a tree")
    return source


def waivers_of(manifest: Manifest, there: Mapping[str, Source]) -> list[Waiver]:
    """Give the findings that a manifest accepts, for the files that are there."""
    data = there[MANIFEST].data
    waivers = []
    for row in manifest.ignore:
        at = max(data.find(f'"{row.code}"'.encode()), 0)
        paths = tuple(p for p in there if matches(row.path, p)) if row.path else None
        place = Hit(MANIFEST, at, at + len(row.code) + 2, "", name=row.code)
        waivers.append(Waiver(row.code, paths, place))
    return waivers


def _unreadable(
    error: PvcError, there: Mapping[str, Source], manifest: str, prefix: str
) -> Located:
    finding = Finding(
        "unreadable", Severity.CORRUPTING, error.message, at=error.at, hint=error.hint
    )
    return unreadable(finding, there, manifest=manifest, prefix=prefix)


# --- baselines --------------------------------------------------------------------------------


def _baseline(directory: str, path: str | None) -> frozenset[str]:
    """Read the findings of an earlier `pvc check --json`."""
    if path is None:
        return frozenset()
    from pvc.launch.environment import read_input

    try:
        table: Any = parse(read_input(path, directory).decode(), at=path)
        if table["schema"] != SCHEMA:
            raise UsageError(f"a baseline of schema `{table['schema']}`", at=path)
        return frozenset(str(row["fingerprint"]) for row in table["findings"])
    except (DecodeError, ValueError, KeyError, TypeError) as error:
        why = f": {error.message}" if isinstance(error, DecodeError) else ""
        raise DecodeError(
            f"no baseline{why}", at=path, hint="pvc check --format json > FILE writes one"
        ) from None


def without(result: Checked, known: frozenset[str]) -> Checked:
    """Leave out the findings whose fingerprints are known."""
    kept = tuple(one for one in result.found if one.fingerprint not in known)
    return replace(result, found=kept, known=result.known + len(result.found) - len(kept))
