"""Results as text or JSON. Colour lives here alone.

Rule 1: a result knows its JSON (`to_json`, a contract); its text is for people and may change.
Rule 2: a status is a sentence with a period; none follows an id.
Rule 3: colour is put on after control characters were escaped, so no text of others can bring its
own. What it marks is a version's label.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pvc.cli.show_blame import owner
from pvc.launch.words import day, excerpt
from pvc.model.span import FromSource, Unversioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pvc.cli.app import App
    from pvc.model.body import Divergence
    from pvc.model.pin import Pin
    from pvc.ops.evidence import Bodies, Evidence
    from pvc.ops.forget import Forgotten
    from pvc.ops.gc import Collected
    from pvc.ops.import_ import Imported
    from pvc.ops.init import Initialized
    from pvc.ops.log import PinsLog
    from pvc.ops.miss import Missed
    from pvc.ops.owner import Owner
    from pvc.ops.phrase import PhraseLog
    from pvc.ops.promote import Promoted
    from pvc.ops.proof import Proof
    from pvc.ops.show import Shown
    from pvc.ops.supersede import Superseded
    from pvc.store.sync_result import SyncResult
    from pvc.store.versions import VersionInfo

_LABEL = re.compile(r"(?<!\S)[a-z0-9][a-z0-9._-]*@[1-9][0-9]*(?![^\s:])")


def show(app: App, result: Any, *, as_json: bool) -> None:
    """Print a result of any op."""
    if as_json:
        app.json(result.to_json())
        return
    name = type(result).__name__
    if name not in TEXTS:
        from pvc.cli import show_log, show_session, show_verify

        TEXTS.update(show_log.TEXTS | show_session.TEXTS)
        TEXTS["Verified"] = show_verify.lines
    for line in TEXTS[name](result):
        app.say(line, marked=_LABEL)


def moment(microseconds: int) -> str:
    """Write a time in UTC to the second."""
    return _written(microseconds // 1_000_000, "%Y-%m-%d %H:%M:%S")


def _written(seconds: int, form: str) -> str:
    """Write a time that anybody may have made up: git takes seconds far beyond the year 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (ValueError, OverflowError, OSError):
        return f"@{seconds}"


OBSERVED = {
    "request": "a request body as it was sent",
    "rendered": "as something else rendered them",
}
KEPT = {
    "bytes": "its prompt is kept beside what it was rendered from",
    "digest": "nothing is kept but this record",
    "keyed": "nothing is kept but this record, and its digests are keyed",
}
TAKEN = {"head": "in commit", "index": "as staged on", "worktree": "as it stood on"}

# --- versions -------------------------------------------------------------------------------


def _initialized(result: Initialized) -> Iterator[str]:
    yield f"{result.folder or '.'} is the tree `{result.name}` (form {result.form})."
    for path in result.written:
        yield f"  wrote {path}"
    if result.packs:
        added = f"added {len(result.packs)} built-in packs to refs/pvc/packs"
        yield f"  {added}; pvc log --packs lists them"
    if not result.folder:
        yield "This is the whole repository: `pvc init DIR` takes one folder of it."
    for finding in result.findings:
        yield f"note: {finding.at}: {finding.message}"
        if finding.hint:
            yield f"  hint: {finding.hint}"
    yield f"Next: git add, git commit, then pvc supersede {result.name} -m REASON"


