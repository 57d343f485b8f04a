"""Kind of identifier: names that are new by nature.

Rule 1: opaque is what is no word, no plain counter, no version and no measure. A name that could be
a measure is opaque beside one that is.
Rule 2: a short tag needs a label that says so; the match is then not sure.
Rule 3: the commit ids of a checkout are hex, but say what the checkout holds.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pvc.core.change import Change, Match, became, segment_at
from pvc.core.cues import bears, cue
from pvc.model.body import Kind

_ID_LEAVES = {"id", "tool_use_id", "call_id", "tool_call_id", "signature", "encrypted_content"}
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][\w.]+)?", re.IGNORECASE)
_WORD_COUNT = re.compile(r"[A-Za-z]+\d{1,4}")
_MEASURE = re.compile(r"\d+(?:[A-Za-z]{1,3}|x\d+)")
_TEMP = re.compile(
    r"(?:^|[\s\"'(=:])(?:file://)?(?:/private)?(?:/tmp/|/var/(?:tmp|folders|run)/|/run/|/dev/shm/)"
    r"|\\(?:Temp|Tmp)\\|\btmp[_./-]?\w*$|\btemp[_./-]\w*$",
    re.IGNORECASE,
)
_HOST_PORT = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|//[\w.-]+):\d*$")
_PORT = re.compile(r"\bport\b[^\n]{0,12}$", re.IGNORECASE)  # one that is drawn has five digits
_ID_CUE = cue(
    r"id|ids|uuid|guid|ulid|tag|nonce|token|session|request|req|trace|span|run|job|sid|rid|seed"
    r"|salt|cch|signature|fingerprint|instance|pid|process|port|socket|boundary|correlation|etag"
    r"|run[_ -]id"
    r"|(?:session|request|trace|run|thread|conversation|instance|process)[_ -]?(?:id|key|token)"
)


def random_id(change: Change) -> Match | None:
    """See an identifier, token, nonce, temporary name or session address."""
    old, new = change.tokens
    said = became(old, new)
    if change.leaf in _ID_LEAVES:
        return Match(Kind.RANDOM_ID, f"an identifier of the conversation: {said}")
    if not old or not new or not change.goes_on:
        return None
    if _UUID.search(old) and _UUID.search(new):
        return Match(Kind.RANDOM_ID, f"a UUID: {said}")
    if _VERSION.fullmatch(old) and _VERSION.fullmatch(new):
        return None
    start = len(change.before) - len(change.label)
    parts = [segment_at(token, start) for token in (old, new)]
    head = change.label + old[: parts[0][1]]
    if _HOST_PORT.search(head) and all(part.isdecimal() for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"an address of a session: {said}")
    if _TEMP.search(head) and all(_may_be_temporary(part) for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"a temporary name: {said}")
    opaque = _opaque_pair(parts[0][0], parts[1][0]) or _opaque_tails(old, new, start)
    if opaque and not _commit(change):
        return Match(Kind.RANDOM_ID, f"an opaque name: {said}")
    well_known = _PORT.search(change.label) and max(len(part) for part, _ in parts) < 5
    if not well_known and bears(change, _ID_CUE) and all(_may_be_id(part) for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"a short tag that is labelled as one: {said}", sure=False)
    return None


def _opaque(part: str) -> bool:
    """Tell whether a name is no word, no plain counter, no version and no measure."""
    if (
        len(part) < 4
        or not part.isascii()
        or _WORD_COUNT.fullmatch(part)
        or _MEASURE.fullmatch(part)
    ):
        return False
    digits, letters = any(map(str.isdigit, part)), any(map(str.isalpha, part))
    if digits and letters:
        switches = sum(a.isdigit() != b.isdigit() for a, b in pairwise(part))
        return switches >= 2 or len(part) >= 12
    if digits:
        return len(part) >= 9
    if re.fullmatch(r"[0-9a-f]{7,}", part):
        return True
    mixed = re.search(r"[a-z][A-Z]{2,}[a-z]|[A-Z][a-z][A-Z][a-z][A-Z]", part) is not None
    return mixed or re.search(r"[^aeiouyAEIOUY\W\d_]{6,}", part) is not None


def _opaque_pair(old: str, new: str) -> bool:
    """Tell whether both names are opaque; a possible measure is, beside an opaque one."""
    if _opaque(old) and _opaque(new):
        return True
    alike = len(old) == len(new) and all(map(str.isalnum, (old, new)))
    return alike and (_opaque(old) or _opaque(new)) and _may_be_id(old) and _may_be_id(new)


def _opaque_tails(old: str, new: str, at: int) -> bool:
    """Tell whether names of several words, of which the place is in the first, end opaquely."""
    starts = old.rfind("/", 0, at) + 1
    names = [re.split(r"[-_.]", token[starts:].split("/")[0]) for token in (old, new)]
    tails = [name[-1] for name in names]
    return len(names[0]) == len(names[1]) > 1 and all(map(_opaque, tails)) and tails[0] != tails[1]


def _may_be_temporary(part: str) -> bool:
    """Tell whether a name below a temporary folder is more than a word or a short counter."""
    return part.startswith("tmp") or (_may_be_id(part) and not (part.isdecimal() and len(part) < 4))


def _may_be_id(part: str) -> bool:
    return bool(part) and (any(map(str.isdigit, part)) or _opaque(part))


def _commit(change: Change) -> bool:
    """Tell whether the place is a commit of the checkout, whose ids are hex but no nonce."""
    around = f"{change.section} {change.label}"
    return (
        re.search(r"\b(?:commits?|head|revision|sha|git|branch)\b", around, re.IGNORECASE)
        is not None
    )
