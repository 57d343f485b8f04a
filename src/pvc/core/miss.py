"""Why the later of two requests did not read back what the earlier one wrote.

    scope      how many leading bytes of a should have been read back
    reusable   how many of them can be, by the provider's rules
    verdict    hit when they are equal, else miss; the counters overrule at zero
    kind       what happened, decided by `core.kind` from the differing values

Rule 1: no crying wolf. Markers are not content, an appended turn is a hit, an expired entry is not
an edit, and what differs after the scope is not reported.
Rule 2: what is not known stays unknown. A fact that is missing and could turn a hit into a miss
makes the verdict `unknown` and is named; a proven divergence needs no other fact.
Rule 3: a scope with fewer bytes than the provider's minimum has tokens is never cached, so nothing
was to be read back. Between that and certainty lies a band in which pvc cannot tell.
Rule 4: the provider says whether, pvc says where: a counter of zero, or the provider's diagnosis,
turns a predicted hit into a miss of kind `provider_side`, and nothing else about the prompt is then
claimed; a diagnosed hit turns a predicted miss into a hit that keeps its first difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pvc.core import kind as kinds
from pvc.core.divergence import (
    common_bytes,
    first_divergence,
    only_routes,
)
from pvc.core.kind import Cause
from pvc.core.reuse import Relation, alive, infer_relation, paired, reuse, scope_bytes
from pvc.errors import DecodeError
from pvc.model.body import Kind, Verdict

__all__ = ["Context", "Miss", "Relation", "compare", "infer_relation", "read_tokens", "scope_bytes"]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pvc.core.change import Provenance
    from pvc.model.body import Body, Counters, Divergence


@dataclass(frozen=True, slots=True)
class Context:
    """What is known besides the two bodies; null is unknown."""

    provider: str | None = None
    relation: Relation | None = None
    seconds_between: float | None = None
    same_account: bool | None = None
    usage_b: Mapping[str, Any] | None = None
    provider_missed: bool | None = None
    """What the provider's own diagnosis says of b; it overrules, as a counter of zero does."""
    own_endpoint: bool | None = None
    """Whether both went to the endpoint of the shape's own provider; else the bodies tell."""
    origin: Callable[[Divergence], Provenance | None] | None = None
    """Tells where a difference comes from, where the texts are of versions; asked once."""


