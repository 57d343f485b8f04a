"""What changed in the dynamic plane since it was last told. Pure.

Dynamic text (selected references, a wiki, work in hand) never gets into the prompt: it would cost
the whole prefix at every change. It travels in context messages of the application, and each lists
only what changed since the one before.

Rule 1: a section whose text is empty is not there, so it is never announced; one that was told and
is empty now is withdrawn, and withdrawn once.
Rule 2: what counts is what was delivered, not what was current in between: an update that was never
sent leaves no trace.
Rule 3: a text is new when any byte of it is.
Rule 4: a dynamic section of the launch takes the place of the tree's own of its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pvc.core.compile import compile_pack
from pvc.core.program import check
from pvc.core.sections import merge, place
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pvc.core.sections import Row
    from pvc.model.pack import Pack


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


def current(pack: Pack, environment: Mapping[str, object]) -> dict[str, str]:
    """Collect the dynamic sections of a tree and a launch, in the order of the contract.

    Raises `UsageError` when the environment does not fit. A form whose launch brings no sections
    along has none.
    """
    layout = pack.layout.merge
    if layout is None:
        return {}
    _form, _rule, fields, _blocks = compile_pack(pack)
    records = check(cast("Any", fields), environment, "")[layout.field]
    _, given = merge((), records, layout.field, dict(layout.orders), layout.dynamic)
    own: list[Row] = [
        (part.name, part.order, False, True, part.template.decode())
        for part in pack.sections
        if part.plane is Plane.DYNAMIC
    ]
    told: list[Row] = [(*row[:4], row[4][1][1]) for row in given]
    rows = {row[0]: row for row in (*own, *told)}
    return {row[0]: row[4] for row in sorted(rows.values(), key=place)}


def _held(sections: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in sections.items() if text}
