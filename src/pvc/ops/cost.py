"""What a change of a tree's prompt costs, by what is known of the requests that carry it.

`core.reuse` says what is read back; here stands of which requests it is asked, in this order:

    the pin that is asked about      its shape, model and tools
    `[provider]` of the pvc.toml     where the pin does not say
    the newest pins of the tree
    nothing                          then both classes are answered: by marker, and by prefix

Rule 1: a prompt is written as the front of a request by the one function that `pvc miss` writes
pins with, markers included, so a prediction and a verdict speak of the same bytes.
Rule 2: of several answers the worst comes first, and stands where there is room for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from pvc.core.json_text import Number, dump, parse
from pvc.core.planes import block_planes
from pvc.core.reuse import Reuse, parted, reuse
from pvc.core.stream import ANTHROPIC, CHAT, as_tools
from pvc.errors import NotFoundError, UsageError
from pvc.model.body import Loss, Region
from pvc.model.manifest import Manifest, Marker, Provider
from pvc.model.span import Rendered, Span, Unversioned, lift
from pvc.ops.price import Lost, lost_bytes
from pvc.providers.base import load_facts, platform_of, read
from pvc.providers.emit import emit, plane_markers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pvc.core.json_text import Value
    from pvc.model.body import Body, Leaf
    from pvc.model.pack import Pack
    from pvc.model.pin import Pin
    from pvc.model.span import SpanTuple
    from pvc.providers.base import Facts
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

NOT_SAID = Provider()
NEWEST = 100
"""So many of a tree's newest pins are asked for their shape."""
RELATION: Literal["new_session"] = "new_session"
"""A prompt's change is felt by the sessions that begin after it."""


