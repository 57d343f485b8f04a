"""Kind of place: state of the machine or checkout, which two sessions seldom share.

Rule 1: lines in the shape of a status, a listing or a log are state, whatever stands above them.
Rule 2: an absolute path is state; a relative one is prose unless its label says otherwise.
Rule 3: labels and sections are cue words: the match is not sure.
"""

from __future__ import annotations

import re

from pvc.core.change import Change, Match, became, segment_at, words
from pvc.core.cues import cue, labelled
from pvc.core.kind_texts import NAMED
from pvc.model.body import Kind

STATE_CUE = cue(
    r"(?:(?:current|primary|additional|added) )?working director(?:y|ies)|cwd|pwd|director(?:y|ies)"
    r"|folder|root|checkout|repo(?:sitory)?|project(?:[_ ](?:dir|root|path|folder))?|path|worktree"
    r"|(?:main |current |git )?branch|head|commit|revision|sha|status|platform|os|os[_ ]version"
    r"|kernel|shell|terminal|host(?:name)?|machine|arch(?:itecture)?|python|node|disk"
    r"|free|memory|cpu|load|battery|(?:open |recent )?files?|ide|editor|selection|cursor|display"
    r"|screen|device|gpu|clipboard|uncommitted|stash|failing(?: tests)?|tests failing"
    r"|recently (?:edited|opened|changed|viewed)|virtualenv|venv|modified|staged|untracked"
    r"|ahead|behind"
    r"|is (?:a )?git repo(?:sitory)?|git|home|(?:top[- ]level )?entries|contents|index"
)
_STATE_SECTION = re.compile(
    r"\b(?:env|environment|git|workspace|working tree|working directory|cwd|checkout|repo"
    r"|repository|status|recent commits|directory structure|file tree|file listing|listing|files"
    r"|system info|platform|(?:open|visible) (?:files|tabs)|ide)\b",
    re.IGNORECASE,
)
_STATE_TAG = re.compile(
    r"\b(?:(?:directory|dir|folder|file|project|repo|repository|source|code|workspace)s?"
    r" (?:tree|structure|listing|list|layout|contents|map|overview|snapshot|state|info|paths?)"
    r"|director(?:y|ies)|folders?|tree|layout|ls|paths|(?:open|visible|active) (?:tabs?|editors?)"
    r"|terminals?|processes|diagnostics|diff|changes|branch(?:es)?|commits?|machine|host|runtime"
    r"|system (?:context|state|information)|editor(?: state| context)?|cursor"
    r"|(?:un)?tracked|(?:un)?staged)\b",
    re.IGNORECASE,
)
"""What the name of a tag says beside `_STATE_SECTION`: tags are written by a harness."""
_SENTENCE = re.compile(r"\W*[A-Z]\w*(?: \S+)+[.!?]\s*")
_FILE_NAME = re.compile(
    r"[\s│|]*(?:[-*+•] +|[├└`][─-]{1,3} ?|\d+[.)] +)?[`\"'📁📄]*\s?"
    r"(?P<name>[\w.@~+-]+(?:[/\\][\w.@~+-]+)*[/\\]?)[`\"']*"
    r"(?:\s+\(?\d[\d.,]*\s?(?:[kMGT]?i?[bB]|bytes|lines|files|items)?\)?)?,?"
)
_LISTED = re.compile(r".*(?:[/\\]|\.[A-Za-z]\w{0,9})$")
_PROSE_SECTION = re.compile(r"note|instruction|rule|guideline|convention", re.IGNORECASE)
_STATE_LINE = re.compile(
    r"(?:(?! {2})[ MADRCUT?!]{2} \S.*|[MADRCUT?!]{1,2} +[\w-]*[./][\w./-]*"  # short status
    r"|\s*(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40} \S.*"  # one commit to a line
    r"|[-dlbcps][-rwxsStT]{9}[.+@]? .*"  # ls -l
    r"|[\s│|]*[├└|`+][─-]{1,3} ?\S.*"  # a drawn tree
    r"|\s+(?:modified|new file|deleted|renamed|both modified):\s+\S.*"
    r"|(?:On branch|HEAD (?:detached|is(?: now)?) at|Your branch is|Untracked files"
    r"|Changes (?:not )?)\b.*"
    r"|total \d+"
    r"|(?!/(?:private/)?(?:tmp|var/(?:tmp|folders|run)|run|dev/shm)/)(?:/[\w.@~+-]+)+/?)"  # a path
)
_COUNTED = re.compile(
    r" (?:[a-z-]+ ){0,2}(?:files?|commits?|changes|entries|director(?:y|ies)|folders|branches"
    r"|processes|tabs|packages|worktrees|sessions)\b"
)
_LIMIT = re.compile(
    r"\b(?:than|most|least|limit|up to|max(?:imum)?|min(?:imum)?|over|under|until|every|only)\b",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"(?:file://)?(?:/|~/|[A-Za-z]:[\\/])[\w.@~+\\/-]*")
