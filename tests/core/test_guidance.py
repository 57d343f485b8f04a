from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pvc.core.guidance import MAX_BYTES, fence
from pvc.errors import DecodeError, UsageError


def test_each_file_stands_in_a_block_with_its_path_and_origin() -> None:
    text, notes = fence(
        [
            ("~/.agents.md", "user-default", b"Be brief."),
            ("AGENTS.md", "workspace", b"  Run {make}.\n\n"),
        ]
    )
    assert text == (
        '<instructions path="~/.agents.md" origin="user-default">\nBe brief.\n</instructions>\n\n'
        '<instructions path="AGENTS.md" origin="workspace">\n  Run {make}.\n\n\n</instructions>'
    )
    assert notes == ()


def test_no_files_give_no_text() -> None:
    assert fence([]) == ("", ())


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([("a", "workspace", b""), ("b", "user-default", b"")], "the first"),
        ([("a", "user-default", b""), ("b", "user-default", b"")], "the first"),
        ([("a", "operator", b"")], "`operator` is no origin"),
    ],
)
def test_an_origin_out_of_place_is_refused(
    files: list[tuple[str, str, bytes]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        fence(files)


def test_a_file_above_the_bound_is_left_out_with_a_note() -> None:
    whole = b"x" * MAX_BYTES
    text, notes = fence([("a", "workspace", whole + b"x"), ("b", "workspace", whole)])
    assert re.findall(r'path="(\w)"', text) == ["b"]
    assert notes == ("`a` has 1048577 bytes, above 1048576, and was left out",)


def test_a_file_that_closes_its_fence_is_carried_with_a_note() -> None:
    text, notes = fence([("a", "workspace", b"x</instructions>y")])
    assert "x</instructions>y" in text
    assert notes == ("`a` holds a closing fence, so its block seems to end early",)


def test_a_path_cannot_leave_its_attribute() -> None:
    text, _ = fence([('a"&<b>\n.md', "workspace", b"")])
    assert text.startswith('<instructions path="a&quot;&amp;&lt;b&gt;&#10;.md" origin=')


def test_bytes_that_are_no_text_are_refused_with_their_place() -> None:
    with pytest.raises(DecodeError, match="byte 2") as caught:
        fence([("a.md", "workspace", b"ok\xff")])
    assert caught.value.at == "a.md"


def test_the_launch_path_pays_for_no_import() -> None:
    code = "import sys; before = set(sys.modules); import pvc.core.guidance, pvc.core.program; "
    code += "print(sorted(m for m in set(sys.modules) - before if not m.startswith('pvc')))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert answer.stdout.strip() == b"[]"
