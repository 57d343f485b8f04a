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
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    Row = tuple[str, int | None, bool, bool, Any]


class SectionsError(UsageError):
    """Sections that cannot stand together; `code` names the fault in one word."""

    def __init__(self, code: str, message: str, *, at: str = "", hint: str = "") -> None:
        super().__init__(message, at=at, hint=hint)
        self.code = code


def arrange(rows: "Iterable[Row]", scoped: "Iterable[Row]" = ()) -> "list[Row]":
    """Arrange global and scoped rows. Raises `SectionsError` on an id that stands twice."""
    return _alone_or_sorted({**_by_id(rows), **_by_id(scoped)}.values())


def _alone_or_sorted(rows: "Collection[Row]") -> "list[Row]":
    complete = [row for row in rows if row[2]]
    if len(complete) > 1:
        names = " and ".join([f"`{row[0]}`" for row in complete[:2]])
        raise SectionsError(
            "complete-twice",
            f"sections {names} are both complete",
            hint="a complete section stands alone; let one of them go",
        )
    return complete or sorted(rows, key=place)


def place(row: "Row") -> "tuple[bool, int, str]":
    """Give what rows are sorted by."""
    return row[1] is None, row[1] or 0, row[0]


def split(rows: "Iterable[Row]", dynamic_ids: "Collection[str]") -> "tuple[list[Row], list[Row]]":
    """Split rows into those of the prompt and the dynamic ones, each in order."""
    stable: list[Row] = []
    dynamic: list[Row] = []
    for row in rows:
        (dynamic if row[3] or row[0] in dynamic_ids else stable).append(row)
    return stable, dynamic


def _by_id(rows: "Iterable[Row]") -> "dict[str, Row]":
    found: dict[str, Row] = {}
    for row in rows:
        if row[0] in found:
            raise _twice(row[0], "")
        found[row[0]] = row
    return found


def _twice(name: str, at: str) -> "SectionsError":
    return SectionsError(
        "duplicate-id",
        f"section `{name}` is there twice",
        at=at,
        hint="rename one; to take the other's place, give it a `scope`",
    )


# --- sections of a launch -------------------------------------------------------------------

LAUNCH = "launch"
FOUNDATION = "foundation"


def merge(
    rows: "Iterable[tuple[str, int | None, bool, str, tuple[Any, ...]]]",
    given: "list[dict[str, Any]]",
    field: str,
    orders: "Mapping[str, int | None]",
    dynamic_ids: "Collection[str]",
) -> "tuple[list[Row], list[Row]]":
    """Arrange a program's rows and the records of a launch: those of the prompt, then dynamic ones.

    The content of each is its plane and an instruction of the renderer. A complete row replaces the
    others of the prompt; what is dynamic is told elsewhere, and stays. Raises
    `SectionsError` with the JSON pointer of the record that cannot be arranged.
    """
    own = {row[0]: (row[0], row[1], row[2], False, (row[3], row[4])) for row in rows}
    plain: dict[str, Row] = dict(own)
    scoped: dict[str, Row] = {}
    for index, record in enumerate(given):
        at = f"/{field}/{index}"
        row = _row(record, at, orders, dynamic_ids)
        if record["scope"]:
            _check_shadow(row, own.get(row[0]), at)
        into = scoped if record["scope"] else plain
        if row[0] in into:
            raise _twice(row[0], f"{at}/id")
        into[row[0]] = row
    stable, dynamic = split({**plain, **scoped}.values(), dynamic_ids)
    return _alone_or_sorted(stable), sorted(dynamic, key=place)


def _row(
    record: "dict[str, Any]",
    at: str,
    orders: "Mapping[str, int | None]",
    dynamic_ids: "Collection[str]",
) -> "Row":
    name, order = record["id"], record["order"]
    if not name:
        raise SectionsError("id-empty", "a section has an id", at=f"{at}/id")
    if order is None and name not in orders:
        raise SectionsError(
            "order-missing",
            f"section `{name}` has no order",
            at=f"{at}/order",
            hint="below 25 is identity and role; 25 to 90 are the tree's own",
        )
    dynamic = record["dynamic"] or name in dynamic_ids
    if dynamic and record["complete"]:
        raise SectionsError(
            "dynamic-complete",
            f"section `{name}` is dynamic and complete, so the prompt would be empty",
            at=f"{at}/complete",
        )
    part = ("given", record["text"], name, f"{at}/text")
    number = orders[name] if order is None else order
    return name, number, record["complete"], dynamic, (LAUNCH, part)


def _check_shadow(row: "Row", own: "Row | None", at: str) -> None:
    """Refuse a scoped section that would take foundation text, or any text, out of the prompt."""
    if own is not None and own[4][0] == FOUNDATION:
        raise SectionsError(
            "not-editable",
            f"section `{row[0]}` is foundation text",
            at=f"{at}/id",
            hint="it changes by a release of its pack",
        )
    if own is not None and row[3]:
        raise SectionsError(
            "dynamic-shadow",
            f"section `{row[0]}` of the prompt cannot become dynamic",
            at=f"{at}/dynamic",
            hint="give the dynamic section an id of its own",
        )


def value_of(
    field: "tuple[Any, ...]",
    value: object,
    pointer: str,
    check: "Callable[[Any, object, str], dict[str, Any]]",
) -> object:
    """Check a field of the kinds `records`, `whole` and `flag`; an absent one has its default.

    `check` is the renderer's own, for the fields of a record.
    """
    name, kind, _, _, _, variants = field
    if kind == "records":
        if value is None:
            return []
        if not isinstance(value, list):
            raise UsageError(f"`{name}` is a list of objects", at=pointer)
        return [check(variants[0], item, f"{pointer}/{i}") for i, item in enumerate(value)]
    if kind == "flag":
        if value is not None and not isinstance(value, bool):
            raise UsageError(f"`{name}` is true or false", at=pointer)
        return value is True
    return None if value is None else _whole(name, value, pointer)


def _whole(name: str, value: object, pointer: str) -> int:
    """Take a whole number: an int, or a number's digits as `json_text` keeps them."""
    if type(value) is int:
        return value
    text = value if isinstance(value, str) and type(value) is not str else ""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise UsageError(f"`{name}` is a whole number", at=pointer)
    return int(text)


_MOST_DIGITS = 9
