"""pvc from Python: the same ops that the commands call, behind one object.

import pvc

repo = pvc.open(".")
prompt = repo.render("agent", {"workspace": "/srv/app", …})
with repo.pin("agent", "session-1", values) as pinned:
    start_agent(pinned.prompt)
"""

from __future__ import annotations

from dataclasses import dataclass
from os import fspath
from typing import TYPE_CHECKING, Any, Self

from pvc.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pvc.model.span import Rendered
    from pvc.ops.blame import Blamed
    from pvc.store import repo as store


@dataclass(frozen=True, slots=True)
class Pinned:
    """A durable pin and the exact prompt. As a context manager it spans a session."""

    session: str
    status: str
    """`pinned`, or `same` when this session was pinned with these bytes before."""
    receipt: str
    prompt_digest: str
    version: str
    """As people write it: `agent@7`."""
    prompt: bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the session; its pin stays."""


@dataclass(frozen=True, slots=True)
class PinOptions:
    """What may be said of a pin besides its values; the options of `pvc pin`."""

    chain: str = "main"
    tools: Any = None
    keep_tool_order: bool = False
    provider: str = ""
    model: str = ""
    repin: str = ""
    resume: bool = False
    privacy: str = ""
    """What is kept: `inputs`, `bytes`, `digest`, `keyed`; empty for what `pvc.privacy` says."""
    allow_empty: bool = False
    """Pin a prompt of no bytes; refused otherwise."""


class Repository:
    """A git repository with trees, packs and pins."""

    def __init__(self, repo: store.Repository, directory: str) -> None:
        self._repo = repo
        self._directory = directory

    def render(self, tree: str, environment: Mapping[str, Any] | None = None) -> Rendered:
        """Render `NAME`, `NAME@7` or `NAME@channel`: exact bytes and the spans that tile them.

        Raises `NotFoundError` when there is no such version, and `UsageError` when the values do
        not fit its form.
        """
        from pvc.ops.render import render_version
        from pvc.ops.select import select_version

        version = select_version(self._repo, tree)
        values = _environment(environment)
        return render_version(self._repo, version, values).rendered

    def emit(
        self,
        tree: str = "",
        environment: Mapping[str, Any] | None = None,
        options: PinOptions | None = None,
        *,
        session: str = "",
    ) -> dict[str, Any]:
        """Write the front of a request, for an SDK to add the messages to.

        With `session` it is that of a pinned session: its prompt, tools and markers, of the version
        that it stays at. Nothing else is taken then but the tree's name, and of the options `chain`
        and, where the pin names no shape, `provider`.

        Of the options `provider` is the shape (Anthropic's by default), and `model`, `tools` and
        `keep_tool_order` count; with the options of a pin, the head is the one that it records.
        """
        import json

        from pvc.ops.emit import emit_request
        from pvc.ops.render import render_version
        from pvc.ops.select import select_version

        wanted = options or PinOptions()
        if session:
            return self._emit_session(session, tree, environment, wanted)
        version = select_version(self._repo, tree)
        result = render_version(self._repo, version, _environment(environment))
        shape = wanted.provider or "anthropic"
        data = emit_request(result, shape, tools=_tools(wanted), model=wanted.model)
        body: dict[str, Any] = json.loads(data)
        return body

    def _emit_session(
        self,
        session: str,
        tree: str,
        environment: Mapping[str, Any] | None,
        wanted: PinOptions,
    ) -> dict[str, Any]:
        import json

        from pvc.ops.emit import emit_session

        if environment is not None or wanted.tools is not None or wanted.model:
            raise UsageError(
                "a session has its values, tools and model already",
                hint="leave them out, or leave `session` out",
            )
        shape, chain = wanted.provider, wanted.chain
        data = emit_session(self._repo, session, shape, tree=tree, chain=chain)
        body: dict[str, Any] = json.loads(data)
        return body

    def pin(
        self,
        tree: str,
        session: str,
        environment: Mapping[str, Any] | None = None,
        options: PinOptions | None = None,
    ) -> Pinned:
        """Pin a session and give its exact prompt; durable when this returns.

        `environment` is parsed JSON: texts, lists and objects of them. Raises `RefusedError` when
        the session was pinned with other bytes, `WriteError` when nothing can be recorded.
        """
        from pvc.launch.call import Call
        from pvc.launch.pin import Pinner
        from pvc.launch.place import find

        wanted = options or PinOptions()
        call = Call()
        call.tree, call.session, call.must_record = tree, session, True
        values = _environment(environment)
        call.environment = None if wanted.resume else values
        for name in ("chain", "provider", "model", "repin", "resume", "privacy", "allow_empty"):
            setattr(call, name, getattr(wanted, name))
        call.tools = _tools(wanted)
        call.check()
        answer = Pinner(find(self._directory)).pin([call])[0]
        if answer.error is not None:
            raise answer.error
        if answer.status == "refused":
            raise RefusedError(answer.message, hint=answer.hint)
        return Pinned(
            session,
            answer.status,
            answer.receipt,
            answer.prompt_digest,
            answer.version,
            answer.data or b"",
        )

    def blame(self, word: str, environment: Mapping[str, Any] | None = None) -> Blamed:
        """Blame a session's prompt, or a version's with the values that it needs."""
        from pvc.ops.subject import blame_subject

        return blame_subject(self._repo, word, _environment(environment))


def _environment(values: Mapping[str, Any] | None) -> Any:
    from pvc.ops.values import from_python

    return from_python({} if values is None else dict(values), "environment")


def _tools(options: PinOptions) -> Any:
    if options.tools is None:
        return None
    from pvc.launch.environment import as_tools
    from pvc.ops.values import from_python

    value = from_python(options.tools, "tools")
    return as_tools(value, "tools", in_order=options.keep_tool_order)


def open(directory: str | PathLike[str] = ".") -> Repository:  # noqa: A001  # `pvc.open` is its name
    """Open the repository that holds `directory`; raises `NotFoundError` where there is none."""
    from pvc.store.open import open_repository

    return Repository(open_repository(fspath(directory)), fspath(directory))
