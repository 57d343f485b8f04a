"""Manifests that somebody else wrote: within bounds, one line, and no other tree stands still."""

import pytest

from cli.conftest import Clone

HEAD = 'format = 1\nname = "agent"\nform = "plain"\n'
HOSTILE = {
    "deep list": "x = " + "[" * 3000 + "]" * 3000,
    "long number": "x = " + "9" * 5000,
    "number beyond 64 bits": "x = 0x" + "f" * 5000,
    "long key": ".".join("a" * 1 for _ in range(100_000)) + " = 1",
    "no UTF-8": "x = '\udcff'",
    "zero byte": "\0",
    "byte order mark": "\ufeffx = 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_manifest_is_refused_with_its_place(plain: Clone, text: str) -> None:
    plain.write("agent/pvc.toml", (HEAD + text + "\n").encode(errors="surrogateescape"))
    plain.commit()
    error = plain.refused("supersede", "agent", "-m", "x", "--from", "agent", code=3)
    assert "pvc.toml" in error
    assert plain.refs() == ""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_manifest_elsewhere_stands_in_nobodys_way(plain: Clone, text: str) -> None:
    plain.write("other/pvc.toml", (HEAD + text + "\n").encode(errors="surrogateescape"))
    plain.commit()
    plain.pvc("supersede", "agent", "-m", "x")
    assert "Role" in plain.pvc("render", "agent", "--worktree", "--set", "cwd=/").text


def test_a_name_with_a_line_feed_makes_no_second_line(plain: Clone) -> None:
    plain.write("agent/pvc.toml", HEAD.replace("agent", r"age\nnt"))
    plain.commit()
    error = plain.refused("supersede", "agent", "-m", "x", code=4)
    assert len(error.splitlines()) == 2


def test_an_unknown_key_with_a_line_feed_makes_no_second_line(plain: Clone) -> None:
    plain.write("agent/pvc.toml", HEAD + '"a\\nhint: b" = 1\n')
    plain.commit()
    assert len(plain.refused("supersede", "agent", "-m", "x", code=2).splitlines()) == 2


def test_a_glob_that_leads_nowhere_is_not_adopted(plain: Clone) -> None:
    plain.write("agent/pvc.toml", HEAD + 'files = ["*.md", "skils/*.md"]\nbindings = ["cwd"]\n')
    plain.commit()
    error = plain.refused("supersede", "agent", "-m", "x", code=1)
    assert "skils/*.md" in error
    assert plain.refs() == ""
    plain.pvc("supersede", "agent", "-m", "x", "--accept-findings")
