"""Signs of secrets: whatever the rule finds shows one, and ordinary prompts show none."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.check_secrets import SHAPES, spots
from pvc.core.secret_signs import shows_sign


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.what)
def test_all_that_a_shape_matches_shows_a_sign(shape: object) -> None:
    @given(st.from_regex(shape.pattern))  # type: ignore[attr-defined]  # a shape of the table
    def check(data: bytes) -> None:
        assert shows_sign(data)

    check()


def drawn(alphabet: str, size: int) -> str:
    """Give letters that look drawn: neither a run nor a row."""
    return "".join(alphabet[(7 * i * i + 11 * i + 3) % len(alphabet)] for i in range(size))


LETTERS = string.ascii_letters + string.digits
SECRETS = [
    "AKIA" + "Q3EGTZ5NB6RWSKXF",
    "sk-ant-" + "api03-" + drawn(LETTERS, 60),
    "sk-proj-" + drawn(LETTERS, 50),
    "ghp_" + drawn(LETTERS, 36),
    "github_pat_" + drawn(LETTERS, 62),
    "glpat-" + "k3Jx9QmVt2LwYb7NzR4c",
    "xoxb-" + drawn(LETTERS, 30),
    "AIza" + drawn(LETTERS, 35),
    "sk_live_" + drawn(LETTERS, 24),
    "hf_" + drawn(string.ascii_letters, 34),
    "npm_" + drawn(LETTERS, 36),
    "pypi-AgE" + drawn(LETTERS, 60),
    "SG." + drawn(LETTERS, 22) + "." + drawn(LETTERS, 43),
    "eyJ" + drawn(LETTERS, 20) + ".eyJ" + drawn(LETTERS, 20) + "." + drawn(LETTERS, 30),
    "postgres://harbour:" + "k3Jx9QmVt2" + "@db.internal/main",
    "-----BEGIN PRIVATE KEY-----\n" + drawn(LETTERS, 64) + "\n",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda text: text[:8])
def test_what_the_rule_finds_shows_a_sign(secret: str) -> None:
    for text in (secret, f"The key is {secret} and so on.", f'{{"token":"{secret}"}}'):
        assert [*spots(text.encode())]
        assert shows_sign(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Use the task-runner; ask about disk-space and risk-free retries.",
        "See https://example.org/a:b@c and git@github.com:a/b.git",
        "ssh://git@host/path, http://host:8080/x",
        '{"url":"http://host:8080","who":"ann@example.org"}',
        "high-level glue, ghost_writers, sk-",
        "xox, hf_, npm_, SG., AIza and eyJ alone",
    ],
)
def test_ordinary_words_show_none(text: str) -> None:
    assert not shows_sign(text.encode())


def test_the_examples_show_none() -> None:
    """A launch with an ordinary environment never loads the rule."""
    for path in (Path(__file__).parents[2] / "docs/examples").rglob("*.json"):
        assert not shows_sign(path.read_bytes()), path
