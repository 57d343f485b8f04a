"""What changed in the dynamic plane since it was last told. Pure.

Dynamic text (selected references, a wiki, work in hand) never gets into the prompt: it would cost
the whole prefix at every change. It travels in context messages of the application, and each lists
only what changed since the one before.

Rule 1: a section whose text is empty is not there, so it is never announced; one that was told and
is empty now is withdrawn, and withdrawn once.
Rule 2: what counts is what was delivered, not what was current in between: an update that was never
sent leaves no trace.
Rule 3: a text is new when any byte of it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Update:
    """One context message: ids that changed and ids that are no longer current, in given order.

    `delivered` is what has been told once this update is sent.
    """

    changed: tuple[str, ...]
    withdrawn: tuple[str, ...]
    delivered: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.withdrawn)


def update(delivered: Mapping[str, str], current: Mapping[str, str]) -> Update:
    """Compare what was told with what holds now; a false update need not be sent."""
    told = _held(delivered)
    now = _held(current)
    changed = tuple(name for name, text in now.items() if told.get(name) != text)
    return Update(changed, tuple(name for name in told if name not in now), now)


def _held(sections: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in sections.items() if text}
