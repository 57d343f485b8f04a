"""A rendered version as the front of a request, in a provider's shape.

Rule 1: what is emitted reads back as the head that a pin of the same values and tools records.
Rule 2: markers are those of the tree's own `pvc.toml`, after planes; its packs' do not count, for
who pays for the request says where it is cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.json_text import dump, lone_surrogate
from pvc.core.planes import block_planes
from pvc.core.stream import as_tools
from pvc.dialects.manifest import SHAPE_WORDS
from pvc.errors import DecodeError, UsageError
from pvc.providers.emit import emit, plane_markers

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.ops.render import RenderResult

SHAPES = SHAPE_WORDS


def emit_request(
    result: RenderResult, shape: str, *, tools: Value = None, model: str = ""
) -> bytes:
    """Write the front of a request as JSON on one line.

    `shape` is a key of `SHAPES` or the shape's own name; `tools` are in any form that pvc reads.
    Raises `UsageError` on a shape or on markers that do not exist, `DecodeError` on other tools.
    """
    shape = SHAPES.get(shape, shape)
    if shape not in SHAPES.values():
        raise UsageError(f"no request shape `{shape}`", hint="one of " + ", ".join(SHAPES))
    own = None if tools is None else as_tools(tools, shape)
    planes = block_planes(result.pack, result.rendered)
    markers = plane_markers(planes, result.markers)
    body = emit(shape, result.rendered.blocks, tools=own, model=model, markers=markers)
    try:
        return dump(body).encode() + b"\n"
    except UnicodeEncodeError:
        raise DecodeError(
            "half of a surrogate pair has no UTF-8", at=lone_surrogate(own, "/tools")
        ) from None
