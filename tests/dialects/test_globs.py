from __future__ import annotations

import pytest

from pvc.dialects.globs import is_glob, matches


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


def test_only_stars_and_question_marks_are_wildcards() -> None:
    assert [p for p in ["a", "a*", "a?", "[a]", "{a}"] if is_glob(p)] == ["a*", "a?"]
