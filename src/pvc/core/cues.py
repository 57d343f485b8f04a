"""Cue words: labels that say what the value after them is.

Rule 1: a cue counts only as a label: just before the value, with a colon, an equals sign or a verb
between, or at the start of its line. Without such a joint it counts where the line holds nothing
but the word, a value with a digit and a bracket. The same word in running text says nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pvc.core.change import Change

_KEY = re.compile(r"[^\n:=]{1,40}[:=]")


def cue(words: str) -> re.Pattern[str]:
    """Match one of the words as a label just before the end of a text."""
    return re.compile(
        rf"(?:^|[^\w])(?:{words})\b[\w \t()\"'`*-]{{0,28}}"
        r"(?:[:=>]|\bis|\bwas|\bas)[\s\"'`*<]*$",
        re.IGNORECASE,
    )


def bears(change: Change, label: re.Pattern[str]) -> bool:
    """Tell whether the value bears a label of the cue; see rule 1."""
    if label.search(change.label):
        return True
    alone = all(
        re.search(r"\d", token) and line[len(change.label + token) :].lstrip()[:1] in ("", "(")
        for line, token in zip(change.lines, change.tokens, strict=True)
    )
    word = re.fullmatch(r"\W*(\w+)\W*", change.label)
    return alone and word is not None and label.search(f"{word[1]}:") is not None


def labelled(change: Change, label: re.Pattern[str]) -> bool:
    """Tell whether the word, or the whole line, bears a label of the cue."""
    if bears(change, label):
        return True
    key = _KEY.match(change.before)
    return key is not None and label.search(key[0]) is not None
