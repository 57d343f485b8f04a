"""Rules about placeholders that nothing fills: the model is sent the braces.

Rule 1: a name that is close to a declared one is a typing mistake, in code too, because code is
filled like any other text. If no file uses the declared name, a looser match is enough.
Rule 2: any other name in braces may be meant (JSON, a format that the model is to use), so it is
only mentioned, and only in prose.
Rule 3: forms whose own rules speak of every placeholder (`loom`, `clio`) are left to them.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pvc.core.check_subject import Hit, prose
from pvc.model.manifest import Form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.check_subject import Subject, TextFile

_BRACES = re.compile(
    rb"(?<![\w$\\{])\{{1,2}[ \t]{0,8}(?P<name>[A-Za-z_][\w.-]{0,62})[ \t]{0,8}\}{1,2}(?!\})",
    re.ASCII,
)
_NEAR, _NEAR_UNUSED = 0.8, 0.7
"""The least similarity (0 to 1) of a mistyped name; the second if no file uses the declared one."""


def mistyped(subject: Subject) -> Iterator[Hit]:
    """See a placeholder that is nearly one of the declared names, or has the wrong braces."""
    for file, match, meant in _placeholders(subject):
        name, written = match["name"].decode(), match[0].decode()
        if meant and written != f"{{{meant}}}":
            hint = f"did you mean `{{{meant}}}`?"
            yield Hit(
                file.path, *match.span(), f"`{written}` is not filled as it is written", hint, name
            )


def undeclared(subject: Subject) -> Iterator[Hit]:
    """See a name in braces that nothing fills, so the braces are sent as they are."""
    for file, match, meant in _placeholders(subject):
        name = match["name"].decode()
        start, end = match.span()
        if meant or prose(file.data)[start:end] != match[0]:
            continue
        hint = f'if it is a placeholder, declare it: bindings = ["{name}"]'
        if subject.pack is not None and subject.pack.form is not Form.PLAIN:
            hint = f"form `{subject.pack.form}` fills no placeholders in its files"
        message = f"nothing fills `{match[0].decode()}`, so it is sent as it is"
        yield Hit(file.path, start, end, message, hint, name)


def _declared(subject: Subject) -> frozenset[str]:
    if subject.pack is None or subject.pack.form is not Form.PLAIN:
        return frozenset()
    return frozenset(binding.name for binding in subject.pack.bindings)


def _placeholders(subject: Subject) -> Iterator[tuple[TextFile, re.Match[bytes], str]]:
    """Yield every name in braces, and the declared name that was meant; empty if none was."""
    found = [(file, match, match["name"].decode()) for file, match in _found(subject)]
    declared = _declared(subject)
    unused = declared - {name for _, _, name in found}
    for file, match, name in found:
        yield file, match, _nearest(name, declared, unused)


def _found(subject: Subject) -> Iterator[tuple[TextFile, re.Match[bytes]]]:
    """Give every name in braces of the files that are rendered."""
    if subject.pack is None or subject.pack.form in (Form.LOOM, Form.CLIO):
        return
    rendered = {p.path for s in subject.pack.sections for p in s.pieces}
    for file in subject.files:
        if file.path in rendered:
            for match in _BRACES.finditer(file.data):
                yield file, match


def _nearest(name: str, declared: frozenset[str], unused: frozenset[str]) -> str:
    """Find the declared name that was meant; empty when there is none."""
    plain = name.lower().replace("-", "_")
    if plain in declared:
        return plain
    near = get_close_matches(plain, sorted(declared), 1, _NEAR)
    near = near or get_close_matches(plain, sorted(unused), 1, _NEAR_UNUSED)
    return next(iter(near), "")
