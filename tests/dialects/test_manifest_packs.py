"""A pack's number in a manifest: that number changes, every other byte stays."""

from __future__ import annotations

import pytest

from pvc.dialects.manifest_packs import with_pack
from pvc.errors import UsageError
from pvc.model.names import PackName

HEAD = b'format = 1\nname = "agent"\nform = "plain"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[packs]\nhouse = 1\n", b"[packs]\nhouse = 12\n"),
        (b"[packs]\r\n  house=1 # it\r\n", b"[packs]\r\n  house=12 # it\r\n"),
        (b"packs = {house = 1, other = 2}\n", b"packs = {house = 12, other = 2}\n"),
        (b'packs.house = 1\nfiles = ["a"]\n', b'packs.house = 12\nfiles = ["a"]\n'),
        (b'# house = 1\n[packs]\n"house" = 1\n', b'# house = 1\n[packs]\n"house" = 12\n'),
        (b"[packs]\nmy-house = 1\nhouse = 1\n", b"[packs]\nmy-house = 1\nhouse = 12\n"),
        (b"[packs]\nhouse = 12\n", b"[packs]\nhouse = 12\n"),
        (b"[packs] # on\nother = 2\n", b"[packs] # on\nhouse = 12\nother = 2\n"),
        (b"packs = {}\n", b"packs = {house = 12}\n"),
        (b"packs = {other = 2}\n", b"packs = {house = 12, other = 2}\n"),
        (b"", b"\n[packs]\nhouse = 12\n"),
        (b"[budget]\nchars = 9", b"[budget]\nchars = 9\n\n[packs]\nhouse = 12\n"),
    ],
    ids=lambda value: value.decode().strip(),
)
def test_only_the_number_changes(before: bytes, after: bytes) -> None:
    assert with_pack(HEAD + before, PackName("house"), 12) == HEAD + after


def test_a_row_beside_dotted_keys_is_written_as_they_are() -> None:
    data = with_pack(HEAD + b"packs.other = 2\n", PackName("house"), 3)
    assert data == b"packs.house = 3\n" + HEAD + b"packs.other = 2\n"


def test_a_name_with_a_dot_is_quoted() -> None:
    assert with_pack(HEAD, PackName("house.rules"), 3).endswith(b'"house.rules" = 3\n')


def test_text_without_a_place_for_it_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot put pack `house` at 3"):
        with_pack(HEAD + b'packs = "none"\n', PackName("house"), 3)
