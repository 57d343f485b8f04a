"""Why the prompt of a later session differs from an earlier one's, and which bytes moved.

Rule 1: events are not written down anywhere: a pin names its version and its tools, and a version
its packs, so what lies between two pins follows from them, and cannot contradict them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects.harness_events import PrefixInputs, events_between, moved
from pvc.ops.alike import alike
from pvc.ops.pins import version_of
from pvc.ops.told import Teller
from pvc.store.versions import pack_commits, walk

if TYPE_CHECKING:
    from pvc.dialects.harness_events import PrefixMove
    from pvc.model.pin import Pin
    from pvc.ops.alike import Alike
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

_RESERVED = ".pvc/"


def between(repo: Repository, before: Pin, after: Pin, pair: Alike | None = None) -> PrefixMove:
    """Compare the prompts of two pins, as far as their values are here.

    Raises `NotFoundError` when one was only observed.
    """
    events = events_between(inputs_of(repo, before), inputs_of(repo, after))
    a, b = (pair or alike(Teller(repo), before, after)).prompts
    return moved(a.rendered, b.rendered, events)


def inputs_of(repo: Repository, pin: Pin) -> PrefixInputs:
    """Collect what a pinned prompt hangs on besides its values."""
    return inputs_of_version(repo, version_of(repo, pin), str(pin.tools or ""))


def inputs_of_version(repo: Repository, version: VersionInfo, tools: str = "") -> PrefixInputs:
    """Collect the packs and files of a version; `tools` are a launch's, by their digest."""
    own = ((path, str(entry.oid)) for path, entry in walk(repo, version.tree))
    return PrefixInputs(
        packs=tuple(sorted((name, str(c)) for name, c in pack_commits(repo, version).items())),
        files=tuple((path, oid) for path, oid in own if not path.startswith(_RESERVED)),
        tools=tools,
    )
