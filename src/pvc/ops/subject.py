"""Blame of what a word names: a pin, or a version with values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, UsageError
from pvc.ops.blame import Blamed, blame
from pvc.ops.pins import rendered_of, version_of
from pvc.ops.render import render_version
from pvc.ops.select import select
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.store.repo import Repository


def blame_subject(
    repo: Repository,
    word: str,
    environment: Mapping[str, object],
    byte_range: tuple[int, int] | None = None,
    section: str | None = None,
    *,
    at: int | None = None,
) -> Blamed:
    """Blame the prompt of a pin or of a version; `at` is a past position of the pin's session.

    `byte_range` is half-open. Raises `UsageError` when it lies outside of the prompt, and
    `NotFoundError` when nothing of `section` was rendered.
    """
    found = select(repo, word)
    if found.pin and found.pin.observed and at is None:
        return _observed(repo, found.pin, byte_range)
    entries: tuple[Pin, ...] = ()
    if found.pin:
        teller = Teller(repo)
        pin = found.pin if at is None else teller.at(found.pin, at)
        rendered, version, entries = (
            teller.rendered(pin),
            version_of(repo, pin),
            teller.entries(pin),
        )
        subject: dict[str, object] = {"session": pin.session, "receipt": pin.receipt}
    elif at is not None:
        raise UsageError(f"`{word}` is no session, so it has no positions")
    else:
        assert found.version is not None  # noqa: S101  # `select` gives one of the two
        version = found.version
        rendered, subject = render_version(repo, version, environment).rendered, {}
    subject |= {"tree": version.name, "version": version.number, "commit": version.id}
    span = _range(rendered, byte_range, section)
    return Blamed(subject, rendered, blame(repo, rendered, version, span, entries))


def _observed(repo: Repository, pin: Pin, byte_range: tuple[int, int] | None) -> Blamed:
    """Blame bytes that pvc did not render: whose text they are is found by alignment."""
    from pvc.ops.attribute import attribute, blame_attributed

    if pin.observed == "request":
        raise UsageError(
            f"session `{pin.session}` is a whole request body",
            hint="pvc miss tells who owns a byte of it",
        )
    rendered = rendered_of(repo, pin)
    start, end = _range(rendered, byte_range, None) or (0, len(rendered.data))
    runs = blame_attributed(repo, attribute(repo, rendered.data))
    subject: dict[str, object] = {"session": pin.session, "receipt": pin.receipt}
    return Blamed(subject, rendered, tuple(r for r in runs if r.start < end and r.end > start))


def _range(
    rendered: Rendered, byte_range: tuple[int, int] | None, section: str | None
) -> tuple[int, int] | None:
    size = len(rendered.data)
    if byte_range and not 0 <= byte_range[0] < byte_range[1] <= size:
        raise UsageError(f"bytes {byte_range[0]}..{byte_range[1]} of a prompt of {size} bytes")
    if section is None:
        return byte_range
    found = rendered.section_range(section)
    if found is None:
        names = dict.fromkeys(span.section for span in rendered.spans if span.section)
        raise NotFoundError(f"the prompt has no section `{section}`", hint=", ".join(names))
    return found