def _imported(result: Imported) -> Iterator[str]:
    place = result.folder or "."
    size = f"{result.files} files, {result.size_bytes} bytes, every byte kept"
    yield f"{place} is the tree `{result.name}` (form {result.form}): {size}."
    for pack in result.packs:
        yield f"  stands on the pack {pack}@1"
    if result.understood:
        yield "Understood:"
    for each in result.understood:
        yield f"  {each.section:<32}  {each.plane:<10}  {each.role:<9}  {each.path}"
    for title, paths in (
        ("In no section, so never sent:", result.not_understood),
        ("Left out, for git reads these itself:", result.left_out),
        ("Ignored by git; git add -f takes them:", result.ignored),
    ):
        if paths:
            yield title
        yield from (f"  {path}" for path in paths)
    if result.findings:
        yield "Findings:"
    for finding in result.findings:
        at = f" ({finding.at})" if finding.at else ""
        yield f"  {finding.severity.value}: {finding.message}{at}"
    for finding in result.findings:
        yield f"note: {finding.at}: {finding.message}"
        if finding.hint:
            yield f"  hint: {finding.hint}"
    yield f"Next: git add, git commit, then pvc supersede {result.name} -m REASON"


def _superseded(result: Superseded) -> Iterator[str]:
    label = f"{result.name}@{result.number}"
    if result.status == "identical":
        yield f"Nothing to adopt: {label} holds these very bytes."
        return
    if result.version:
        yield f"adopted {label} {result.version.id.short}"
    else:
        yield f"Would adopt {label}; nothing was moved."
    if result.resolves:
        yield f"  resolves {result.resolves.label} {result.resolves.id.short}"
    if result.reverts:
        yield f"  reverts to {result.reverts.label} {result.reverts.id.short}"
    for path in result.changed:
        yield f"  {path}"
    for finding in result.findings:
        yield f"  {finding.severity.value}: {finding.message}"


def _promoted(result: Promoted) -> Iterator[str]:
    label, before = f"{result.version.name}@{result.channel}", result.previous
    if result.status == "same":
        yield f"same {label} is {result.version.label} already"
        return
    at = f"{before.version.label} → " if before else ""
    if result.move:
        yield f"promoted {label}: {at}{result.version.label} {result.move.id.short}"
    else:
        yield f"Would move {label}: {at}{result.version.label}; nothing was moved."
    if result.resolves:
        own = result.resolves
        yield f"  resolves the move to {own.version.label} by {own.author.name}: {own.subject}"


def version_line(version: VersionInfo) -> str:
    """One version in one line."""
    when = day(version.time.seconds)
    return f"{version.label}  {version.id.short}  {when}  {version.author.name}  {version.subject}"


def _phrase(result: PhraseLog) -> Iterator[str]:
    for carrier in result.carriers:
        note = "  (in its sources: it needs values)" if carrier.where == "sources" else ""
        yield f"{version_line(carrier.version)}  {carrier.count} ×{note}"
    for name, (first, last) in result.spans.items():
        yield f"{name}: first seen in {first.label}, last in {last.label}"
    if not result.carriers:
        yield f"None of {result.searched} versions has that phrase."


def _pins(result: PinsLog) -> Iterator[str]:
    if not result.pins:
        yield "No pins here."
    for pin in result.pins:
        yield pin_line(pin)
    for text in result.damage:
        yield f"damaged, not listed: {text}"


def pin_line(pin: Pin) -> str:
    """One pin in one line."""
    label = f"{pin.tree}@{pin.version}" if pin.tree else f"observed {pin.observed}"
    chain = "" if pin.chain == "main" else f" chain {pin.chain}"
    again = f" re-pin {pin.n}: {pin.reason}" if pin.n else ""
    if pin.entry:
        again = f" entry {pin.n}: {pin.entry.mode} by {pin.entry.author or 'unlabelled'}"
    if pin.context:
        again = f" delivery {pin.n}"
    return f"{moment(pin.time)}  {pin.prompt.short}  {label}  {pin.session}{chain}{again}"


def _shown(result: Shown) -> Iterator[str]:
    pin, version = result.pin, result.version
    if pin:
        yield from _pin_lines(pin)
    if pin and result.rendered:
        how = OBSERVED.get(pin.observed or "", "rendered again, digest agrees")
        if not pin.observed and result.is_kept_copy:
            how = "as they were kept; what they were rendered from is gone"
        yield f"bytes        {len(result.rendered.data)}, {how}"
    elif result.missing:
        yield f"bytes        not here: {result.missing}"
        lines = result.missing.hint.split("\n") if result.missing.hint else []
        yield from (f"  hint: {line}" for line in lines)
    if version:
        yield from _version_lines(version)
    elif pin and pin.tree:
        yield f"version      {pin.tree}@{pin.version}"
    for path, size in result.files:
        yield f"  {size:>8}  {path}"


