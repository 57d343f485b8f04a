"""Fold the spool into the ledger, rendering each distinct pin again on the way.

Rendering again is what keeps a poisoned program cache from staying hidden: the fold never reads
the cache, it compiles from git objects (DESIGN §4).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from pvc.core.planes import plane_starts, stable_bytes
from pvc.errors import NotFoundError, UnsupportedError
from pvc.model.pin import Pin, PromptFacts
from pvc.ops.told import Teller
from pvc.store.fold import FoldResult, fold

if TYPE_CHECKING:
    from pvc.store.repo import Repository


def facts_of(teller: Teller, pin: Pin) -> PromptFacts | None:
    """Render a pin again from git's objects; null when its version or values are not here.

    Raises what `read_body` and rendering raise when they are here and are damaged. The facts carry
    the digest of what came out, whether or not it is the pinned one.
    """
    if pin.observed or pin.environment is None:
        return None
    try:
        pack = teller.pack(pin)
        rendered = teller.render(pin)
    except (NotFoundError, UnsupportedError):
        return None
    return PromptFacts(
        digest=rendered.digest,
        size_bytes=len(rendered.data),
        sha256=sha256(rendered.data).hexdigest(),
        form=pack.form,
        rule=pack.rule,
        label=pack.label,
        fingerprint=pack.fingerprint,
        blocks=rendered.block_ends,
        stable=stable_bytes(pack, rendered),
        planes=plane_starts(pack, rendered),
    )


def run(repo: Repository, *, wait: bool = True) -> FoldResult:
    """Fold this clone's spool; see `store.fold`."""
    teller = Teller(repo)
    return fold(repo, render=lambda pin: facts_of(teller, pin), wait=wait)
