"""Kinds of text: order, catalogue entries, role, wording; and whether a text went elsewhere.

Rule 1: what is still there in another order is no edit, and what stands elsewhere has moved.
Rule 2: a catalogue is a list under a heading, tag or lead-in that names skills, agents or commands.
A bullet of project notes is prose.
Rule 3: the last rule always answers: instructions were edited, or history was rewritten.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from pvc.core.change import Change, Match, became, quoted, words
from pvc.model.body import Kind, Region

_MOVED_CHARS = 20
"""Shortest text that can be told to have moved; shorter ones recur by chance."""
_PROMPT_WORDS = 8
"""Shortest opening that, exchanged as a whole, is taken for the prompt of another agent."""
_ITEM = re.compile(
    r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S.*|\|.*"  # a bullet, a number, a table row
    r"|\s*</?[\w.-]+[^<>]*>.*"  # an element
    r"|\s*[`\"'/]?[\w./:-]+[`\"']?\s*(?::|—|–|-)\s.*"  # a name and what it is for
    r"|\s*/[\w:-]+.*"  # a slash command
)
NAMED = re.compile(
    r"\b(?:skills?|(?:sub)?agents?|(?:slash )?commands?|tools?|plugins?|modes?|workflows?|recipes?"
    r"|capabilit(?:y|ies)|extensions?|toolsets?|servers?|catalog(?:ue)?s?|helpers?)\b(?!\.\w)",
    re.IGNORECASE,
)
_TABLE_RULE = re.compile(r"\|[\s:|-]*-[\s:|-]*")
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")
_ATTRIBUTE = re.compile(r"""(?<=\s)[\w:-]+=(?:"[^"]*"|'[^']*')""")
_WORD = re.compile(r"[\w`/-]+")
_RELEASE = re.compile(r"[ \t]?\b[vV]?\d+(?:\.\d+)+(?:[-+][\w.]+)?")
_JOINTS = {"and", "or", "und", "oder", "et", "ou", "y", "e", "&"}
_INLINE_LIST = re.compile(r"^\s*[^:\n]{0,120}:\s*[^:\n]+(?:,\s*[^:\n]+)+")
_ROLE = re.compile(
    r"^[\W_]*(?:you(?:'re| are)(?! (?:in|at|on|inside|running|connected|using|talking|speaking"
    r"|allowed|able|free|expected|required|permitted|welcome|encouraged|about|given|done|finished"
    r"|sure|aware|not|never|always|signed|logged|limited|only)\b)"
    r"|you(?:'re| are)(?: now)? in [\w -]{1,20} mode\b"
    r"|you (?:will )?(?:act|serve|work) as\b|act as\b|i am an?\b"
    r"|as an? [\w -]{0,40}?(?:agent|assistant|helper|reviewer|planner|engineer|expert)\b"
    r"|your (?:role|task|job|mission|goal|purpose|assignment)\b"
    r"(?! (?:list|board|queue|file|models?)\b)|this is an? [\w -]{0,30}?agent\b"
    r"|(?:du bist|sie sind|tu es|vous êtes|eres|usted es|(?:você|tu) é|sei|je bent|u bent|du är"
    r"|jesteś|jsi) (?:jetzt |nun )?(?:de[rn]?|die|das|ein[en]?|une?|un[ao]?|le|la|el|um|uma|een|en"
    r"|ett)\b|あなたは|你是|您是|당신은|(?:ты|вы) [-–—] "
    r"|(?:(?:current|active|selected|your|system|session|permission|chat|sub)[ _-]?)?"
    r"(?:role|task|mode|agent|persona|profile|objective)\s*[:=]"
    r"|<(?:role|task|persona|mode)>"
    r"|[\w -]{0,20}\bmode (?:is )?(?:now )?(?:active|on|enabled)\b"
    r"|your (?:current|active) mode is\b"
    r"|(?:du bist|sie sind)(?: jetzt| nun)? im \w*modus\b)",
    re.IGNORECASE,
)


_ROLE_TAG = re.compile(r"\s*<(?:\w+[_-])?(?:role|task|persona|mode|agent)>[^<]*</", re.IGNORECASE)
_ROLE_TAG_NAME = re.compile(r"(?:\w+[_-])?(?:role|persona|mode)", re.IGNORECASE)
_ROLE_HEADING = re.compile(
    r"\W*(?:your |the )?(?:role|task|persona|mission|objective|mode)\W*", re.IGNORECASE
)


