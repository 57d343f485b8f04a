"""The rule about secrets: keys and passwords by the shapes that their issuers gave them.

A small set that needs no service and no list of words. Each shape has a prefix that says whose key
it is; a word like `EXAMPLE`, a run of one letter or a row of the alphabet says that it is none.

Rule 1: no guess by entropy alone: a prompt is full of names that look random to a formula.
Rule 2: a message shows the first letters and never the secret.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.check_subject import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.check_subject import Subject


class _Shape(NamedTuple):
    """One kind of secret: whose it is, and how it looks; the group `body` is what was drawn."""

    what: str
    pattern: re.Pattern[bytes]


def _shape(what: str, pattern: str) -> _Shape:
    return _Shape(what, re.compile(rf"(?<![\w/+-]){pattern}(?![\w/+-])".encode()))


SHAPES = (
    _shape("an AWS access key id", r"(?:AKIA|ASIA)(?P<body>[A-Z2-7]{16})"),
    _shape("an Anthropic key", r"sk-ant-[a-z0-9]{3,8}-(?P<body>[\w-]{40,})"),
    _shape("an OpenAI key", r"sk-(?:proj-|svcacct-|admin-)?(?P<body>[A-Za-z0-9_-]{40,})"),
    _shape("a GitHub token", r"(?:gh[pousr]_(?P<body>[A-Za-z0-9]{36,})|github_pat_\w{60,})"),
    _shape("a GitLab token", r"gl(?:pat|dt|rt|ptt)-(?P<body>[\w-]{20,})"),
    _shape("a Slack token", r"xox[abeoprs]-(?P<body>[A-Za-z0-9-]{20,})"),
    _shape("a Google API key", r"AIza(?P<body>[\w-]{35})"),
    _shape("a Stripe key", r"[rs]k_(?:live|test)_(?P<body>[A-Za-z0-9]{20,})"),
    _shape("a Hugging Face token", r"hf_(?P<body>[A-Za-z]{30,})"),
    _shape("an npm token", r"npm_(?P<body>[A-Za-z0-9]{36})"),
    _shape("a PyPI token", r"pypi-AgE(?P<body>[\w-]{50,})"),
    _shape("a SendGrid key", r"SG\.(?P<body>[\w-]{20,24}\.[\w-]{39,50})"),
    _shape("a signed web token", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.(?P<body>[\w-]{20,})"),
    _Shape(
        "a password in an address",
        re.compile(rb"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@<>{}$]{1,64}:(?P<body>[^\s:/@<>{}$*]{6,128})@[\w.-]+"),
    ),
    _Shape(
        "a private key",
        re.compile(rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+(?P<body>[A-Za-z0-9+/=\s]{64,})"),
    ),
)  # fmt: skip
_SHOWN = 8
_WORDS = re.compile(
    rb"example|sample|dummy|placeholder|redacted|your|changeme|password|passwd|secret|replace|test|fake|token_?here",
    re.IGNORECASE,
)


class Spot(NamedTuple):
    """A secret in some bytes: whose it is, where it stands, and its first letters."""

    what: str
    start: int
    end: int
    shown: str


def secrets(subject: Subject) -> Iterator[Hit]:
    """See keys, tokens and passwords."""
    for file in subject.files:
        for spot in spots(file.data):
            yield Hit(
                file.path,
                spot.start,
                spot.end,
                f"{spot.what}: `{spot.shown}`",
                "revoke it first: what was committed stays in every clone",
            )


def spots(data: bytes) -> Iterator[Spot]:
    """Find keys, tokens and passwords in some bytes, each once."""
    taken: list[tuple[int, int]] = []  # in order, and none overlaps another
    for shape in SHAPES:
        found = []
        for match in shape.pattern.finditer(data):
            start, end = match.span()
            at = bisect_left(taken, (end, 0)) - 1
            inside = at >= 0 and start < taken[at][1]
            if not inside and not _stands_for_one(match["body"] or match[0]):
                found.append((start, end))
                yield Spot(shape.what, start, end, _shown(match[0]))
        taken = sorted([*taken, *found])


def _stands_for_one(body: bytes) -> bool:
    """Tell whether it is a word, a run or a row that somebody typed in place of a secret."""
    letters = bytes(char for char in body if chr(char).isalnum())
    steps = sum(b - a in (0, 1) for a, b in pairwise(letters))
    return bool(_WORDS.search(body)) or len(set(letters)) < 5 or 3 * steps > len(letters)


def _shown(secret: bytes) -> str:
    return secret[:_SHOWN].decode(errors="replace").split("\n")[0] + "…"
