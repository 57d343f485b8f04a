"""The two requests that are compared: captured bodies, or pinned sessions written as bodies.

A session is emitted as the front of a request in its provider's shape and read back like any
captured body, so there is one comparison.

Rule 1: files alone need no repository; none is opened for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pvc.errors import NotFoundError, UsageError
from pvc.launch.environment import up_to_bound
from pvc.model.digest import TAG
from pvc.model.manifest import Provider
from pvc.ops.cost import alike, asked_of_pin, prompt_of, request_json
from pvc.ops.select import SESSION
from pvc.providers.base import read_pair

if TYPE_CHECKING:
    from pvc.model.body import Body
    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.ops.absent import Absence
    from pvc.ops.alike import Tools
    from pvc.ops.told import Told
    from pvc.providers.base import Facts
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

PATH = "path:"


class Where(Protocol):
    """Where the question is asked: a folder, and its repository, opened only when asked for."""

    @property
    def directory(self) -> str:
        """The folder that file names are relative to."""
        ...

    @property
    def repo(self) -> Repository:
        """The repository that holds it; raises `NotFoundError` where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two requests. `rendered` and `version` are null where it is no pin of a tree."""

    label: str
    body: Body
    pin: Pin | None = None
    rendered: Rendered | None = None
    version: VersionInfo | None = None
    certain: int | None = None
    """So many bytes of its prompt are as they were pinned; null is all."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as JSON, before it is read; `shape` is null where the body must tell."""

    label: str
    body_json: bytes
    shape: str | None = None
    pin: Pin | None = None
    rendered: Rendered | None = None
    version: VersionInfo | None = None
    facts: Facts | None = None
    """Figures of the platform that it was sent to, where that is known."""
    certain: int | None = None
    absent: tuple[Absence, ...] = ()
    """What placeholders stand for in it."""


def read_sides(
    requests: tuple[Request, Request], shape: str | None, facts: Facts | None = None
) -> tuple[Side, Side]:
    """Read both requests, what they share once."""
    a, b = requests
    texts = a.body_json, b.body_json
    if a.rendered and b.rendered:  # both written here, so in one form
        texts = alike(*texts)
    bodies = read_pair(
        *texts,
        (shape or a.shape, shape or b.shape),
        at=(a.label, b.label),
        facts=facts or b.facts,
    )
    made = [
        Side(request.label, body, request.pin, request.rendered, request.version, request.certain)
        for request, body in zip(requests, bodies, strict=True)
    ]
    return made[0], made[1]


def requests_of(where: Where, a: str, b: str) -> tuple[Request, Request]:
    """Find two requests; a pin that does not say its shape has that of the other.

    Two pins of which one lacks its values or its tools here are both written with placeholders.
    """
    one, other = request_of(where, a), request_of(where, b)
    if one.shape != other.shape:
        if one.pin and not one.pin.provider and other.shape:
            one = request_of(where, a, other.shape)
        elif other.pin and not other.pin.provider and one.shape:
            other = request_of(where, b, one.shape)
    if one.absent or other.absent:
        return alike_requests(where, (one, other))
    return one, other


def alike_requests(
    where: Where, requests: tuple[Request, Request], *, marked: bool = False
) -> tuple[Request, Request]:
    """Write two pins for a comparison; `marked` placeholders differ where their values do."""
    from pvc.ops.alike import alike
    from pvc.ops.told import Teller

    one, other = requests
    if one.pin is None or other.pin is None or "request" in (one.pin.observed, other.pin.observed):
        return requests
    found = alike(Teller(where.repo), one.pin, other.pin, marked=marked)
    written = [
        _written(where.repo, pin, told, tools, request.shape)
        for request, pin, told, tools in zip(
            requests, (one.pin, other.pin), found.prompts, found.tools, strict=True
        )
    ]
    return written[0], written[1]


def request_of(where: Where, word: str, shape: str | None = None) -> Request:
    """Find the request that a word names: a file, or a pinned session, written in `shape`."""
    if is_file(where, word):
        path = Path(where.directory) / word.removeprefix(PATH)
        return Request(word, read_file(path, word))
    from pvc.ops.alike import Tools
    from pvc.ops.select import select
    from pvc.ops.told import Teller

    try:
        repo = where.repo
    except NotFoundError as error:
        raise NotFoundError(f"no file `{word}`, and {error.message}", hint=error.hint) from None
    pin = select(repo, word).pin
    if pin is None:
        raise UsageError(
            f"`{word}` is a version; miss compares sessions or request bodies",
            hint="pvc log --pins lists sessions",
        )
    teller = Teller(repo)
    told = teller.told(pin)
    if pin.observed == "request":
        return Request(word, told.rendered.data, pin=pin)
    return _written(repo, pin, told, Tools(*teller.tools(pin)), shape)


def _written(repo: Repository, pin: Pin, told: Told, tools: Tools, shape: str | None) -> Request:
    """Write a pin as the front of a request."""
    from pvc.ops.pins import version_of

    version = None if pin.observed else version_of(repo, pin)
    prompt, provider = prompt_of(repo, pin, told.rendered)
    if shape is not None:
        provider = Provider(shape, provider.model)
    asked = asked_of_pin(pin, provider, tools.value)
    return Request(
        pin.session,
        request_json(asked.shape, asked.model, asked.tools, prompt),
        asked.shape,
        pin,
        told.rendered if version else None,
        version,
        asked.facts,
        None if told.is_exact else told.certain,
        (*told.absent, *tools.absent),
    )


def is_file(where: Where, word: str) -> bool:
    """Whether bytes can be read there, from a pipe too; no name that is too long for a file is."""
    if word.startswith((SESSION, TAG)):
        return False
    try:
        path = Path(where.directory) / word
        return word.startswith(PATH) or (path.exists() and not path.is_dir())
    except OSError:
        return False


def read_file(path: Path, word: str) -> bytes:
    """Read a file; raises `NotFoundError` with the name that was given."""
    try:
        with path.open("rb") as file:
            return up_to_bound(file, word)
    except OSError as error:
        raise NotFoundError(f"cannot read `{word}`: {error.strerror}") from error