def list_order(change: Change) -> Match | None:
    """See the same entries in another order: lines, items of one line, or a JSON array."""
    old, new = ([_entry(line) for line in side if line.strip()] for side in change.windows)
    balance: dict[str, int] = {}
    if old and new and (old[0] not in new or new[0] not in old):
        old = []  # what the first lines say never meets
    for count, pair in enumerate(zip(old, new, strict=False), 1):
        for entry, step in zip(pair, (1, -1), strict=True):
            balance[entry] = balance.get(entry, 0) + step
            if balance[entry] == 0:
                del balance[entry]
        if not balance and count > 1:
            said = f"the same {count} lines, in another order: {became(old[0], new[0])}"
            return Match(Kind.LIST_ORDER, said)
        if not balance:
            break
    return _item_order(change) or _array_order(change)


def block_moved(change: Change) -> Match | None:
    """See lines that stand elsewhere in the later body, or stood elsewhere in the earlier one."""
    removed, added = ("\n".join(side).strip() for side in change.hunk)
    if len(removed) >= _MOVED_CHARS and change.moved_to(removed):
        return Match(Kind.BLOCK_MOVED, f"this text stands elsewhere now: {quoted(removed)}")
    if len(added) >= _MOVED_CHARS and change.moved_from(added):
        return Match(Kind.BLOCK_MOVED, f"this text stood elsewhere before: {quoted(added)}")
    return None


def catalog(change: Change) -> Match | None:
    """See an entry come, go or change in a list of skills, agents or commands."""
    if not change.injected or _in_role_tag(change):
        return None
    removed, added = ([line for line in side if line.strip()] for side in change.hunk)
    named = bool(NAMED.search(_list_name(change))) or _whole_list(change.only_side)
    items = [line for line in (*removed, *added) if _ITEM.fullmatch(line) or line[:1] == "#"]
    said = became(" ".join(removed), " ".join(added))
    if named and items and len(items) * 2 >= len(removed) + len(added):
        return Match(Kind.CATALOG, f"an entry of a list of {_list_noun(change)}: {said}")
    for line in change.lines:
        match = _INLINE_LIST.match(line)
        reaches = match is not None and match.end() >= len(change.before)
        if reaches and NAMED.search(line.split(":")[0]) and _lists_names(line):
            return Match(Kind.CATALOG, f"an entry of a list in one line: {became(*change.tokens)}")
    if _names_came_or_went(change):
        return Match(Kind.CATALOG, f"a name among others: {became(*change.middles)}", sure=False)
    return None


def catalog_entry(change: Change) -> Match | None:
    """See whole entries of such a list come or go; other words of an entry are an edit of it."""
    lines = change.only_side
    if not lines or not all(_ITEM.fullmatch(line) for line in lines):
        return None
    match = catalog(change)
    return match if match is not None and match.sure else None


def _in_role_tag(change: Change) -> bool:
    """Tell whether the place lies in a tag that holds one role or mode, not a list of them."""
    if _ROLE_TAG.match(change.lines[0]):
        return True
    return any(map(_ROLE_TAG_NAME.fullmatch, change.open_tags[-2:]))


def _names_came_or_went(change: Change) -> bool:
    """Tell whether a sentence that lists skills, agents or commands has another set of names."""
    old, new = (Counter(_WORD.findall(sentence)) for sentence in change.sentences)
    differing = [word for word in (old - new) + (new - old) if word not in _JOINTS]
    listed = max(sum(map(_is_name, side)) for side in (old, new))
    named = NAMED.search(change.sentences[0][: change.sentences[0].find(change.middles[0])])
    return bool(differing) and all(map(_is_name, differing)) and listed > 1 and named is not None


def _is_name(word: str) -> bool:
    return re.search(r"\w[-_]\w|`", word) is not None


def _whole_list(lines: list[str]) -> bool:
    """Tell whether lines that came or went are a list of skills, agents or commands by itself."""
    head, items = (lines or [""])[0], lines[1:]
    opens = head[:1] in ("<", "#") or head.endswith(":")
    listed = sum(_ITEM.fullmatch(line) is not None for line in items)
    return opens and listed * 2 > len(items) and NAMED.search(words(head)) is not None


def _lists_names(line: str) -> bool:
    """Tell whether what follows the colon are names, not the parts of a sentence."""
    listed = re.sub(r"\([^()]*\)", "", line.split(":", 1)[1])
    return all(len(item.split()) <= 3 for item in listed.split(","))


