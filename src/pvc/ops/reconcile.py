"""What the provider says beside what pvc found: where they agree, and where they do not.

Rule 1: a disagreement is said, never smoothed over: bodies that were kept may not be what was sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.model.body import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.miss import Miss
    from pvc.providers.usage import Diagnosis, Usage


def disagreements(miss: Miss, diagnosis: Diagnosis | None, usage: Usage | None) -> Iterator[str]:
    """Say where the provider's counters and diagnosis do not fit what the bodies show."""
    if usage and usage.read and miss.verdict is Verdict.MISS and not miss.reusable_bytes:
        yield f"the counters say that {usage.read} tokens were read back, and the rules allow none"
    if diagnosis is None:
        return
    place, reason = miss.first_divergence, diagnosis.reason
    if place is None:
        if diagnosis.changed:
            yield (
                f"the provider says `{reason}`, but nothing differs in these bodies; "
                "are they what was sent?"
            )
        return
    if diagnosis.missed is False or diagnosis.changed is False:
        yield f"the provider says `{reason}`, but the bodies differ at byte {place.offset}"
    elif diagnosis.regions and place.region not in diagnosis.regions:
        yield f"the provider says `{reason}`, but the first difference lies in {place.region}"
