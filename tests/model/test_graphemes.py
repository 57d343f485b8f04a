from __future__ import annotations

import pytest

from pvc.model.graphemes import extends, prepends

JOINING = {
    0x0300: "combining grave",
    0x036F: "the last of its block",
    0x0903: "devanagari visarga, a spacing mark",
    0x0E33: "thai sara am",
    0x200C: "zero width non-joiner",
    0x200D: "zero width joiner",
    0x20E3: "enclosing keycap",
    0xFE0F: "variation selector 16",
    0xFF9E: "halfwidth voiced sound mark",
    0x1F3FB: "emoji skin tone",
    0xE0061: "tag letter",
    0xE01EF: "the last variation selector",
}
ALONE = {
    0x20: "space",
    0x7D: "brace",
    0x02FF: "before the first mark",
    0x0370: "after the block of marks",
    0x200B: "zero width space",
    0x200E: "left-to-right mark",
    0x2028: "line separator",
    0x3000: "ideographic space",
    0x1F1E6: "regional indicator",
    0x10FFFF: "the last code point",
}


@pytest.mark.parametrize("code", JOINING, ids=JOINING.values())
def test_marks_join_the_character_before_them(code: int) -> None:
    assert extends(code)
    assert not prepends(code)


@pytest.mark.parametrize("code", ALONE, ids=ALONE.values())
def test_other_code_points_stand_alone(code: int) -> None:
    assert not extends(code)
    assert not prepends(code)


@pytest.mark.parametrize("code", [0x600, 0x605, 0x6DD, 0x70F, 0x8E2, 0xD4E, 0x110BD, 0x11F02])
def test_some_signs_take_in_the_character_after_them(code: int) -> None:
    assert prepends(code)
    assert not extends(code)
