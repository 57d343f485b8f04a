"""What a person hands in, held against what was pinned: it proves values that nobody kept.

Rule 1: digests decide, and with values the prompt that they render to: agreeing values of another
version prove nothing. Rule 2: where the record's digests are keyed, so are these, with the key of
whoever asks; without it nothing can be said, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pvc.core.json_text import Value, canonical, dump
from pvc.errors import NotFoundError, UsageError
from pvc.model.digest import Digest
from pvc.ops.select import select
from pvc.ops.told import Teller, as_it_was

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.store.repo import Repository


@dataclass(frozen=True, slots=True)
class Given:
    """What was handed in; null is what was not. `whole` are the bytes of the prompt itself."""

    environment: dict[str, Any] | None = None
    tools: Value = None
    whole: bytes | None = None

    def __bool__(self) -> bool:
        return any(each is not None for each in (self.environment, self.tools, self.whole))


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that was compared; `given` is the plain digest of what was handed in."""

    name: str
    pinned: Digest | None
    given: Digest
    agrees: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """What agrees with a pin and what does not. `rendered` is the prompt that came out."""

    pin: Pin
    parts: tuple[Part, ...]
    rendered: Rendered | None = None

    @property
    def is_proved(self) -> bool:
        """Whether all that was handed in is what was pinned."""
        return all(part.agrees for part in self.parts)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.proof/1`."""
        return {
            "schema": "pvc.proof/1",
            "session": self.pin.session,
            "receipt": self.pin.receipt,
            "privacy": str(self.pin.privacy),
            "proved": self.is_proved,
            "parts": [
                {"part": p.name, "pinned": p.pinned, "given": p.given, "agrees": p.agrees}
                for p in self.parts
            ],
        }

    def to_lines(self) -> Iterator[str]:
        """Say it to a person."""
        for part in self.parts:
            verdict = "as pinned" if part.agrees else f"not what was pinned ({part.pinned})"
            yield f"{part.name:<12} {part.given}  {verdict}"
        verb = "Proved" if self.is_proved else "Not proved"
        yield f"{verb} for session {self.pin.session}, receipt {self.pin.receipt}"


def run(repo: Repository, word: str, given: Given) -> Proof:
    """Hold `given` against the pin that `word` names."""
    pin = select(repo, word).pin
    if pin is None:
        raise UsageError(f"`{word}` is a version; values are proved against a session's pin")
    seal = _Seal(repo, pin)
    parts: list[Part] = []
    rendered = None
    if given.environment is not None:
        parts.append(seal.part("environment", pin.environment, canonical(given.environment)))
        rendered = _rendered(repo, pin, given.environment)
        if rendered is not None:
            parts.append(seal.part("prompt", pin.prompt, rendered.data))
    if given.tools is not None:
        parts.append(seal.part("tools", pin.tools, dump(given.tools).encode()))
    if given.whole is not None:
        rendered = as_it_was(given.whole)
        parts.append(seal.part("prompt", pin.prompt, given.whole))
    return Proof(pin, tuple(parts), rendered)


def _rendered(repo: Repository, pin: Pin, environment: dict[str, Any]) -> Rendered | None:
    """Render a pin's version over values; null where that is not here: then digests decide."""
    if pin.observed:
        return None
    try:
        return Teller(repo).render(pin, environment)
    except (NotFoundError, UsageError):
        return None  # values that the version does not take are not those that were pinned


class _Seal:
    """Compares digests as the pin's record holds them."""

    def __init__(self, repo: Repository, pin: Pin) -> None:
        self._key = None
        if pin.key:
            from pvc.launch import seal, settings
            from pvc.launch.place import Place

            place = Place(str(repo.git_dir), str(repo.common_dir))
            path = settings.read(place).key
            self._key = seal.load(place, path, pin.key, f"session `{pin.session}`")

    def part(self, name: str, pinned: Digest | None, data: bytes) -> Part:
        given = Digest.of(data)
        held = Digest(self._key.seal(given)) if self._key else given
        return Part(name, pinned, given, held == pinned)