@dataclass(frozen=True)
class Asked:
    """The requests that a prompt goes out with; `is_guess` where nothing says so."""

    shape: str
    model: str = ""
    platform: str = ""
    tools: Value = None
    is_guess: bool = False

    @property
    def home(self) -> str:
        """Whose cache the requests meet."""
        return self.platform or platform_of(self.shape, self.model)

    @cached_property
    def facts(self) -> Facts:
        """The provider's figures."""
        return load_facts(self.home)

    def request(self, prompt: Prompt) -> bytes:
        """Write a prompt as the front of a request."""
        return request_json(self.shape, self.model, self.tools, prompt)

    def read(self, request: bytes) -> Body:
        """Read a request by the rules of whom it is sent to."""
        return read(request, self.shape, facts=self.facts)

    def body(self, prompt: Prompt) -> Body:
        """Write a prompt as the front of a request, and read it as any request is read."""
        return self.read(self.request(prompt))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt, and where its tree wants markers; no pack where it was observed."""

    rendered: Rendered
    pack: Pack | None = None
    markers: tuple[Marker, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """One answer: for these requests, this is lost."""

    asked: Asked
    markers: int
    reuse: Reuse
    lost: Lost
    prompt_kept: int
    """Leading bytes of the old prompt that are read back."""
    prompt_size: int
    marked_to_end: bool
    """Whether the last marker is on the end of the system text."""
    is_about: bool = False
    """Whether placeholders stand for values that are not in this clone."""

    @property
    def label(self) -> str:
        """Say by which class of cache this is."""
        name = NAMES.get(self.asked.home, self.asked.home)
        if self.markers == 1:
            at = " at the end of the system text" if self.marked_to_end else ""
            return f"{name}, one marker{at}"
        if self.markers:
            return f"{name}, {self.markers} markers"
        return f"{name}, {_BY[self.reuse.kind_of_loss]}"

    def to_json(self) -> dict[str, object]:
        """One entry of `costs`."""
        asked = self.asked
        return {
            "provider": asked.home,
            "shape": asked.shape,
            "model": asked.model or None,
            "known": not asked.is_guess,
            "loss": str(self.reuse.kind_of_loss),
            "markers": self.markers,
            "scope_bytes": self.reuse.scope,
            "reusable_bytes": self.reuse.kept,
            "least_reusable_bytes": self.reuse.least,
            "why": self.reuse.why,
            "facts": self._facts(),
            "lost": self.lost.to_json(),
            **({"about": True} if self.is_about else {}),
        }

    def _facts(self) -> dict[str, object]:
        """Give the row of the provider table that the answer rests on; null is not known."""
        facts, model = self.asked.facts, self.asked.model
        row, known = facts.rules(model), facts.model(model)
        return {
            "order": [str(region) for region in row.order],
            "grain_tokens": row.grain_tokens,
            "minimum_tokens": row.minimum_tokens,
            "lifetime_seconds": facts.lifetime_seconds,
            "renewed": facts.renewed,
            "clock": facts.clock,
            "keys": list(facts.keys),
            "as_of": facts.as_of,
            "source": known.source or facts.source,
            "evidence": known.evidence or facts.evidence,
        }

    def in_words(self) -> str:
        """Say in one line what is written again."""
        lost, found = self.lost, self.reuse
        ended = found.lost == 1 and self.prompt_kept == self.prompt_size
        if not found.lost or ended:  # the zero byte behind a text that went on is no text
            what = "0 bytes"
        else:
            how_many = "all" if found.lost == found.scope else f"{found.lost} of"
            band = f"{lost.tokens} tokens ({lost.tokens_low} to {lost.tokens_high})"
            about = "about " if self.is_about else ""
            what = f"{about}{how_many} {found.scope} bytes are written again, {band}"
        least = self.asked.facts.rules(self.asked.model).minimum_tokens or 0
        if found.scope < least:
            return f"{self.label}: {what}; fewer than the {least} tokens cached at least"
        most = f"; at worst {found.most_lost}" if found.most_lost > found.lost else ""
        return f"{self.label}: {what}{most}"


NAMES = {
    "anthropic": "Anthropic",
    "azure": "Azure OpenAI",
    "bedrock": "Bedrock",
    "deepseek": "DeepSeek",
    "google": "Gemini",
    "groq": "Groq",
    "minimax": "MiniMax",
    "mistral": "Mistral",
    "moonshot": "Kimi",
    "openai": "OpenAI",
    "qwen": "Qwen",
    "vllm": "vLLM",
    "xai": "xAI",
    "zai": "GLM",
}
_BY = {Loss.MARK: "by message", Loss.GRAIN: "by prefix", Loss.UNIT: "by whole units"}


def costs(asked: Iterable[Asked], old: Prompt, new: Prompt) -> tuple[Cost, ...]:
    """Price a change of a prompt for each kind of request that may carry it, the worst first."""
    found = [cost(each, old, new) for each in asked]
    return worst_first(found)


def worst_first(found: Iterable[Cost]) -> tuple[Cost, ...]:
    """Order answers by the share of the scope that is lost; of equal ones the first stays first."""
    return tuple(sorted(found, key=lambda each: -each.reuse.lost / (each.reuse.scope or 1)))


def cost(asked: Asked, old: Prompt, new: Prompt, after: Asked | None = None) -> Cost:
    """Price a change of a prompt, and of its requests where they are others after it."""
    a_json, b_json = alike(asked.request(old), (after or asked).request(new))
    a, b = asked.read(a_json), (after or asked).read(b_json)
    return cost_of(asked, a, reuse(a, b, relation=RELATION))


def cost_of(asked: Asked, a: Body, found: Reuse) -> Cost:
    """Price what is not read back of a request."""
    lost = lost_bytes(found.lost, asked.facts, asked.model)
    kept, size = prompt_bytes(a, found.kept), prompt_bytes(a, len(a))
    to_end = bool(a.markers) and a.element_end(a.markers[-1].element) == a.region_start(
        Region.MESSAGES
    )
    return Cost(asked, len(a.markers), found, lost, kept, size, to_end)


def if_parted(a: Body, at: int) -> Reuse:
    """Say what is kept of a request whose prompt changes at byte `at`."""
    return parted(a, stream_bytes(a, at), relation=RELATION)


def of_refusal(directory: str, record: bytes, pinned: Given, given: Given) -> dict[str, Value]:
    """Price, for a launch that is refused, what its prompt would lose of the pinned one's.

    Gives `lost_bytes`, at worst, and one row of `costs` for each kind of request that may be.
    """
    from pvc.store.codec import decode
    from pvc.store.open import open_repository

    repo, pin = open_repository(directory), decode(record)
    old, provider = prompt_of(repo, pin, _rendered(pinned))
    new = Prompt(_rendered(given), old.pack, old.markers)
    before = asked_of_pins(repo, pin, provider, pinned.tools)
    after = asked_of_pins(repo, pin, provider, given.tools)
    found = worst_first(cost(a, old, new, b) for a, b in zip(before, after, strict=True))
    rows: list[Value] = [
        {
            "provider": each.asked.home,
            "scope_bytes": Number(each.reuse.scope),
            "lost_bytes": Number(each.reuse.lost),
        }
        for each in found
    ]
    return {"lost_bytes": Number(found[0].reuse.lost), "costs": rows}


class Given(Protocol):
    """A launch's prompt: its bytes with their spans, and its tools."""

    data: bytes
    spans: list[SpanTuple]
    ends: tuple[int, ...]
    tools: Value


