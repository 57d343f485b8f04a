from __future__ import annotations

import subprocess
import sys
import zlib
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import generate
from pvc.core.annotation import Annotation, dump, load
from pvc.core.blame import annotate
from pvc.errors import CorruptError

RECORD = dump(annotate(generate(3, 30, files=3, paragraphs=5).history))


def test_a_record_gives_the_annotation_back() -> None:
    read = load(RECORD)
    whole = annotate(generate(3, 30, files=3, paragraphs=5).history)
    assert dump(read) == RECORD
    assert read.commit == whole.commit
    assert read.paths == whole.paths
    for path in whole.paths:
        assert read.runs(path) == whole.runs(path)
        assert read.blob_of(path) == whole.blob_of(path)


def test_nothing_has_a_record_too() -> None:
    assert load(dump(Annotation())) == Annotation()


@given(st.integers(0, len(RECORD) - 1), st.integers(1, 255))
def test_a_damaged_record_is_refused(at: int, by: int) -> None:
    damaged = bytearray(RECORD)
    damaged[at] ^= by
    with pytest.raises(CorruptError):
        load(bytes(damaged))


@given(st.integers(0, len(RECORD) - 1))
def test_a_record_cut_short_is_refused(size: int) -> None:
    with pytest.raises(CorruptError):
        load(RECORD[:size])


def test_reading_a_record_imports_no_foreign_package() -> None:
    code = (
        "import sys; from pvc.core.annotation import load; load(sys.stdin.buffer.read());"
        "print({'pygit2', 'numpy', 'rapidfuzz', 'click'} & set(sys.modules) or '')"
    )
    child = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        input=RECORD,
        capture_output=True,
        check=True,
    )
    assert child.stdout.strip() == b""


def sealed(body: bytes) -> bytes:
    """A record whose checksum is right, whatever it holds."""
    head = RECORD[: RECORD.index(b"\n") + 1]
    return head + zlib.crc32(body).to_bytes(4, "little") + body


@pytest.mark.parametrize(
    "body",
    [
        array("Q", [4, 0, 0]).tobytes() + b"99\0\0",
        array("Q", [2, 0, 0]).tobytes() + b"1\0\0",
        array("Q", [2, 1 << 60, 0]).tobytes() + b"1\0",
        array("Q", [2, 0, 7]).tobytes() + b"1\0",
        array("Q", [99, 0, 0]).tobytes() + b"1\0",
        array("Q", [1 + 1 + 1 + 1 + 40, 1, 0, 1, 5, 0]).tobytes() + b"1\0\0a\0" + b"0" * 40,
        b"short",
    ],
    ids=[
        "another algorithm",
        "no whole numbers",
        "more files than bytes",
        "revisions that are missing",
        "texts longer than the record",
        "a piece of no revision",
        "no header",
    ],
)
def test_a_foreign_record_with_a_right_checksum_is_refused(body: bytes) -> None:
    with pytest.raises(CorruptError):
        load(sealed(body))
