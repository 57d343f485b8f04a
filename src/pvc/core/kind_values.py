"""Kinds of value: what stands at the place is new by nature, or belongs to the machine or person.

Rule 1: both sides are looked at. A date that became another date is a clock; a date that became a
word is not.
Rule 2: what was said and done in a conversation (tool results, answers) is full of times, paths and
ids. There a value counts only when the rest of the line stayed: otherwise the history changed.
Rule 3: cue words alone make a match that is not sure, and the next kind that fits is named too.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pvc.core import moments
from pvc.core.change import Change, Match, became
from pvc.model.body import Kind

_ID_LEAVES = {"id", "tool_use_id", "call_id", "tool_call_id", "signature", "encrypted_content"}
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][\w.]+)?", re.IGNORECASE)
_WORD_COUNT = re.compile(r"[A-Za-z]+\d{1,4}")
_MEASURE = re.compile(r"\d+(?:[A-Za-z]{1,3}|x\d+)")
_SEGMENT = re.compile(r"[^-_./\\:~@#?&+%]+")
_TEMP = re.compile(
    r"(?:^|[\s\"'(=:])(?:file://)?(?:/private)?(?:/tmp/|/var/(?:tmp|folders|run)/|/run/|/dev/shm/)"
    r"|\\(?:Temp|Tmp)\\|\btmp[_./-]?\w*$|\btemp[_./-]\w*$",
    re.IGNORECASE,
)
_HOST_PORT = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|//[\w.-]+):\d*$")


def _cue(words: str, *, near: int = 28) -> re.Pattern[str]:
    """Match one of the words as a label just before the end of a text."""
    return re.compile(
        rf"(?:^|[^\w])(?:{words})\b[\w \t()\"'`*-]{{0,{near}}}"
        r"(?:[:=>]|\bis|\bwas|\bas)[\s\"'`*<]*$",
        re.IGNORECASE,
    )


_CLOCK_CUE = _cue(
    r"year|month|week|day|date|time|now|clock|today|timestamp|updated|generated|as of|datetime"
    r"|uptime"
)
_ID_CUE = _cue(
    r"id|ids|uuid|guid|ulid|tag|nonce|token|session|request|req|trace|span|run|job|sid|rid|seed"
    r"|salt|cch|signature|fingerprint|instance|pid|port|socket|boundary|correlation|etag|run[_ -]id"
    r"|(?:session|request|trace|run|thread|conversation|instance|process)[_ -]?(?:id|key|token)"
)
_PERSON_CUE = _cue(
    r"user|user[_ -]?(?:id|name|email)|username|account(?:[_ -]?(?:id|name|uuid))?|e-?mail"
    r"|organi[sz]ation(?:[_ -]?id)?|org(?:[_ -]?id)?|tenant(?:[_ -]?id)?|customer(?:[_ -]?id)?"
    r"|member|person|owner|login|plan|subscription|tier|(?:full|display|first)[_ -]name|author"
    r"|team|department|company|employee|phone|birthday|pronouns|client[_ -](?:id|name)"
)
_PERSON_LINE = re.compile(r"^\s*(?:\W\s*)?(?:preferred )?name\s*[:=]\s*$", re.IGNORECASE)
_PERSON_PHRASE = re.compile(
    r"\b(?i:assisting|you (?:help|assist|serve|support)|helping|serving|on behalf of"
    r"|working (?:with|for)|talking to|speaking (?:with|to)|assistant (?:of|to|for)|prepared for"
    r"|belongs to|hello|hi|dear|welcome(?: back)?|user is|person is|called|named)"
    r",?\s+(?:[A-Z][\w'’-]*\s+){0,2}$"
)
_SIGNED_IN = re.compile(r"\b(?:signed|logged) in (?:as|with)\s+[\"'`]?$", re.IGNORECASE)
_LOCALE_CUE = _cue(
    r"locale|language|lang|lc_\w+|time ?zone|tz|region|country|currency|units|keyboard layout"
    r"|number format|date format"
)
_LOCALE_WORD = re.compile(
    r"[a-z]{2,3}[-_][A-Z]{2}(?:\.[\w-]+)?|(?:Europe|America|Asia|Africa|Australia|Atlantic|Pacific"
    r"|Indian|Etc)/[\w/+-]+|UTC|GMT"
)
_STATE_CUE = _cue(
    r"(?:(?:current|primary|additional|added) )?working director(?:y|ies)|cwd|pwd|director(?:y|ies)"
    r"|folder|root|checkout|repo(?:sitory)?|project(?:[_ ](?:dir|root|path|folder))?|path|worktree"
    r"|(?:main |current |git )?branch|head|commit|revision|sha|status|platform|os|os[_ ]version"
    r"|kernel|shell|terminal|host(?:name)?|machine|arch(?:itecture)?|python|node|disk"
    r"|free|memory|cpu|load|battery|(?:open |recent )?files?|ide|editor|selection|cursor|display"
    r"|screen|device|virtualenv|venv|modified|staged|untracked|ahead|behind"
    r"|is (?:a )?git repo(?:sitory)?|git|home"
)
_STATE_SECTION = re.compile(
    r"\b(?:env|environment|git|workspace|working tree|working directory|cwd|checkout|repo"
    r"|repository|status|recent commits|directory structure|file tree|file listing|listing|files"
    r"|system info|platform|open files|ide)\b",
    re.IGNORECASE,
)
_PROSE_SECTION = re.compile(r"note|instruction|rule|guideline|convention", re.IGNORECASE)
_STATE_LINE = re.compile(
    r"(?:(?! {2})[ MADRCUT?!]{2} \S.*|[MADRCUT?!]{1,2} +[\w-]*[./][\w./-]*"  # short status
    r"|\s*(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40} \S.*"  # one commit to a line
    r"|[-dlbcps][-rwxsStT]{9}[.+@]? .*"  # ls -l
    r"|[\s│|]*[├└|`+][─-]{1,3} ?\S.*"  # a drawn tree
    r"|\s+(?:modified|new file|deleted|renamed|both modified):\s+\S.*"
    r"|(?:On branch|HEAD detached at|Your branch is|Untracked files|Changes (?:not )?)\b.*"
    r"|total \d+"
    r"|(?:/[\w.@~+-]+)+/?)"  # a bare absolute path
)
_ABSOLUTE = re.compile(r"(?:file://)?(?:/|~/|[A-Za-z]:[\\/])[\w.@~+\\/-]*")
_HOME = re.compile(r"(?:/home/|/Users/|\\Users\\)$")


def locale(change: Change) -> Match | None:
    """See one value in the notations of two languages, regions or time zones."""
    ranges = _moments(change)
    if ranges:
        old, new = ranges
        if old != new and moments.same_moment(moments.read(old), moments.read(new)):
            return Match(Kind.LOCALE, f"one moment, written in two ways: {became(old, new)}")
    old, new = _numbers(change)
    digits = re.sub(r"\D", "", old)
    same_digits = len(digits) > 1 and digits == re.sub(r"\D", "", new) and old != new
    if same_digits and moments.number_values(old) & moments.number_values(new):
        return Match(Kind.LOCALE, f"one number, written in two ways: {became(old, new)}")
    old, new = change.tokens
    if _LOCALE_WORD.fullmatch(old) and _LOCALE_WORD.fullmatch(new):
        return Match(Kind.LOCALE, f"a locale or time zone: {became(old, new)}")
    if _LOCALE_CUE.search(change.label) and old and new:
        return Match(Kind.LOCALE, f"a locale setting: {became(old, new)}", sure=False)
    return None


def user_identity(change: Change) -> Match | None:
    """See something about the person or account that is served."""
    old, new = change.tokens
    said = became(old, new)
    if not _local(change):
        return None
    lines = [_EMAIL.search(line, max(0, len(change.label) - 1)) for line in change.lines]
    here = [match for match in lines if match and match.start() <= len(change.before)]
    if here and all(match.end() >= len(change.before) for match in here):
        return Match(Kind.USER_IDENTITY, f"an address of a person: {said}")
    if _PERSON_CUE.search(change.label) or _PERSON_LINE.search(change.label):
        return Match(
            Kind.USER_IDENTITY, f"a value that names a person or account: {said}", sure=False
        )
    if _SIGNED_IN.search(change.label) or (
        _PERSON_PHRASE.search(change.label) and old[:1].isupper() and new[:1].isupper()
    ):
        return Match(Kind.USER_IDENTITY, f"the name of a person: {said}", sure=False)
    added = _only_side(change)
    if added and len(added) <= 3 and any(_EMAIL.search(line) for line in added):
        return Match(Kind.USER_IDENTITY, f"a line with an address: `{added[0][:60]}`", sure=False)
    return None


def state_lines(change: Change) -> Match | None:
    """See lines in the shape of a status, a listing or commits that came, went or changed."""
    if not change.injected:
        return None
    removed, added = change.hunk
    lines = [line for line in (*removed, *added) if line.strip()]
    shaped = [line for line in lines if _STATE_LINE.fullmatch(line)]
    if shaped and len(shaped) * 2 >= len(lines):
        return Match(
            Kind.WORKSPACE_STATE, f"a line of status or listing: `{shaped[0].strip()[:60]}`"
        )
    return None


def clock(change: Change) -> Match | None:
    """See a date or time of the moment."""
    ranges = _moments(change)
    if ranges:
        return Match(Kind.CLOCK, f"a date or time: {became(*ranges)}")
    if not change.injected:
        return None
    added = _only_side(change)
    if added and len(added) <= 2:
        for line in added:
            found = next((m for at in range(len(line)) if (m := moments.find(line, at))), None)
            if found and _CLOCK_CUE.search(line[: found[0]]):
                return Match(Kind.CLOCK, f"a line with a date or time: `{line.strip()[:60]}`")
    old, new = change.tokens
    if _CLOCK_CUE.search(change.label) and (
        any(map(str.isdigit, old)) and any(map(str.isdigit, new))
    ):
        return Match(Kind.CLOCK, f"a value labelled as time: {became(old, new)}", sure=False)
    return None


def random_id(change: Change) -> Match | None:
    """See an identifier, token, nonce, temporary name or session address."""
    old, new = change.tokens
    said = became(old, new)
    if change.leaf in _ID_LEAVES:
        return Match(Kind.RANDOM_ID, f"an identifier of the conversation: {said}")
    if not old or not new or not _local(change):
        return None
    if _UUID.search(old) and _UUID.search(new):
        return Match(Kind.RANDOM_ID, f"a UUID: {said}")
    if _VERSION.fullmatch(old) and _VERSION.fullmatch(new):
        return None
    start = len(change.before) - len(change.label)
    parts = [_segment_at(token, start) for token in (old, new)]
    head = change.label + old[: parts[0][1]]
    if _HOST_PORT.search(head) and all(part.isdecimal() for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"an address of a session: {said}")
    if _TEMP.search(head) and all(_may_be_temporary(part) for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"a temporary name: {said}")
    if _opaque_pair(parts[0][0], parts[1][0]) and not _commit(change):
        return Match(Kind.RANDOM_ID, f"an opaque name: {said}")
    if _ID_CUE.search(change.label) and all(_may_be_id(part) for part, _ in parts):
        return Match(Kind.RANDOM_ID, f"a short tag that is labelled as one: {said}", sure=False)
    return None


def paths(change: Change) -> Match | None:
    """See one absolute path become another."""
    old, new = change.tokens
    old, new = old.rstrip(".:"), new.rstrip(".:")
    if not change.injected or not (_ABSOLUTE.fullmatch(old) and _ABSOLUTE.fullmatch(new)):
        return None
    segment = _segment_at(old, len(change.before) - len(change.label))[1]
    in_home = _HOME.search(old[:segment]) is not None  # the folder bears a person's name
    return Match(Kind.WORKSPACE_STATE, f"a path: {became(old, new)}", sure=not in_home)


def workspace_state(change: Change) -> Match | None:
    """See a directory, branch, status or other state of the machine or checkout."""
    if not change.injected:
        return None
    if _STATE_CUE.search(change.label):
        said = f"state of the machine or checkout: {became(*change.middles)}"
        return Match(Kind.WORKSPACE_STATE, said, sure=False)
    removed, added = change.hunk
    one_sided = (_only_side(change) or [""])[0]
    section = f"{change.section} {one_sided if one_sided[:1] in ('<', '#') else ''}"
    if _STATE_SECTION.search(section) and not _PROSE_SECTION.search(section):
        said = f"in a part about the environment, {became(' '.join(removed), ' '.join(added))}"
        return Match(Kind.WORKSPACE_STATE, said, sure=False)
    return None


# --- what stands at the place -----------------------------------------------------------------


def _moments(change: Change) -> tuple[str, str] | None:
    """Give the moments that stand at the place on both sides."""
    at = len(change.before)
    old, new = change.lines
    ranges = moments.find(old, at), moments.find(new, at)
    if ranges[0] is None or ranges[1] is None:
        return None
    if ranges[0][1] <= at and ranges[1][1] <= at:
        return None
    texts = old[slice(*ranges[0])], new[slice(*ranges[1])]
    stays = moments.mask(old) == moments.mask(new)
    return texts if change.injected or stays else None


def _numbers(change: Change) -> tuple[str, str]:
    """Give the numbers that stand at the place, with the separators of any notation."""
    at = len(change.before)
    found = []
    for line in change.lines:
        matches = re.finditer(rf"\d[\d.,{moments.GROUP}]*(?<=\d)", line)
        found.append(next((m[0] for m in matches if m.start() <= at <= m.end()), ""))
    return found[0], found[1]


def _local(change: Change) -> bool:
    """Tell whether the line goes on as it did after the word that changed."""
    if change.injected:
        return True
    start = len(change.label)
    rest = [
        line[start + len(token) :] for line, token in zip(change.lines, change.tokens, strict=True)
    ]
    return rest[0][:24] == rest[1][:24]


def _only_side(change: Change) -> list[str]:
    """Lines that stand on one side only; empty when lines changed on both."""
    removed, added = ([line for line in side if line.strip()] for side in change.hunk)
    return [] if removed and added else removed or added


def _segment_at(token: str, at: int) -> tuple[str, int]:
    """Give the part of a name, cut at its punctuation, that holds character `at`, and its start."""
    for match in _SEGMENT.finditer(token):
        if match.start() <= at <= match.end():
            if at == match.end() and at < len(token) - 1 and token[at : at + 1] == "":
                continue
            return match[0], match.start()
    return "", at


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
