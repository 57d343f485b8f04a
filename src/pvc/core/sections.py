"""The ordering contract: sections of files and of a launch, arranged into one list.

The renderer loads this when a form lets the launch bring sections along, so it imports pvc's errors
alone. A row is `(id, order, complete, dynamic, content)`; what the content is does not matter here.

Rule 1: rows stand in ascending order, and where two have one number, by id in code-point order. A
null order stands after every number: the last word must not depend on who counts highest.
Rule 2: an id stands once among the global rows and once among the scoped ones; a scoped row takes
the place of the global one of its id with all its fields, its number included.
Rule 3: a complete row stands alone, and there can be one.
Rule 4: a dynamic row never gets into the prompt, and two things alone make a row dynamic: its flag,
and its id on the list of those that always are.
"""

from pvc.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    Row = tuple[str, int | None, bool, bool, Any]

DYNAMIC_IDS = ("references", "wiki")
"""Sections that change within a session by what they are, flagged or not."""


class SectionsError(UsageError):
    """Sections that cannot stand together; `code` names the fault in one word."""

    def __init__(self, code: str, message: str, *, at: str = "", hint: str = "") -> None:
        super().__init__(message, at=at, hint=hint)
        self.code = code


def arrange(rows: "Iterable[Row]", scoped: "Iterable[Row]" = ()) -> "list[Row]":
    """Arrange global and scoped rows. Raises `SectionsError` on an id that stands twice."""
    merged = {**_by_id(rows), **_by_id(scoped)}
    complete = [row for row in merged.values() if row[2]]
    if len(complete) > 1:
        names = " and ".join([f"`{row[0]}`" for row in complete[:2]])
        raise SectionsError(
            "complete-twice",
            f"sections {names} are both complete",
            hint="a complete section stands alone; let one of them go",
        )
    return complete or sorted(merged.values(), key=place)


def place(row: "Row") -> "tuple[bool, int, str]":
    """Give what rows are sorted by."""
    return row[1] is None, row[1] or 0, row[0]


def split(
    rows: "Iterable[Row]", dynamic_ids: "Collection[str]" = DYNAMIC_IDS
) -> "tuple[list[Row], list[Row]]":
    """Split arranged rows into those of the prompt and the dynamic ones, each in order."""
    stable: list[Row] = []
    dynamic: list[Row] = []
    for row in rows:
        (dynamic if row[3] or row[0] in dynamic_ids else stable).append(row)
    return stable, dynamic


def _by_id(rows: "Iterable[Row]") -> "dict[str, Row]":
    found: dict[str, Row] = {}
    for row in rows:
        if row[0] in found:
            raise SectionsError(
                "duplicate-id",
                f"section `{row[0]}` is there twice",
                hint="rename one; to take the other's place, give it a `scope`",
            )
        found[row[0]] = row
    return found