def agent_prompt(change: Change) -> Match | None:
    """See the sentence that states a role or task differ."""
    if change.region is not Region.SYSTEM:
        return None
    plain = [_RELEASE.sub("", sentence) for sentence in change.sentences]
    if plain[0] == plain[1]:  # the same role, of another release
        return None
    for sentence in change.sentences:
        stated = _ROLE.match(sentence) or _ROLE_HEADING.fullmatch(change.lead_in)
        if stated or _in_role_tag(change):
            return Match(
                Kind.AGENT_PROMPT,
                f"the sentence that states role or task: {became(*change.sentences)}",
                sure=False,
            )
    if change.opening and _exchanged(change.old, change.new):
        said = f"the text that says who the model is: {became(change.old, change.new)}"
        return Match(Kind.AGENT_PROMPT, said, sure=False)
    return None


def _exchanged(old: str, new: str) -> bool:
    """Tell whether two texts of some length have few words in common."""
    words_old, words_new = (text[:4000].split() for text in (old, new))
    fewest = min(len(words_old), len(words_new))
    if fewest < _PROMPT_WORDS or len({*words_old} & {*words_new}) * 2 >= fewest:
        return False
    return (Counter(words_old) & Counter(words_new)).total() * 2 < fewest


def wording(change: Change) -> Match:
    """Answer for what no other rule explains."""
    removed, added = change.hunk
    said = became(" ".join(removed), " ".join(added))
    if change.injected:
        return Match(Kind.PROMPT_TEXT_EDIT, f"the text was edited: {said}")
    return Match(Kind.HISTORY_REWRITTEN, f"an earlier message changed: {said}")


# --- lists ------------------------------------------------------------------------------------


def _entry(line: str) -> str:
    """Write a line without its number, and what only says whether it is the last of its list."""
    return _NUMBER.sub("", line.strip()).rstrip(",;")


def _item_order(change: Change) -> Match | None:
    """See the words of a line in another order, with marks of a list between or in them."""
    old, new = (_ATTRIBUTE.findall(line) for line in change.lines)
    if old != new and Counter(old) == Counter(new):
        said = f"the same {len(old)} attributes, in another order: {became(*change.middles)}"
        return Match(Kind.LIST_ORDER, said)
    words = [re.findall(r"[^\s,;|()\[\]{}\"'`<>]+", middle) for middle in change.middles]
    old, new = ([word.rstrip(".:") for word in side if word not in _JOINTS] for side in words)
    if len(old) < 2 or old == new or Counter(old) != Counter(new):
        return None
    listed = re.search(r"[,;|]", change.middles[0]) is not None
    if not listed and not all(re.search(r"[-_./=:\d]", word) for word in old):
        return None
    said = f"the same {len(old)} words of a list, in another order: {became(*change.tokens)}"
    return Match(Kind.LIST_ORDER, said)


def _array_order(change: Change) -> Match | None:
    """See a text that is JSON as a whole, with the same entries of an array in another order."""
    try:
        old, new = json.loads(change.old), json.loads(change.new)
    except (ValueError, RecursionError):
        return None
    if old != new and unordered(old) == unordered(new):
        return Match(Kind.LIST_ORDER, f"the same entries of an array: {became(*change.tokens)}")
    return None


def unordered(value: Any) -> Any:
    """Write a JSON value so that neither key order nor the order of a list counts."""
    if isinstance(value, dict):
        return {key: unordered(child) for key, child in value.items()}
    if isinstance(value, list):
        return sorted(
            (unordered(child) for child in value), key=lambda x: json.dumps(x, sort_keys=True)
        )
    return value


def _list_name(change: Change) -> str:
    """Give what the list at the place is called: its open tags and heading or lead-in."""
    lines = list(change.lines_above)
    below = columns = ""
    while lines and (_ITEM.fullmatch(lines[-1]) or not lines[-1].strip() or lines[-1][:1] in " \t"):
        columns = columns or (lines[-1] if _TABLE_RULE.fullmatch(below) else "")
        below = lines.pop()
    lead = lines[-1] if lines and lines[-1].rstrip().endswith((":", ">", "**")) else ""
    if lines and lines[-1].lstrip().startswith("#"):
        lead = lines[-1]
    return words(" ".join([*change.open_tags[-2:], lead, columns, _parent_heading(change)]))


def _parent_heading(change: Change) -> str:
    """Give the heading above, when the entries at the place are headings themselves."""
    removed, added = change.hunk
    levels = [len(m[1]) for line in (*removed, *added) if (m := re.match(r"(#+)\s", line))]
    if not levels:
        return ""
    above = re.compile(rf"#{{1,{max(1, levels[0] - 1)}}}\s")
    return next((line for line in reversed(change.lines_above) if above.match(line)), "")


def _list_noun(change: Change) -> str:
    match = NAMED.search(_list_name(change))
    return match[0].lower() if match else "entries"
