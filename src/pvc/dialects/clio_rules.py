"""What a project and its operator add to a prompt: rules, a profile, facts of the workspace. Pure.

    .clio-coder/rules/style.md     applies always
    .clio-coder/rules/api.md       paths: ["src/api/**"]: applies once such a file is worked on

Rule 1: these are additional fragments: they stand behind the sections of the form, in the order of
`Customization`, and the launch gives them as `additional`.
Rule 2: a rule without paths is active; one with paths is active when a path of the working context
matches. Rules keep their order, and their ids are reported, so that a receipt can name them.
Rule 3: loading is best effort: when a rule cannot be read, none of the set is injected. That is
reported as a finding all the same, for an unread rule is one that nobody follows.
Rule 4: without context files there is no project context; rules and profile stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pvc.dialects.clio_js import collation_key
from pvc.dialects.clio_json import digest
from pvc.dialects.clio_source import FRONT_MATTER, SUFFIX
from pvc.dialects.clio_yaml import YamlError, parse_yaml
from pvc.dialects.globs import matches
from pvc.model.finding import Finding, Severity
from pvc.model.javascript import trim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.source import Source, Sources

RULES = "context.project-rules"
PROFILE = "context.operator-profile"
ROOT = "context.workspace-root"
AWARENESS = "context.clio-repo-awareness"
SELF_SKILLS = "context.self-development-skills"


class Rule(NamedTuple):
    """A project's rule; `id` is its path, and no `paths` means that it always applies."""

    id: str
    body: str
    paths: tuple[str, ...] = ()

    def applies(self, working: Iterable[str]) -> bool:
        """Whether it is active while these paths are worked on."""
        return not self.paths or any(matches(glob, path) for path in working for glob in self.paths)


class LoadedRules(NamedTuple):
    """All rules, or none and why."""

    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...] = ()


class Workspace(NamedTuple):
    """Where a session works: the root's absolute path, the account and the host."""

    root: str
    account: str
    host: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The sources of one session, frozen when they are first read."""

    project_context: str = ""
    rules: tuple[Rule, ...] = ()
    profile: str = ""
    workspace: Workspace | None = None
    awareness: str = ""
    self_skills: str = ""

    def without_context_files(self) -> Snapshot:
        """Leave out what was read from context files."""
        return replace(self, project_context="")


class Inline(NamedTuple):
    """A fragment that stands in no file of the tree."""

    id: str
    body: str
    dynamic: bool

    @property
    def path(self) -> str:
        """Its path in a manifest: `inline/` and the id's last part."""
        return f"inline/{self.id.partition('.')[2]}"

    @property
    def hash(self) -> str:
        """SHA-256 of the body."""
        return digest(self.body)

    def to_json(self) -> dict[str, object]:
        """Give the entry of `additional` that renders it."""
        return {"id": self.id, "body": self.body, "relPath": self.path, "dynamic": self.dynamic}


@dataclass(frozen=True, slots=True)
class Customization:
    """Fragments to add, and what a receipt says of them."""

    fragments: tuple[Inline, ...]
    active_rule_ids: tuple[str, ...]
    operator_profile_applied: bool


def customize(snapshot: Snapshot, working: Iterable[str]) -> Customization:
    """Choose what applies while `working` paths are worked on; they are relative to the root."""
    paths = tuple(working)
    active = tuple(rule for rule in snapshot.rules if rule.applies(paths))
    rules = "\n\n".join(["# Project rules", *(rule.body for rule in active)]) if active else ""
    fragments = (
        Inline(ROOT, _workspace(snapshot.workspace), dynamic=False),
        Inline(AWARENESS, snapshot.awareness, dynamic=False),
        Inline(SELF_SKILLS, snapshot.self_skills, dynamic=False),
        Inline(RULES, rules, dynamic=True),
        Inline(PROFILE, snapshot.profile, dynamic=True),
    )
    return Customization(
        fragments=tuple(fragment for fragment in fragments if trim(fragment.body)),
        active_rule_ids=tuple(rule.id for rule in active),
        operator_profile_applied=bool(trim(snapshot.profile)),
    )


def _workspace(workspace: Workspace | None) -> str:
    if workspace is None:
        return ""
    lines = ["# Workspace", "", f"Root: {workspace.root}"]
    return "\n".join([*lines, f"Account: {workspace.account}", f"Host: {workspace.host}"])


def read_rules(sources: Sources) -> LoadedRules:
    """Read a project's rules, each a Markdown file that may say to which `paths` it applies."""
    files = [source for source in sources if source.path.endswith(SUFFIX)]
    rules: list[Rule] = []
    for source in sorted(files, key=lambda source: collation_key(source.path)):
        try:
            rules.append(_rule(source))
        except (YamlError, UnicodeDecodeError, ValueError) as error:
            return LoadedRules((), (_unread(source, error),))
    return LoadedRules(tuple(rules))


def _rule(source: Source) -> Rule:
    match = FRONT_MATTER.match(source.data)
    if match is None:
        return Rule(source.path, trim(source.data.decode()))
    keys = parse_yaml(match[1].decode())
    paths = keys.get("paths", []) if isinstance(keys, dict) else []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValueError("`paths` is a list of globs")
    body = trim(source.data[match.end() :].decode())
    return Rule(source.path, body, tuple(str(path) for path in paths))


def _unread(source: Source, error: Exception) -> Finding:
    reason = error.reason if isinstance(error, (YamlError, UnicodeDecodeError)) else str(error)
    return Finding(
        "rules-unread",
        Severity.CORRUPTING,
        f"no project rule applies, for one cannot be read: {reason}",
        at=source.path,
    )