_HOME = re.compile(r"(?:/home/|/Users/|\\Users\\)$")


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


def file_listing(change: Change) -> Match | None:
    """See an entry of a listing: files and folders, one to a line and nothing said of them."""
    if not change.injected or NAMED.search(change.section):
        return None
    changed = [line for side in change.hunk for line in side if line.strip()]
    after = change.windows[0][len(change.hunk[0]) :][:3]
    around = [line for line in (*change.lines_above[-3:], *after) if line.strip()]
    names = [found["name"] for line in changed if (found := _FILE_NAME.fullmatch(line))]
    near = [found["name"] for line in around if (found := _FILE_NAME.fullmatch(line))]
    listed = [name for name in names if _LISTED.fullmatch(name)]
    if not names or len(names) < len(changed) or not (listed or _any_listed(near)):
        return None
    if not _any_listed(near) and len(names) < _LISTING:
        return None
    return Match(Kind.WORKSPACE_STATE, f"a line of a listing: `{names[0][:60]}`")


def _any_listed(names: list[str]) -> bool:
    return any(map(_LISTED.fullmatch, names))


def _is_open(change: Change) -> bool:
    """Return True if the line says which file is open in an editor."""
    return all(map(_LISTED.fullmatch, change.tokens)) and all(map(_OPEN.search, change.lines))


_OPEN = re.compile(
    r"\b(?:open(?:ed|s)?|view(?:ed|ing)|edit(?:ed|ing)|selected|focused|active)\b"
    r".{0,40}\b(?:editor|ide|tab|window|buffer)\b",
    re.IGNORECASE,
)
_LISTING = 3
"""How many names by themselves are a listing."""


def paths(change: Change) -> Match | None:
    """See one absolute path become another."""
    old, new = change.tokens
    old, new = old.rstrip(".:"), new.rstrip(".:")
    if not change.injected or not (_ABSOLUTE.fullmatch(old) and _ABSOLUTE.fullmatch(new)):
        return None
    segment = segment_at(old, len(change.before) - len(change.label))[1]
    in_home = _HOME.search(old[:segment]) is not None  # the folder bears a person's name
    other = Kind.USER_IDENTITY if in_home else None
    return Match(Kind.WORKSPACE_STATE, f"a path: {became(old, new)}", other=other)


def counted_state(change: Change) -> Match | None:
    """See how many files, changes or commits there are; not how many there may be."""
    numbers = [re.fullmatch(r"\d[\d,.]*", token) for token in change.tokens]
    rest = change.lines[0][len(change.label) + len(change.tokens[0]) :]
    counts = change.injected and all(numbers) and _COUNTED.match(rest) is not None
    if not counts or _LIMIT.search(change.lines[0]):
        return None
    said = f"a count of what there is: {became(*change.tokens)}"
    return Match(Kind.WORKSPACE_STATE, said, sure=False)


def workspace_state(change: Change) -> Match | None:
    """See a directory, branch, status or other state of the machine or checkout."""
    if not change.injected:
        return None
    if labelled(change, STATE_CUE) or _is_open(change):
        said = f"state of the machine or checkout: {became(*change.middles)}"
        return Match(Kind.WORKSPACE_STATE, said, sure=False)
    removed, added = change.hunk
    one_sided = (change.only_side or [""])[0]
    section = f"{change.section} {one_sided if one_sided[:1] in ('<', '#') else ''}"
    tags = words(" ".join(change.open_tags[-2:]))
    entries = not all(map(_SENTENCE.fullmatch, filter(None, (*removed, *added))))
    stated = _STATE_SECTION.search(section) or (entries and _STATE_TAG.search(tags))
    if stated and not _PROSE_SECTION.search(section):
        said = f"in a part about the environment, {became(' '.join(removed), ' '.join(added))}"
        return Match(Kind.WORKSPACE_STATE, said, sure=False)
    return None
