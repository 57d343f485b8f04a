"""Rules about a prompt as a whole: which planes stand before which, and how long it may be.

Rule 1: text is as stable as what stands in front of it. Text of an earlier plane behind text of a
later one is read back only as often as the later one stays.
Rule 2: less than `GRAIN_BYTES` is no loss that a cache would notice: providers count in steps of
128 tokens and more, and a value at the end of a sentence has the end of the sentence behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.core.check_subject import Hit
from pvc.model.pack import GuardBinding, Hole, PickBinding, Text
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.check_subject import Subject
    from pvc.model.pack import Pack, Piece, Section

GRAIN_BYTES = 1024
_RANK = {plane: rank for rank, plane in enumerate(Plane)}


class _Placed(NamedTuple):
    """A piece of an always-on section, with the plane that it belongs to."""

    plane: Plane
    piece: Piece


def plane_order(subject: Subject) -> Iterator[Hit]:
    """See text of a later-changing plane in front of much text of an earlier one."""
    if subject.pack is None:
        return
    placed = list(_placed(subject.pack))
    for later in (Plane.SURFACE, Plane.LAUNCH, Plane.DYNAMIC):
        first = next((n for n, one in enumerate(placed) if one.plane is later), None)
        if first is None:
            continue
        behind = [one for one in placed[first:] if _RANK[one.plane] < _RANK[later]]
        size = sum(len(one.piece.data) for one in behind)
        if size >= GRAIN_BYTES:
            piece = placed[first].piece
            what = f"`{{{piece.name}}}`" if isinstance(piece, Hole) else "text"
            earliest = min((one.plane for one in behind), key=_RANK.__getitem__)
            yield Hit(
                piece.path,
                piece.offset,
                piece.offset + min(len(piece.data), 60),
                f"{what} of plane {later} stands in front of {size} bytes that change more seldom"
                f" ({earliest})",
                "put it behind them, or give its section the plane that it has in truth",
            )


def _placed(pack: Pack) -> Iterator[_Placed]:
    """Give what is always rendered, in order; a fragment that a value selects is left out."""
    selecting = {b.name for b in pack.bindings if isinstance(b, PickBinding | GuardBinding)}
    for section in _in_order(pack):
        if section.fragment:
            continue
        for piece in section.pieces:
            if not isinstance(piece, Hole):
                yield _Placed(section.plane, piece)
            elif piece.name not in selecting:
                yield _Placed(max(section.plane, Plane.LAUNCH, key=_RANK.__getitem__), piece)


def _in_order(pack: Pack) -> Iterator[Section]:
    """Give the sections as they are rendered: a form may arrange them by number."""
    if pack.layout.merge is None:
        yield from pack.sections
        return
    last = max((section.order or 0 for section in pack.sections), default=0) + 1
    yield from sorted(pack.sections, key=lambda s: last if s.order is None else s.order)


def over_budget(subject: Subject) -> Iterator[Hit]:
    """See text that is longer than the tree's own bound before any value is filled in."""
    bound = subject.budget.chars
    if subject.pack is None or bound is None:
        return
    texts = [one.piece.data for one in _placed(subject.pack) if isinstance(one.piece, Text)]
    count = sum(len(text.decode()) for text in texts)
    if count > bound:
        yield Hit(
            subject.manifest,
            0,
            0,
            f"the always-on text has {count} characters, `[budget]` allows {bound}",
            "move what is not always needed into a file that is read on demand",
        )
