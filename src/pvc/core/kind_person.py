"""Kind of person: something about the person or account that is served.

Rule 1: an address is sure; a label, a form of address or what looks like a name is a cue.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from pvc.core.change import Change, Match, became
from pvc.core.cues import cue, labelled
from pvc.core.given_names import is_given
from pvc.core.kind_state import STATE_CUE
from pvc.core.kind_texts import NAMED
from pvc.core.names import is_name, named, spoken_of
from pvc.model.body import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

_EMAIL = re.compile(r"[\w.+-]@[\w-]+\.[\w-]")
"""Enough of an address to know that one is there: a search for all would begin at every letter."""
_HANDLE = re.compile(r"@[A-Za-z][\w-]+")
_PERSON_CUE = cue(
    r"user|user[_ -]?(?:id|name|email)|username|account(?:[_ -]?(?:id|name|uuid))?|e-?mail"
    r"|organi[sz]ation(?:[_ -]?id)?|org(?:[_ -]?id)?|tenant(?:[_ -]?id)?|customer(?:[_ -]?id)?"
    r"|member|whoami|uid|person|owner|login|plan|subscription|tier|(?:full|display|first)[_ -]name"
    r"|membership|author|team|department|company|employee|phone|birthday|pronouns"
    r"|client[_ -](?:id|name)"
    r"|licen[sc]ed to|licensee|seat|(?:github|gitlab|slack) (?:handle|user|login|name)"
)
_PERSON_NAME = re.compile(r"[A-Z][\w'’-]+(?: [A-Z]\.)?(?: [A-Z][\w'’-]+){1,2}")
_BEGINS = re.compile(r"(?<![\w'’])[^\W\d_]")
_MOST_STARTS = 24
_WORD_START = re.compile(r"[\w'’-]*$")
_NAME_START = re.compile(r"(?:[^\W\d_][\w'’.-]* ){1,3}$")
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
    if (labelled(change, _PERSON_CUE) and not _is_said(change)) or _by_name(change, named):
        return Match(
            Kind.USER_IDENTITY, f"a value that names a person or account: {said}", sure=False
        )
    if _SIGNED_IN.search(change.label) or _by_name(change, spoken_of):
        return Match(Kind.USER_IDENTITY, f"the name of a person: {said}", sure=False)
    names = all(_PERSON_NAME.fullmatch(middle.strip(" .,")) for middle in change.middles)
    if (names or _are_given(change)) and not labelled(change, STATE_CUE):
        return Match(Kind.USER_IDENTITY, f"what looks like a name: {said}", sure=False)
    added = change.only_side
    if added and len(added) <= 3 and any(map(_tells_person, added)):
        said = f"a line with a name or address: `{added[0][:60]}`"
        return Match(Kind.USER_IDENTITY, said, sure=False)
    return None


def _are_given(change: Change) -> bool:
    """Return True if the two words at the place are given names of people.

    After other words of the line, one listed name is enough if the other word looks like a name.
    """
    given = [is_given(token) for token in change.tokens]
    names = [is_name(token.strip("\"'`*.,;:!?")) for token in change.tokens]
    within = any(map(str.isalnum, change.label))
    return (
        (all(given) or (any(given) and all(names) and within))
        and not NAMED.search(change.section)
        and not _is_the_agent(change)
    )


def _is_the_agent(change: Change) -> bool:
    """Return True if the name at the place is the agent's own: `You are Ada`, not `Ada's tutor`."""
    owns = all(_OWNS.match(line, len(change.label)) for line in change.lines)
    return not owns and _THE_AGENT.search(change.label) is not None


_OWNS = re.compile(r"(?:[\w.-]+ ){0,3}[\w.-]+['’]s\b")
"""A name of up to four words with a possessive `'s`."""


_THE_AGENT = re.compile(
    r"\b(?:you(?: a|')re(?: now)?|your name is|you are (?:called|named)|assistant is(?: called)?"
    r"|persona|agent|model|bot)\W*$",
    re.IGNORECASE,
)


def _is_said(change: Change) -> bool:
    """Tell whether a sentence says something of the user, rather than who that is."""
    return _VERB.search(change.label) is not None and all(
        token.isalpha() and token.islower() for token in change.tokens
    )


_VERB = re.compile(r"\b(?:is|was|as)\s+$", re.IGNORECASE)


def _by_name(change: Change, tells: Callable[[str, str], bool]) -> bool:
    """Tell whether a rule of names holds of the place on both sides.

    The name begins with the word that holds the place, or with the words in front of it that could
    be its beginning: `Ada Lind` became `Ada Berg`. A list of skills or tools has names of its own.
    """
    if NAMED.search(change.section) or _is_the_agent(change):
        return False
    cut = max(0, len(change.before) - _NEAR)
    near = change.before[cut:]
    lead = _WORD_START.sub("", near)
    for lead_in in (near, lead, _NAME_START.sub("", lead)):
        start = cut + len(lead_in)
        if all(tells(lead_in, line[start : start + _NEAR]) for line in change.lines):
            return True
    return False


_NEAR = 160
"""How many characters on each side of the place are looked at."""


_LABELLED = re.compile(r"[^\n:=]{1,30}[:=]\s*(\S+)(?: [\w.'’-]+){0,2}\W*")
"""A label with one to three words after it."""


def _tells_person(line: str) -> bool:
    """Tell whether a line holds an address, or a name behind a label of a person."""
    if _EMAIL.search(line):
        return True
    for found in islice(_BEGINS.finditer(line[:_NEAR]), _MOST_STARTS):
        lead, rest = line[: found.start()], line[found.start() : found.start() + _NEAR]
        if named(lead, rest) or spoken_of(lead, rest):
            return True
    value = _LABELLED.fullmatch(line)
    if value is not None and is_given(value[1]):
        return True
    found_name = _PERSON_NAME.search(line)
    return found_name is not None and _PERSON_CUE.search(line[: found_name.start()]) is not None


def person_section(change: Change) -> Match | None:
    """See a change in a part that is about the person."""
    if not change.injected or not _PERSON_SECTION.search(change.section):
        return None
    said = f"in a part about the person, {became(*change.middles)}"
    return Match(Kind.USER_IDENTITY, said, sure=False)
