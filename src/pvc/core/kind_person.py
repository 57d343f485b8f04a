"""Kind of person: something about the person or account that is served.

Rule 1: an address is sure; a label, a form of address or what looks like a name is a cue.
"""

from __future__ import annotations

import re

from pvc.core.change import Change, Match, became
from pvc.core.cues import cue, labelled
from pvc.core.kind_state import STATE_CUE
from pvc.model.body import Kind

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HANDLE = re.compile(r"@[A-Za-z][\w-]+")
_PERSON_CUE = cue(
    r"user|user[_ -]?(?:id|name|email)|username|account(?:[_ -]?(?:id|name|uuid))?|e-?mail"
    r"|organi[sz]ation(?:[_ -]?id)?|org(?:[_ -]?id)?|tenant(?:[_ -]?id)?|customer(?:[_ -]?id)?"
    r"|member|whoami|uid|person|owner|login|plan|subscription|tier|(?:full|display|first)[_ -]name"
    r"|author|team|department|company|employee|phone|birthday|pronouns|client[_ -](?:id|name)"
    r"|licen[sc]ed to|licensee|seat|(?:github|gitlab|slack) (?:handle|user|login|name)"
)
_PERSON_LINE = re.compile(r"^\s*(?:\W\s*)?(?:preferred )?name\s*[:=]\s*$", re.IGNORECASE)
_PERSON_PHRASE = re.compile(
    r"\b(?i:assisting|you (?:help|assist|serve|support)|helping|serving|on behalf of"
    r"|working (?:with|for)|talking to|speaking (?:with|to)|assistant (?:of|to|for)|prepared for"
    r"|belongs to|hello|hi|dear|welcome(?: back)?|user is|person is|called|named|the user"
    r"|reply to|write to|notify)"
    r",?\s+(?:[A-Z][\w'’-]*\s+){0,2}$"
)
_PERSON_NAME = re.compile(r"[A-Z][\w'’-]+(?: [A-Z]\.)?(?: [A-Z][\w'’-]+){1,2}")
_LABELLED_NAME = re.compile(rf"([^\n:=]{{1,40}}(?:[:=]|\bis)\s*){_PERSON_NAME.pattern}\W?\s*$")
_NAME = re.compile(r"[A-Z][^\W\d]*\W?")
_SIGNED_IN = re.compile(r"\b(?:signed|logged) in (?:as|with)\s+[\"'`]?$", re.IGNORECASE)
_PERSON_SECTION = re.compile(
    r"\b(?:user|person|profile|customer|account|about (?:me|you|the user))\b", re.IGNORECASE
)


def user_identity(change: Change) -> Match | None:
    """See something about the person or account that is served."""
    old, new = change.tokens
    said = became(old, new)
    if not change.goes_on:
        return None
    if all(_EMAIL.search(part) or _HANDLE.fullmatch(part) for part in (*change.middles, old, new)):
        return Match(Kind.USER_IDENTITY, f"an address of a person: {said}")
    if all(map(_EMAIL.search, change.middles)):
        return Match(Kind.USER_IDENTITY, f"an address of a person: {became(*change.middles)}")
    bare = _PERSON_LINE.search(change.label) and all(map(_NAME.fullmatch, (old, new)))
    if bare or labelled(change, _PERSON_CUE):
        return Match(
            Kind.USER_IDENTITY, f"a value that names a person or account: {said}", sure=False
        )
    if _SIGNED_IN.search(change.label) or (
        _PERSON_PHRASE.search(change.label) and old[:1].isupper() and new[:1].isupper()
    ):
        return Match(Kind.USER_IDENTITY, f"the name of a person: {said}", sure=False)
    names = all(_PERSON_NAME.fullmatch(middle.strip(" .,")) for middle in change.middles)
    if names and not labelled(change, STATE_CUE):
        return Match(Kind.USER_IDENTITY, f"what looks like a name: {said}", sure=False)
    added = change.only_side
    if added and len(added) <= 3 and any(map(_tells_person, added)):
        said = f"a line with a name or address: `{added[0][:60]}`"
        return Match(Kind.USER_IDENTITY, said, sure=False)
    return None


def _tells_person(line: str) -> bool:
    """Tell whether a line holds an address, or a name behind a label of a person."""
    named = _LABELLED_NAME.match(line)
    return bool(_EMAIL.search(line) or (named and _PERSON_CUE.search(named[1])))


def person_section(change: Change) -> Match | None:
    """See a change in a part that is about the person."""
    if not change.injected or not _PERSON_SECTION.search(change.section):
        return None
    said = f"in a part about the person, {became(*change.middles)}"
    return Match(Kind.USER_IDENTITY, said, sure=False)