def _rendered(prompt: Given) -> Rendered:
    if prompt.spans or not prompt.data:
        return lift(prompt.data, prompt.spans, prompt.ends)
    return Rendered(prompt.data, (Span(0, len(prompt.data), Unversioned()),), prompt.ends)


# --- what is known of the requests ------------------------------------------------------------


def asked_of(repo: Repository, tree: str | None, provider: Provider) -> tuple[Asked, ...]:
    """Tell what a tree's requests are, from its folder or its newest pins; else both classes."""
    if provider.shape:
        return (Asked(provider.shape, provider.model, provider.platform),)
    pin = _newest(repo, tree)
    if pin is not None and pin.provider:
        return (Asked(pin.provider, pin.model or provider.model, provider.platform),)
    if provider.platform or provider.model:
        shape = ANTHROPIC if platform_of(CHAT, provider.model) == "anthropic" else CHAT
        return (Asked(shape, provider.model, provider.platform),)
    return Asked(ANTHROPIC, is_guess=True), Asked(CHAT, is_guess=True)


def asked_of_pin(pin: Pin, provider: Provider, tools: Value = None) -> Asked:
    """Tell what a pinned session's requests are; what its record does not say is its folder's."""
    shape = pin.provider or provider.shape or ANTHROPIC
    return Asked(shape, pin.model or provider.model, provider.platform, tools, is_guess=False)


def asked_of_pins(
    repo: Repository, pin: Pin, provider: Provider, tools: Value = None
) -> tuple[Asked, ...]:
    """Tell what a pin's requests are; where neither it nor its tree says, both classes."""
    if pin.provider or provider.shape:
        return (asked_of_pin(pin, provider, tools),)
    known = asked_of(repo, pin.tree, provider)
    return tuple(
        Asked(each.shape, pin.model or each.model, each.platform, tools, each.is_guess)
        for each in known
    )


def tools_if_here(repo: Repository, pin: Pin) -> Value:
    """Read a pin's tools; where they are not in this clone a prompt is priced without them."""
    from pvc.ops.pins import tools_of

    try:
        return tools_of(repo, pin)
    except NotFoundError:
        return None


def _newest(repo: Repository, tree: str | None) -> Pin | None:
    """Find the newest pin of a tree that says whom it was sent to."""
    from pvc.store.ledger import Ledger

    if tree is None:
        return None
    return next((pin for pin in Ledger(repo).newest(NEWEST, tree) if pin.provider), None)


def manifest_of(repo: Repository, version: VersionInfo) -> Manifest | None:
    """Read the manifest of a version; null for one that has none."""
    from pvc.dialects.manifest import MANIFEST, parse_manifest
    from pvc.store.versions import sources

    found = sources(repo, version).get(MANIFEST)
    return parse_manifest(found.data) if found else None


def wanted_of(manifest: Manifest | None) -> tuple[tuple[Marker, ...], Provider]:
    """Give the markers and the provider that a folder names."""
    return (manifest.markers, manifest.provider) if manifest else ((), NOT_SAID)


def prompt_of(repo: Repository, pin: Pin, rendered: Rendered) -> tuple[Prompt, Provider]:
    """Give a pinned prompt with the markers of its version, and the provider that it names."""
    from pvc.ops.pins import version_of
    from pvc.ops.programs import pack_of

    markers, provider = wanted_of_pin(repo, pin)
    pack = pack_of(repo, version_of(repo, pin)) if markers and not pin.observed else None
    return Prompt(rendered, pack, markers), provider