def _pin_lines(pin: Pin) -> Iterator[str]:
    yield f"session      {pin.session}" + ("" if pin.chain == "main" else f" ({pin.chain})")
    yield f"pinned       {moment(pin.time)} UTC by writer {pin.writer[:12]}"
    yield f"prompt       {pin.prompt}"
    for label, digest in (
        ("environment", pin.environment),
        ("tools", pin.tools),
        ("head", pin.head),
        ("receipt", pin.receipt),
    ):
        if digest:
            yield f"{label:<12} {digest}"
    if pin.privacy in KEPT:
        yield f"privacy      {pin.privacy}: {KEPT[pin.privacy]}"
    if pin.entry:
        yield f"entry        {pin.n}: {pin.entry.mode} by {pin.entry.author or 'unlabelled'}"
    elif pin.supersedes and not pin.context:
        yield f"re-pinned    {pin.reason}"
    if pin.supersedes:
        yield f"  before     receipt {pin.supersedes}"


def _version_lines(version: VersionInfo) -> Iterator[str]:
    yield f"version      {version_line(version)}"
    if version.source:
        taken = TAKEN[version.source_state or "head"]
        yield f"source       {version.source_path or '.'} {taken} {version.source.short}"
    elif version.source_state == "version":
        yield "source       edited in the chain, from no folder"
    if version.reverts:
        yield f"reverts to   {version.reverts.short}"
    if version.reason != version.subject:
        yield from (f"  {line}" for line in version.reason.split("\n"))


UNKNOWN = {
    "same_account": 'whether both were sent for one account (--context: {"same_account": true})',
    "seconds_between": "the time between the two (--seconds)",
    "values": "whether the values are the same: some are not in this clone",
    "tools": "whether the tools are the same: some are not in this clone",
}
# --- blame and miss -------------------------------------------------------------------------


def _missed(result: Missed) -> Iterator[str]:
    miss, lost = result.miss, result.lost
    yield f"{miss.verdict}: {miss.kind}"
    if miss.first_divergence:
        yield from _divergence(miss.first_divergence)
        if result.absent:
            yield f"  {miss.evidence}"
    else:
        yield f"  {miss.evidence}"
        if _unmarked(result):
            yield "  A marks nothing for the cache, so there was nothing to read back"
    for fact in miss.unknown:
        yield f"  not known: {UNKNOWN.get(fact, fact)}"
    if result.owner:
        yield from _owner_lines(result.owner)
    if lost.size_bytes:
        exact = lost.tokens_low == lost.tokens_high
        band = "" if exact else f" ({lost.tokens_low} to {lost.tokens_high})"
        about = "about " if result.absent else ""
        share = f"lost {about}{lost.size_bytes} of {miss.scope_bytes} bytes"
        yield f"{share}, {lost.tokens} tokens{band}, {lost.how}"
        if lost.cost is not None:
            money = f", {lost.money}" if lost.money else ""
            yield f"  costs as much as {lost.cost:.0f} tokens of base input{money}"
    if result.diagnosis:
        yield f"the provider says {result.diagnosis.reason}"
    for note in (*result.notes, *(row.in_words() for row in result.absent)):
        yield f"note: {note}"
    if result.advice.text:
        yield result.advice.text
    if result.advice.command:
        yield f"  {result.advice.command}"


def _unmarked(result: Missed) -> bool:
    """Whether the provider caches what is marked, and A marks nothing."""
    body = result.a.body
    return body.rules.lookback_elements is not None and not body.markers