@dataclass(frozen=True, slots=True)
class Miss:
    """The answer. `unknown` names the facts that were missing and would have mattered."""

    verdict: Verdict
    kind: Kind
    first_divergence: Divergence | None
    scope_bytes: int
    reusable_bytes: int
    evidence: str
    kind_alternatives: tuple[Kind, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    owner: Mapping[str, Any] | None = None
    lost: Mapping[str, Any] | None = None
    advice: str | None = None

    def to_json(self) -> dict[str, object]:
        """Give the keys of `pvc miss --json`; what nobody filled in is left out."""
        divergence = self.first_divergence
        table: dict[str, object] = {
            "kind": str(self.kind),
            "verdict": str(self.verdict),
            "first_divergence": divergence.to_json() if divergence else None,
            "scope_bytes": self.scope_bytes,
            "reusable_bytes": self.reusable_bytes,
            "kind_alternatives": [str(kind) for kind in self.kind_alternatives],
            "evidence": self.evidence,
        }
        optional = {
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "owner": self.owner,
            "lost": self.lost,
            "advice": self.advice,
        }
        return table | {key: value for key, value in optional.items() if value}


def compare(a: Body, b: Body, context: Context) -> Miss:
    """Say whether b could read back what a wrote, and if not, why."""
    if a.shape != b.shape or context.provider not in (None, a.shape):
        shapes = sorted({a.shape, b.shape, context.provider or a.shape})
        raise DecodeError(
            f"two shapes cannot be compared: {', '.join(shapes)}",
            hint="compare requests to the same endpoint",
        )
    if context.own_endpoint is not None:
        a, b = (replace(body, own_endpoint=context.own_endpoint) for body in (a, b))
    counted = _counters(b, context)
    read = counted.read
    a, b = paired(a, b, counted)
    found = reuse(
        a,
        b,
        relation=context.relation,
        seconds=context.seconds_between,
        same_account=context.same_account,
        counted=counted,
    )
    scope, reusable, unknown = found.scope, found.kept, found.unknown
    divergence = first_divergence(a, b, common_bytes(a, b), scope)
    verdict, cause = _decide(a, b, context, divergence, (scope, reusable))
    if verdict is Verdict.MISS and context.provider_missed is False:
        verdict = Verdict.HIT
    if verdict is Verdict.HIT and unknown and not read and context.provider_missed is None:
        verdict = Verdict.UNKNOWN
    if verdict is Verdict.MISS and read is None and only_routes(a, divergence):
        verdict, unknown = Verdict.UNKNOWN, ("usage_b",)
    return Miss(
        verdict,
        cause.kind,
        divergence,
        scope,
        reusable,
        cause.evidence,
        cause.alternatives,
        unknown if verdict is Verdict.UNKNOWN else (),
        tuple(f"{side}: {note}" for side, body in (("a", a), ("b", b)) for note in body.notes),
    )


def read_tokens(b: Body, context: Context) -> int | None:
    """Read the provider's counter of tokens read back for b; null when it was not given."""
    return _counters(b, context).read


def _counters(b: Body, context: Context) -> Counters:
    return b.rules.counters(context.usage_b or {})


def _decide(
    a: Body, b: Body, context: Context, divergence: Divergence | None, sizes: tuple[int, int]
) -> tuple[Verdict, Cause]:
    scope, reusable = sizes
    if context.same_account is False:
        said = "the requests were sent for different accounts, and each has a cache of its own"
        return Verdict.MISS, Cause(Kind.ACCOUNT, said)
    counted = _counters(b, context)
    minimum = b.rules.minimum_tokens or 0
    if counted.total is not None and counted.total < minimum and not counted.read:
        said = (
            f"the later request has {counted.total} tokens, and {minimum} are cached at least: "
            "nothing was written or read"
        )
        return Verdict.HIT, Cause(Kind.NONE, said)
    if not scope and len(a) and b.rules.is_marked and not counted.read:
        said = "the earlier request marks nothing that this one could read, so nothing was kept"
        return Verdict.MISS, Cause(Kind.BREAKPOINT_MISSING, said)
    if divergence is not None:
        return Verdict.MISS, kinds.decide(
            a,
            b,
            divergence,
            context.seconds_between,
            context.origin(divergence) if context.origin else None,
        )
    if reusable < scope:
        return Verdict.MISS, _out_of_reach(a, b, context, scope)
    if scope < minimum:
        said = f"{scope} bytes are shorter than the {minimum} tokens cached at least"
        return Verdict.HIT, Cause(Kind.NONE, said)
    if scope and context.provider_missed:
        said = f"all {scope} bytes could be read back, but the provider says that it missed"
        return Verdict.MISS, Cause(Kind.PROVIDER_SIDE, said)
    if scope and counted.read == 0:
        said = f"all {scope} bytes could be read back, but the counters say that none was"
        return Verdict.MISS, Cause(Kind.PROVIDER_SIDE, said)
    return Verdict.HIT, Cause(Kind.NONE, "nothing that was to be read back differs")


def _out_of_reach(a: Body, b: Body, context: Context, scope: int) -> Cause:
    """Name the reason when the bytes are the same and yet cannot be read back."""
    entries = [mark for mark in a.markers if a.element_end(mark.element) == scope]
    if entries and not any(alive(entry, context.seconds_between) for entry in entries):
        lived = max(entry.ttl_seconds or 0 for entry in entries)
        return Cause(
            Kind.TTL_EXPIRED,
            f"the entry lived {lived} s, and {context.seconds_between:g} s lay between",
        )
    beyond = [mark.element for mark in b.markers if b.element_end(mark.element) >= scope]
    if not beyond:
        return Cause(
            Kind.BREAKPOINT_MISSING,
            f"no marker of the later request stands at or after byte {scope}",
        )
    held = next((i for i, end in enumerate(b.element_ends) if end == scope), None)
    where = "too far on" if held is None else f"{min(beyond) - held} elements after the entry"
    return Cause(
        Kind.LOOKBACK_EXCEEDED,
        f"a marker looks at {b.rules.lookback_elements} elements, and the nearest stands {where}",
    )
