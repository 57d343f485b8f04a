"""Whether every byte of a rendered prompt is what its span says: a file's, a value's or glue's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.model.span import FromBinding, FromSource, Glue

if TYPE_CHECKING:
    from pvc.model.source import Sources
    from pvc.model.span import Rendered, Span


def untraced(rendered: Rendered, sources: Sources, environment: Any) -> list[Span]:
    """List the spans whose bytes stand elsewhere than they say.

    That spans tile the bytes holds already: a `Rendered` that breaks it cannot be built. A number
    of the environment is printed by the form, so its bytes stand nowhere.
    """
    return [
        span
        for span in rendered.spans
        if not _is_there(span, rendered.data[span.start : span.end], sources, environment)
    ]


def _is_there(span: Span, data: bytes, sources: Sources, environment: Any) -> bool:
    match span.origin:
        case FromSource(path, _, offset):
            source = sources.get(path)
            return source is not None and source.data[offset : offset + len(data)] == data
        case FromBinding(_, pointer, offset):
            value = _at(environment, pointer)
            if not isinstance(value, str):
                return isinstance(value, (int, float)) and offset == 0
            return value.encode()[offset : offset + len(data)] == data
        case Glue(rule):
            return bool(rule)
        case _:
            return False


def _at(environment: Any, pointer: str) -> Any:
    value = environment
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
