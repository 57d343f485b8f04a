"""pvc: version control for prompts.

The public names, each imported on first use: `import pvc` costs nothing that is not used, and the
launch path passes through here.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.api import Pinned, PinOptions, Repository, open  # noqa: A004  # `pvc.open` is its name
    from pvc.core.compile import compile_pack
    from pvc.errors import PvcError
    from pvc.model.digest import Digest
    from pvc.model.source import Source, Sources
    from pvc.model.span import Rendered, Span

__version__ = "0.1.0"

__all__ = [
    "Digest",
    "PinOptions",
    "Pinned",
    "PvcError",
    "Rendered",
    "Repository",
    "Source",
    "Sources",
    "Span",
    "compile_pack",
    "open",
]

_HOMES = {
    "Digest": "pvc.model.digest",
    "PinOptions": "pvc.api",
    "Pinned": "pvc.api",
    "PvcError": "pvc.errors",
    "Rendered": "pvc.model.span",
    "Repository": "pvc.api",
    "Source": "pvc.model.source",
    "Sources": "pvc.model.source",
    "Span": "pvc.model.span",
    "compile_pack": "pvc.core.compile",
    "open": "pvc.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module `pvc` has no attribute `{name}`")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, for completion, without importing any."""
    return [*__all__, "__version__"]
