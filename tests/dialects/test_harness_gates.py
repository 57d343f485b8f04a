from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.dialects import harness_gates as gates

HASH = "3f9c2ab"


@pytest.mark.parametrize(
    ("files", "total", "ok"),
    [
        ({}, 0, True),
        ({"systemprompt.md": "x" * 24_000}, 24_000, True),
        ({"systemprompt.md": "x" * 24_001}, 24_001, False),
        ({"systemprompt.md": "x" * 12_000, "tool_guidance.md": "y" * 12_001}, 24_001, False),
        ({"memory.md": "😀" * 12_001}, 24_002, False),
        ({"skills/a/SKILL.md": "x" * 30_000, "other.md": "x"}, 0, True),
    ],
)
def test_always_on_text_is_counted_together_in_utf16_units(
    files: dict[str, str], *, total: int, ok: bool
) -> None:
    assert gates.always_on_cap(files) == (total, ok)


@pytest.mark.parametrize(
    ("text", "places"),
    [("{{", (0,)), ("{ {", ()), ("}}", ()), ("a {{b}} {{{c", (2, 8)), ('{"a": {"b": 1}}', ())],
)
def test_only_a_double_opening_brace_is_a_template(text: str, places: tuple[int, ...]) -> None:
    assert gates.double_braces(text) == places


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Run scripts/check.sh first.", ["scripts/check.sh"]),
        ("Run scripts/check.sh.", ["scripts/check.sh"]),
        ("`scripts/a-b_c/d.py`, ./scripts/e", ["scripts/a-b_c/d.py", "scripts/e"]),
        ("scripts/ and scripts/. and scripts/...", []),
        ("skills/x/scripts/y my-scripts/z transcripts/w", []),
        ("see scripts/lib/", ["scripts/lib/"]),
        ("scripts/é", []),
    ],
)
def test_scripts_are_named_by_their_path(text: str, names: list[str]) -> None:
    assert [named.name for named in gates.named_scripts(text)] == names
    for name, at in gates.named_scripts(text):
        assert text.startswith(name, at)


@pytest.mark.parametrize(
    ("text", "scripts", "missing"),
    [
        ("scripts/a scripts/b scripts/a", [], ["scripts/a", "scripts/b"]),
        ("scripts/a", ["scripts/a", "scripts/unnamed"], []),
        ("scripts/a", ["scripts/ab"], ["scripts/a"]),
        ("scripts/lib/ scripts/lib", ["scripts/lib/x.py"], []),
    ],
)
def test_every_named_script_is_there_and_no_script_must_be_named(
    text: str, scripts: list[str], missing: list[str]
) -> None:
    assert [named.name for named in gates.missing_scripts(text, scripts)] == missing


@pytest.mark.parametrize(
    ("text", "trigger", "ok"),
    [
        ("nothing", None, True),
        ("use tidy", None, False),
        ("use tidy", "", False),
        ("use tidy\nWHEN so USE tidy", "WHEN so USE tidy", True),
        ("use tidy\r\nWHEN so USE tidy\r\n", "WHEN so USE tidy", True),
        ("WHEN so USE tidy now", "WHEN so USE tidy", False),
        ("tidying, untidy, tidy-up, pre-tidy", None, True),
        ("(tidy)", None, False),
    ],
)
def test_a_mentioned_skill_needs_its_trigger_as_a_line(
    text: str, *, trigger: str | None, ok: bool
) -> None:
    assert (gates.untriggered(text, [("tidy", trigger)]) == ()) is ok


def test_a_skill_name_is_no_pattern() -> None:
    assert gates.untriggered("axc", [("a.c", None)]) == ()
    assert gates.untriggered("use c++", [("c++", None)]) == (("c++", 4),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntrigger: WHEN a USE b\n---\n", "WHEN a USE b"),
        ("---\nname: b\r\ntrigger:  'WHEN: a' \r\n---\r\n", "WHEN: a"),
        ('---\ntrigger: "x"\nmore: y\n---', "x"),
        ("---\ntrigger:\n---\n", None),
        ('---\ntrigger: ""\n---\n', None),
        ("---\nname: b\n---\ntrigger: body\n", None),
        ("trigger: x\n", None),
        ("---\ntrigger: x\n", None),
    ],
)
def test_a_trigger_line_is_read_from_the_front_matter(text: str, line: str | None) -> None:
    assert gates.trigger_line(text) == line


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The build is slow.\nReleased 2031-02-03.\n", ()),
        ("1. one\n2. two\n", ()),
        ("1. seen on 2031-02-03\n", ()),
        ("a\n1. did it (#12)\n   and more\n2) then\n", (2,)),
        (f"1. one\n2. two {HASH}\n\n1. x\n2. #3\n", (0, len(f"1. one\n2. two {HASH}\n\n"))),
    ],
)
def test_steps_with_an_audit_trail_are_a_procedure(text: str, places: tuple[int, ...]) -> None:
    assert gates.procedures(text) == places


@given(st.text("1. #\n a"))
def test_a_procedure_starts_at_a_step(text: str) -> None:
    for at in gates.procedures(text):
        assert at == 0 or text[at - 1] == "\n"
        assert text[at:].lstrip(" ").startswith("1")


def test_volatile_values_are_found_by_name_and_an_empty_one_nowhere() -> None:
    values = {"cwd": "/srv/x", "date": "2031-02-03", "host": ""}
    assert gates.volatile_names("On 2031-02-03 in /srv/xy", values) == ("cwd", "date")
    assert gates.volatile_names("Rules.", values) == ()


def test_what_is_judged_by_does_not_ride_along() -> None:
    dynamic = {"wiki": "The underscore", "work": "Score: 3", "note": "final VERDICT"}
    assert gates.answer_bearing(dynamic) == ("work", "note")
