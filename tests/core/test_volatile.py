from __future__ import annotations

from datetime import date

import pytest

from pvc.core.volatile import find

TODAY = date(2031, 2, 3)
VALUES = {"cwd": "/srv/app", "home": "/x"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("On 2031-02-03 at 10:00.", [("clock", 1, 4)]),
        ("a\nIt is 3 February 2031.", [("clock", 2, 7)]),
        ("Since February 4", [("clock", 1, 7)]),
        ("Since 2031-02-05, and 2030-02-03.", []),
        ("Listens on 10:41 of port 2031.", []),
        ("Work in /srv/app, and in /srv/app/x.", [("cwd", 1, 9), ("cwd", 1, 26)]),
        ("Work in /srv/apple or /y/srv/app.", []),
        ("/x is too short a value to tell", []),
    ],
)
def test_what_is_true_only_now(text: str, found: list[tuple[str, int, int]]) -> None:
    assert [(one.name, one.line, one.column) for one in find(text, TODAY, VALUES)] == found