def prompt_of_version(repo: Repository, version: VersionInfo, rendered: Rendered) -> Prompt:
    """Give a version's prompt with the markers that its folder wants."""
    from pvc.ops.programs import pack_of

    markers, _ = wanted_of(manifest_of(repo, version))
    return Prompt(rendered, pack_of(repo, version) if markers else None, markers)


def wanted_of_pin(repo: Repository, pin: Pin) -> tuple[tuple[Marker, ...], Provider]:
    """Give the markers of a pin's version, and the provider that its tree names.

    None where they are not here.
    """
    from pvc.ops.pins import version_of

    if pin.commit is None:
        return (), provider_of(repo, pin.tree)
    try:
        markers, own = wanted_of(manifest_of(repo, version_of(repo, pin)))
    except NotFoundError:
        return (), provider_of(repo, pin.tree)
    return markers, provider_of(repo, pin.tree, own)


def provider_of(repo: Repository, tree: str | None, own: Provider = NOT_SAID) -> Provider:
    """Give the provider that a tree's newest version names, else an `own` one.

    Whom requests are sent to is said once for all sessions, those of older versions too.
    """
    from pvc.store.versions import tip

    newest = tip(repo, "trees", tree) if tree else None
    _, provider = wanted_of(manifest_of(repo, newest) if newest else None)
    return own if provider == NOT_SAID else provider


# --- requests ---------------------------------------------------------------------------------


def request_json(shape: str, model: str, tools: Value, prompt: Prompt) -> bytes:
    """Write a prompt as the front of a request, with the markers that its tree wants.

    Where a provider would refuse those, one at the end counts, as without any.
    """
    given = None if tools is None else as_tools(tools, shape)
    planes = block_planes(prompt.pack, prompt.rendered) if prompt.pack else ()
    blocks = prompt.rendered.blocks
    try:
        request = emit(
            shape,
            blocks,
            tools=given,
            model=model,
            markers=plane_markers(planes, prompt.markers),
        )
    except UsageError:
        request = emit(shape, blocks, tools=given, model=model)
    return dump(request).encode()


def alike(a_json: bytes, b_json: bytes) -> tuple[bytes, bytes]:
    """Write the system message of two Chat requests in one form.

    One block goes out as a string and several as parts; to a cache the text is the same.
    """
    pair = [parse(each.decode()) for each in (a_json, b_json)]
    heads = [_system_message(request) for request in pair]
    if {type(head["content"]) for head in heads if head} != {str, list}:
        return a_json, b_json
    for head in heads:
        if head and isinstance(head["content"], str):
            head["content"] = [{"type": "text", "text": head["content"]}]
    return dump(pair[0]).encode(), dump(pair[1]).encode()


def _system_message(request: Value) -> dict[str, Value]:
    """Find the system message that `emit` wrote into a Chat request; empty where there is none."""
    messages = request.get("messages") if isinstance(request, dict) else None
    first = messages[0] if isinstance(messages, list) and messages else None
    return first if isinstance(first, dict) and "content" in first else {}


def prompt_bytes(body: Body, offset: int) -> int:
    """Count the bytes of the prompt in front of a byte of the request's stream."""
    found = 0
    for start, leaf in _texts(body):
        found += max(0, min(offset - start, len(leaf.data)))
    return found


def stream_bytes(body: Body, at: int) -> int:
    """Tell where a byte of the prompt is in the request's stream."""
    end = 0
    for start, leaf in _texts(body):
        if at < len(leaf.data):
            return start + at
        at -= len(leaf.data)
        end = start + len(leaf.data)
    return end if at == 0 else len(body)


def _texts(body: Body) -> Sequence[tuple[int, Leaf]]:
    """Give the leaves that hold the prompt, and where each begins."""
    found = []
    for index, part in enumerate(body.parts):
        start = body.part_start(index)
        for leaf in part.leaves:
            if part.region is Region.SYSTEM and leaf.pointer.endswith(_HOLDERS):
                found.append((start, leaf))
            start += len(leaf.data) + 1
    return found


_HOLDERS = ("/text", "/content", "/instructions")
