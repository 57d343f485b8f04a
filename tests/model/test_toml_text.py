"""TOML of others: long keys are refused, and no text takes more time than it is long."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from pvc.errors import DecodeError
from pvc.model.toml_text import parse_toml

KEY = b".".join([b"k"] * 70)


@pytest.mark.parametrize(
    "data",
    [
        KEY + b" = 1",
        b"[" + KEY + b"]",
        b'[ "a" . ' + KEY + b"]",
        b'x = {y = "\\"", ' + KEY + b' = "v"}',
        b'x = {y = """a"b""", ' + KEY + b' = "v"}',
        b'x = {y = """a""""", ' + KEY + b' = "v"}',
        b"x = {y = '''a''''', " + KEY + b" = 'v'}",
        b"# it's\n" + KEY + b" = 'a'",
    ],
)
def test_a_long_key_is_found_behind_whatever_stands_before_it(data: bytes) -> None:
    with pytest.raises(DecodeError, match="a key has more than 64 parts"):
        parse_toml(data, "pvc.toml")


@pytest.mark.parametrize("around", [b'x = "%s"', b"# %s", b'x = """\n%s\n"""', b"x = '%s'"])
def test_words_with_dots_are_no_key(around: bytes) -> None:
    assert parse_toml(around % KEY, "pvc.toml") is not None


@pytest.mark.parametrize("unit", [b"A", b"a ", b"''", b'"', b'"""\\', b"a . ", b"\\", b".", b"a-"])
@pytest.mark.parametrize("around", [b"# %s\n", b'a = "%s"\n', b"%s = 1\n", b'a = """%s', b"%s"])
def test_no_text_takes_the_square_of_its_length(unit: bytes, around: bytes) -> None:
    """A megabyte, the bound of a manifest; the square of it would take hours."""

    def seconds(size: int) -> float:
        data = around % (unit * (size // len(unit)))
        start = time.process_time()
        with suppress(DecodeError):
            parse_toml(data, "pvc.toml")
        return time.process_time() - start

    assert seconds(1 << 20) < 30
