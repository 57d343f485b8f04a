"""What a verification found, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.cli.show import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.ops.verify_report import Found, Verified

_ONE = {"bodies": "body", "spooled": "spooled"}


def lines(result: Verified) -> Iterator[str]:
    """Say each finding with its place, then what was looked at."""
    for found in result.found:
        yield from _finding(found)
    counts = [_count(name, count) for name, count in result.counts.items() if count]
    yield f"verified: {', '.join(counts) or 'nothing'}"
    for reason, count in result.not_rendered:
        yield f"not rendered: {_count('prompts', count)}: {reason}"
    yield from (f"note: {note}" for note in result.notes)
    count = len(result.found)
    yield _count("findings", count) if count else "Nothing is wrong."


def _finding(found: Found) -> Iterator[str]:
    yield f"{found.code}: {found.message}"
    place = [found.ref, f"commit {found.commit[:12]}" if found.commit else "", found.path]
    place += [f"byte {found.byte}"] if found.byte is not None else []
    if any(place):
        yield f"  at {' '.join(word for word in place if word)}"
    if found.since:
        yield f"  since {moment(found.since.time * 1_000_000)} UTC, {found.since.commit[:12]}"
    yield f"  hint: {found.hint}"


def _count(name: str, count: int) -> str:
    return f"{count} {_ONE.get(name, name.removesuffix('s')) if count == 1 else name}"