def _divergence(place: Divergence) -> Iterator[str]:
    where = place.path_b or place.path_a or ""
    if place.leaf_byte_offset is None:
        yield f"first difference in {place.region} at {where}"
    else:
        yield f"first difference in {place.region}: byte {place.leaf_byte_offset} of {where}"
    for label, near in (("a", place.near_a), ("b", place.near_b)):
        yield f"  {label}  {'(nothing)' if near is None else excerpt(near.encode())}"


def _owner_lines(who: Owner) -> Iterator[str]:
    run = who.run
    if not isinstance(run.origin, FromSource) or run.version is None:
        if not isinstance(run.origin, Unversioned):
            yield f"{who.change} by {owner(run)}"
        return
    yield f"{who.change} by {owner(run)}: {run.origin.path}"
    if run.source:
        yield f"  commit  {run.source.commit.short} {run.source.subject}"
    yield f"  adopted as {run.version.label} by {run.version.author.name}: {run.version.subject}"
    if who.undone:
        yield "  and gone again, for the second session is on an older version"


def _found(result: Evidence) -> Iterator[str]:
    yield f"{result.calls} calls in {result.chains} chains, {result.drop_count} drops"
    if result.drop_count:
        kinds = ", ".join(f"{kind} {lost}" for kind, lost in result.kinds)
        yield f"  {result.lost_tokens} tokens were not read back: {kinds}"
    for drop in result.drops:
        call = drop.call
        gap = "" if drop.gap_seconds is None else f" after {drop.gap_seconds:.0f} s"
        reason = f" ({call.reason})" if call.reason else ""
        yield f"{drop.lost:>9}  {instant(call.time)}  {drop.kind}{reason}{gap}  {call.chain}"
        if drop.evidence:
            yield f"           {drop.evidence}"
        yield f"           {call.source}:{call.line}"
    for name, day_sums in result.days:
        share = f"{day_sums.share:.0%} of {day_sums.total} tokens read back"
        yield f"{name}  {share}, {day_sums.calls} calls, {day_sums.drops} drops"
    for digest, call in result.heads:
        yield f"head {digest[:15]} first in {call.session} at {instant(call.time)}"
    if result.repeated:
        yield f"{result.repeated} calls stood in more than one file and were counted once"
    if result.other_lines:
        yield f"{result.other_lines} lines hold no usage"
    for name in result.unread:
        yield f"not read: {name}"
    for problem in result.problems:
        yield f"note: {problem}"


def instant(seconds: float | None) -> str:
    """Write a time in UTC to the second; one that is not known as a dash."""
    return "-" if seconds is None else moment(int(seconds * 1_000_000))


def _bodies(result: Bodies) -> Iterator[str]:
    misses = len(result.misses)
    unread = f"; {len(result.problems)} not read" if result.problems else ""
    yield f"{result.requests} requests in {result.chains} chains, {misses} misses{unread}"
    if not result.pairs:
        yield "  no two of them follow each other, so nothing was compared"
    for pair in result.misses:
        miss = pair.miss
        lost = miss.scope_bytes - miss.reusable_bytes
        yield f"{lost:>9} of {miss.scope_bytes} bytes  {miss.kind}  {pair.a} -> {pair.b}"
        yield f"           {miss.evidence}"
    for problem in result.problems:
        yield f"note: {problem}"


def _lines(result: SyncResult | Proof | Forgotten | Collected) -> Iterator[str]:
    """Show a result that says itself in words."""
    return result.to_lines()


TEXTS: dict[str, Callable[[Any], Iterator[str]]] = {
    "Imported": _imported,
    "Bodies": _bodies,
    "Evidence": _found,
    "Collected": _lines,
    "Forgotten": _lines,
    "Initialized": _initialized,
    "Missed": _missed,
    "PhraseLog": _phrase,
    "PinsLog": _pins,
    "Promoted": _promoted,
    "Proof": _lines,
    "Shown": _shown,
    "Superseded": _superseded,
    "SyncResult": _lines,
}
