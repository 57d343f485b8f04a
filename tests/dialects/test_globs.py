from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.dialects.globs import is_glob, matches

PARTS = st.sampled_from(["**", "*", "a", "b", ".a", "a*", "*a", "?", ".*", "*a*b"])
PATTERNS = st.lists(PARTS, min_size=1, max_size=6).map("/".join)
NAMES = st.sampled_from(["a", "b", ".a", "ab", "ba", "aab"])
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.md", ["a.md", "é b.md", "\n.md"], ["a/b.md", ".a.md", "amd", "a.md\n", "a.mdx"]),
        ("**/*.md", ["a.md", "a/b.md", "a/b/c.md"], [".git/a.md", "a/.b/c.md", "a/.c.md"]),
        ("a/**", ["a/b", "a/b/c.md"], ["a", "b/a/c", "a/.b", "a/.b/c"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a/bz", "az", "a/.b/z"]),
        ("**", ["a", "a/b"], [".a", "a/.b"]),
        ("?.md", ["a.md", "é.md"], ["ab.md", ".md", "/.md"]),
        ("a?b", ["a.b", "axb"], ["a/b", "ab"]),
        (".github/*.md", [".github/a.md"], ["github/a.md", ".github/b/a.md"]),
        ("a[1].md", ["a[1].md"], ["a1.md"]),
        ("a.md", ["a.md"], ["aXmd", "b/a.md"]),
    ],
)
def test_a_glob_means_these_paths_and_not_those(
    pattern: str, yes: list[str], no: list[str]
) -> None:
    assert [path for path in [*yes, *no] if matches(pattern, path)] == yes


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 4000),
        ("**/a/" * 40 + "b", "a/" * 2000 + "c"),
        ("/".join(["**"] * 500), "/".join("a" * 500) + "/."),
    ],
)
def test_a_hostile_pattern_takes_no_longer_than_its_size(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@given(PATTERNS, PATHS)
def test_matching_agrees_with_trying_every_way(pattern: str, path: str) -> None:
    assert matches(pattern, path) == every_way(pattern.split("/"), path.split("/"))


def every_way(pattern: list[str], path: list[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        inside = not path[0].startswith(".") and every_way(pattern, path[1:])
        return (
            inside
            or (every_way(pattern[1:], path) if pattern[1:] else False)
            or (len(pattern) == len(path) == 1 and not path[0].startswith("."))
        )
    dot = path[0].startswith(".") and pattern[0].startswith(("*", "?"))
    fits = fnmatchcase(path[0], pattern[0])
    return fits and not dot and every_way(pattern[1:], path[1:])


def test_only_stars_and_question_marks_are_wildcards() -> None:
    assert [p for p in ["a", "a*", "a?", "[a]", "{a}"] if is_glob(p)] == ["a*", "a?"]
