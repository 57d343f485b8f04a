"""Pins rendered again, each distinct prompt once, from git's objects and never from the cache.

Rule 1: the launch's own renderer runs, over the program that the version compiles to now; so
digests of prompt and head are those that a launch would write.
Rule 2: inputs that this clone does not hold are no fault: it is counted why. Inputs that are here
and are not what their digests say are.
Rule 3: what was read is let go of soon, whatever the number of pins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pvc.core.compile import compile_pack
from pvc.core.json_text import parse_stored
from pvc.errors import (
    CorruptError,
    DecodeError,
    NotFoundError,
    UnsupportedError,
    UsageError,
    fault_of,
)
from pvc.launch import prompt as prompts
from pvc.launch.version import Version
from pvc.model.digest import Digest
from pvc.ops.pins import version_of
from pvc.ops.programs import pack_of
from pvc.ops.told import Teller
from pvc.ops.verify_absent import Absences, AbsentError, DroppedError
from pvc.ops.verify_seen import Seen
from pvc.store.bodies import Bodies

if TYPE_CHECKING:
    from pvc.model.names import CommitId
    from pvc.model.pin import Pin, PromptFacts
    from pvc.store.repo import Repository

VERSIONS_KEPT = 64
SESSIONS_KEPT = 256
BODIES_KEPT = 4096


class Outcome(NamedTuple):
    """What came of one pin: `code` and `message` of a finding, or why it was not rendered."""

    code: str = ""
    message: str = ""
    absent: str = ""
    is_known: bool = False
    """Whether the same prompt, from the same inputs, was rendered before."""


@dataclass
class Renderer:
    """Renders pins of one repository again."""

    repo: Repository
    _seen: Seen = field(default_factory=Seen)
    _versions: dict[CommitId, tuple[Version, int]] = field(default_factory=dict)
    _sessions: int = 0
    _reads: int = 0

    def __post_init__(self) -> None:
        self._absences = Absences(self.repo)
        self._bodies = Bodies(self.repo)
        self._teller = Teller(self.repo)

    def check(self, pin: Pin, facts: PromptFacts | None = None) -> Outcome:
        """Render a pin again and compare all of its digests."""
        if not self._seen.add(_inputs(pin)):
            return Outcome(is_known=True)
        try:
            problem = self._observed(pin) if pin.observed else self._rendered(pin, facts)
        except AbsentError as error:
            return Outcome(absent=str(error))
        except DroppedError as error:
            return Outcome("body", str(error))
        except UnsupportedError as error:
            return Outcome(absent=f"this pvc cannot: {error.message}")
        except CorruptError as error:
            return Outcome("body" if "body" in error.message else "prompt", str(error))
        except (DecodeError, UsageError) as error:
            return Outcome("prompt", f"it cannot be rendered any more: {error}")
        except NotFoundError as error:
            return Outcome("prompt", str(error))
        except Exception as error:  # noqa: BLE001  # one pin hides no other
            return Outcome("prompt", f"pvc cannot render it: {fault_of(error)}")
        return problem or Outcome()

    def _observed(self, pin: Pin) -> Outcome | None:
        self._body(pin, pin.prompt, "the bytes that were observed")
        return None

    def _rendered(self, pin: Pin, facts: PromptFacts | None) -> Outcome | None:
        if pin.context:
            self._body(pin, pin.context, "the texts that were delivered")
            pin = self._base(pin)
        version, rule = self._version(pin)
        if (version.tree, version.number) != (pin.tree, pin.version):
            return Outcome("record", f"it says {pin.label}, its commit is {version.label}")
        if facts is not None and facts.rule != rule:
            return Outcome(
                "prompt", f"rule {facts.rule} is recorded, the version renders under rule {rule}"
            )
        prompt = self._prompt(pin, version)
        for name, was in (("prompt", pin.prompt), ("head", pin.head), ("tools", pin.tools)):
            now = prompt.digests().get(f"{name}.digest")
            if was is not None and now is not None and now != was:
                return Outcome(
                    "prompt", f"its {name} comes out as {Digest(now).short}, not {was.short}"
                )
        if facts is not None and facts.size_bytes != len(prompt.data):
            words = f"{facts.size_bytes} bytes are recorded, not {len(prompt.data)}"
            return Outcome("prompt", words)
        return None

    def _prompt(self, pin: Pin, version: Version) -> prompts.Prompt:
        values: Any = parse_stored(
            self._body(pin, pin.environment, "the values"), "a body of values"
        )
        if not isinstance(values, dict):
            raise CorruptError("the body of its values is no object")
        tools = None
        if pin.tools is not None:
            tools = parse_stored(self._body(pin, pin.tools, "the tools"), "a body of tools")
        entries = [
            (entry.n, str(entry.entry.mode), self._body(entry, entry.entry.digest, "the entries"))
            for entry in (self._entries(pin) if pin.entry else ())
            if entry.entry
        ]
        shape = pin.provider or "" if pin.head is not None else ""
        return prompts.render(version, values, tools, shape, entries)

    # --- inputs -------------------------------------------------------------------------------

    def _body(self, pin: Pin, digest: Digest | None, what: str) -> bytes:
        if digest is None:
            raise AbsentError(f"{what} were not recorded")
        self._reads += 1
        if self._reads % BODIES_KEPT == 0:
            self._bodies = Bodies(self.repo)
        data = None if digest.is_keyed else self._bodies.read(digest)
        if data is None:
            raise self._absences.explain(pin, digest, what)
        return data

    def _version(self, pin: Pin) -> tuple[Version, int]:
        if pin.commit is None:
            raise AbsentError("the record names no version")
        if pin.commit not in self._versions:
            try:
                found = version_of(self.repo, pin)
            except NotFoundError:
                raise AbsentError("the version is not in this clone") from None
            pack = pack_of(self.repo, found)
            if len(self._versions) >= VERSIONS_KEPT:
                self._versions.pop(next(iter(self._versions)))
            version = Version(found.name, found.number, found.id, compile_pack(pack))
            self._versions[pin.commit] = version, pack.rule
        return self._versions[pin.commit]

    def _entries(self, pin: Pin) -> tuple[Pin, ...]:
        self._let_go()
        try:
            return self._teller.entries(pin)
        except NotFoundError:
            raise AbsentError("an earlier pin of the session is not in this clone") from None

    def _base(self, delivery: Pin) -> Pin:
        self._let_go()
        try:
            return self._teller.told_under(delivery)
        except NotFoundError:
            raise AbsentError("the pin that it was delivered under is not here") from None

    def _let_go(self) -> None:
        self._sessions += 1
        if self._sessions % SESSIONS_KEPT == 0:
            self._teller = Teller(self.repo)


def _inputs(pin: Pin) -> bytes:
    """Name all that a prompt and its head follow from; a pin with an entry stands for itself."""
    if pin.entry or pin.context:
        return str(pin.receipt).encode()
    parts = (pin.tree, pin.version, pin.commit, pin.environment, pin.tools, pin.provider)
    digests = (pin.prompt, pin.head, pin.observed)
    return "\0".join(str(part or "") for part in (*parts, *digests)).encode()
