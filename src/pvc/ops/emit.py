"""A rendered version, or a pinned session, as the front of a request, in a provider's shape.

Rule 1: what is emitted reads back as the head that a pin of the same values and tools records. A
session's is held against what its pin records before it is given out.
Rule 2: markers are those of the tree's own `pvc.toml`, after planes; its packs' do not count, for
who pays for the request says where it is cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.json_text import dump, lone_surrogate
from pvc.core.planes import block_planes
from pvc.core.stream import ANTHROPIC, as_tools, head
from pvc.dialects.manifest import SHAPE_WORDS
from pvc.errors import CorruptError, DecodeError, RefusedError, UsageError
from pvc.model.digest import Digest
from pvc.ops.cost import Prompt, wanted_of_pin
from pvc.providers.emit import emit, plane_markers

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.model.pin import Pin
    from pvc.ops.render import RenderResult
    from pvc.store.repo import Repository

SHAPES = SHAPE_WORDS


def emit_request(
    result: RenderResult, shape: str, *, tools: Value = None, model: str = ""
) -> bytes:
    """Write the front of a request as JSON on one line.

    `shape` is a key of `SHAPES` or the shape's own name; `tools` are in any form that pvc reads.
    Raises `UsageError` on a shape or on markers that do not exist, `DecodeError` on other tools.
    """
    prompt = Prompt(result.rendered, result.pack, result.markers)
    return _written(prompt, shape_of(shape), tools, model)


def shape_of(word: str) -> str:
    """Give the shape that a word names. Raises `UsageError` where none has that name."""
    shape = SHAPES.get(word, word)
    if shape not in SHAPES.values():
        raise UsageError(f"no request shape `{shape}`", hint="one of " + ", ".join(SHAPES))
    return shape


def emit_session(
    repo: Repository, session: str, word: str = "", *, tree: str = "", chain: str = "main"
) -> bytes:
    """Write the front of a pinned session's requests: prompt, tools and markers as it was pinned.

    `word` names the shape where the pin does not. Raises `RefusedError` where another one is named,
    or the session is of another tree, and `NotFoundError` where its values are not here.
    """
    from pvc.ops.pins import tools_of, version_of
    from pvc.ops.programs import pack_of
    from pvc.ops.told import Teller

    teller = Teller(repo)
    pin = teller.tip(session, chain)
    if pin.observed:
        raise RefusedError(
            f"session `{session}` was pinned from bytes that were sent",
            hint="pvc pin --resume --out FILE gives them back",
        )
    if tree and tree.partition("@")[0] != pin.tree:
        raise RefusedError(f"session `{session}` is pinned to tree `{pin.tree}`, not `{tree}`")
    shape = shape_of(word or pin.provider or ANTHROPIC)
    if pin.provider and shape != pin.provider:
        raise RefusedError(
            f"session `{session}` was pinned for `{pin.provider}`, not `{shape}`",
            hint="another shape is another head: pin a session of its own for it",
        )
    markers, provider = wanted_of_pin(repo, pin)
    prompt = Prompt(teller.rendered(pin), pack_of(repo, version_of(repo, pin)), markers)
    tools = tools_of(repo, pin)
    _hold_against(pin, prompt, tools, shape)
    return _written(prompt, shape, tools, pin.model or provider.model)


def resumed(directory: str, session: str, word: str, tree: str, chain: str) -> bytes:
    """Write the front of a session's requests, for a launch that resumes it."""
    from pvc.store.open import open_repository

    repo = open_repository(directory, offline=True)
    return emit_session(repo, session, word, tree=tree, chain=chain)


def _hold_against(pin: Pin, prompt: Prompt, tools: Value, shape: str) -> None:
    """Raise `CorruptError` where a head is not the one that was pinned."""
    if pin.head is None or pin.head.is_keyed:
        return
    own = None if tools is None else as_tools(tools, shape)
    now = Digest.of(head(own, prompt.rendered.blocks, shape))
    if now != pin.head:
        raise CorruptError(
            f"the head of session `{pin.session}` comes out as {now.short}, not {pin.head.short}",
            hint="`pvc verify`",
        )


def _written(prompt: Prompt, shape: str, tools: Value, model: str) -> bytes:
    own = None if tools is None else as_tools(tools, shape)
    planes = block_planes(prompt.pack, prompt.rendered) if prompt.pack else ()
    markers = plane_markers(planes, prompt.markers)
    body = emit(shape, prompt.rendered.blocks, tools=own, model=model, markers=markers)
    try:
        return dump(body).encode() + b"\n"
    except UnicodeEncodeError:
        raise DecodeError(
            "half of a surrogate pair has no UTF-8", at=lone_surrogate(own, "/tools")
        ) from None
