"""A pin's prompt, rendered again from its inputs, or given back as it was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.json_text import parse_stored
from pvc.errors import NotFoundError

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.store.bodies import Bodies
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


def version_of(repo: Repository, pin: Pin) -> VersionInfo:
    """Find the version that a pin names. Raises `NotFoundError` when it is not in this clone."""
    from pvc.store.versions import at_commit

    if pin.commit is None:
        raise NotFoundError(f"session `{pin.session}` was observed; it names no version")
    return at_commit(repo, pin.commit)


def rendered_of(repo: Repository, pin: Pin) -> Rendered:
    """Render a pin again. Raises `CorruptError` when other bytes come out than were pinned."""
    from pvc.ops.told import Teller

    return Teller(repo).rendered(pin)


def tools_of(repo: Repository, pin: Pin) -> Value:
    """Read the tool definitions of a pin as they were given; null when it has none."""
    if pin.tools is None:
        return None
    what = f"the tools of session `{pin.session}`"
    return parse_stored(body_of(repo, pin.tools, what, pin=pin), what)


def search_body(directory: str, digest: str, what: str, record: bytes) -> bytes:
    """Read a body for a launch that did not find it; raises what stands in the way."""
    from pvc.model.digest import Digest
    from pvc.store.codec import decode
    from pvc.store.open import open_repository

    return body_of(open_repository(directory), Digest(digest), what, pin=decode(record))


def body_of(
    repo: Repository,
    digest: Digest | None,
    what: str,
    bodies: Bodies | None = None,
    pin: Pin | None = None,
) -> bytes:
    """Read a body that `pin` names. Raises `NotHereError`, saying why it is not here."""
    from pvc.store.bodies import Bodies

    data = (bodies or Bodies(repo)).read(digest) if digest else b"{}"
    if data is None and digest is not None:
        from pvc.ops.absent import absent

        raise absent(repo, digest, what, pin)
    return data or b""
