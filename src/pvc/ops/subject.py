"""What `pvc blame` is asked about: a pin, a version with values, or a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.core.blame import Options
from pvc.core.entries import entry_number
from pvc.errors import NotFoundError, UsageError
from pvc.model.span import FromBinding, FromTool
from pvc.ops.asked import Asked
from pvc.ops.blame import Blamed, blame
from pvc.ops.file_blame import FileBlamed, blame_file, configured
from pvc.ops.fresh import UnfetchedError
from pvc.ops.pins import rendered_of, version_of
from pvc.ops.programs import keep_program
from pvc.ops.render import render_version
from pvc.ops.select import SESSION, select
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.core.blame import Watch
    from pvc.core.json_text import Value
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.model.span import Origin, Rendered
    from pvc.ops.absent import Absence
    from pvc.ops.select import Selected
    from pvc.store.repo import Repository

PATH = "path:"


@dataclass(frozen=True, slots=True)
class Question:
    """How to answer: with which values, options of the differ, over prompt or head."""

    environment: Mapping[str, object]
    asked: Asked
    options: Options
    over_head: bool = False
    at: int | None = None
    """A past position of the session."""
    watch: Watch | None = None


def blame_words(
    repo: Repository, directory: str, words: tuple[str, ...], question: Question
) -> Blamed | FileBlamed:
    """Blame what `WORD`, `PATH` or `REVISION PATH` names.

    Raises `UsageError` when a word is two things, and names both.
    """
    if len(words) == 2:
        return _file(repo, directory, words[1], words[0], question)
    (word,) = words
    if word.startswith(PATH):
        return _file(repo, directory, word.removeprefix(PATH), None, question)
    is_file = _is_file(repo, directory, word)
    try:
        found = select(repo, word)
    except NotFoundError as error:
        if is_file:
            return _file(repo, directory, word, None, question)
        is_word = ":" not in word and not isinstance(error, UnfetchedError)
        message = f"{error.message}, and no file" if is_word else error.message
        raise NotFoundError(message, hint=error.hint) from None
    if is_file:
        label = f"{SESSION}{word}" if found.pin else f"{word}@{_number(found)}"
        kind = "session" if found.pin else "tree or pack"
        raise UsageError(
            f"`{word}` is a {kind} and a file", hint=f"say `{label}` or `{PATH}{word}`"
        )
    return _prompt(repo, found, question)


def _number(found: Selected) -> int:
    assert found.version is not None  # noqa: S101  # the caller looked at the pin
    return found.version.number


def _is_file(repo: Repository, directory: str, word: str) -> bool:
    if repo.worktree is not None:
        return (Path(directory) / word).is_file()
    return repo.rev_parse(f"HEAD:{word}^{{blob}}") is not None


# --- a file -----------------------------------------------------------------------------------


def _file(
    repo: Repository, directory: str, word: str, revision: str | None, question: Question
) -> FileBlamed:
    if (
        question.asked.section
        or question.over_head
        or question.environment
        or question.at is not None
    ):
        raise UsageError("a file has no sections, values, head or positions", at=word)
    path = _from_top(repo, directory, word)
    ignored = question.options.ignored | configured(repo)
    options = replace(question.options, ignored=ignored)
    return blame_file(repo, path, revision, options, question.asked, question.watch)


def _from_top(repo: Repository, directory: str, word: str) -> str:
    """Name a file from the top of the repository, as git stores it."""
    if repo.worktree is None:
        return word
    top = repo.worktree.resolve()
    path = Path(directory).absolute() / word
    whole = path.parent.resolve() / path.name
    if not whole.is_relative_to(top):
        raise UsageError(f"`{word}` is outside of the repository", at=str(top))
    return whole.relative_to(top).as_posix()


# --- a prompt ---------------------------------------------------------------------------------


def _prompt(repo: Repository, found: Selected, question: Question) -> Blamed:
    """Blame the prompt or the head of a pin or of a version."""
    if found.pin and found.pin.observed and question.at is None:
        return _observed(repo, found.pin, question.asked)
    asked, shape = question.asked, ""
    tools: Value = None
    entries: tuple[Pin, ...] = ()
    absent: tuple[Absence, ...] = ()
    oldest, pin = asked.oldest(), found.pin
    if pin:
        teller = Teller(repo)
        pin = pin if question.at is None else teller.at(pin, question.at)
        told, version = teller.told(pin), version_of(repo, pin)
        rendered, absent = told.rendered, told.absent
        entries = teller.entries(pin)
        subject: dict[str, object] = {"session": pin.session, "receipt": pin.receipt}
        if question.over_head:
            tools, missing = teller.tools(pin)
            absent, shape = (*absent, *missing), pin.provider or ""
    elif question.at is not None:
        raise UsageError("a version is no session, so it has no positions")
    else:
        assert found.version is not None  # noqa: S101  # `select` gives one of the two
        version = found.version
        rendered, subject = render_version(repo, version, question.environment).rendered, {}
    subject |= {"tree": version.name, "version": version.number, "commit": version.id}
    regions = (0, len(rendered.data))
    if question.over_head:
        from pvc.ops.head_spans import head_of

        rendered, system = head_of(repo, version, rendered, tools, shape)
        regions = (system, len(rendered.data))
    span = _range(rendered, asked)
    options = None if question.options == Options() else question.options
    runs = blame(repo, rendered, version, span, entries, options=options, watch=question.watch)
    if options is None:
        keep_program(repo, version)  # so that the next blame finds all that it needs
    if question.over_head or oldest is not None:
        runs = tuple(
            replace(
                run,
                region="system" if run.start >= regions[0] else "tools",
                is_old=oldest is not None and run.time is not None and run.time < oldest,
            )
            for run in runs
        )
    if asked.first:
        from pvc.ops.first import with_first

        runs = with_first(repo, version, pin, runs)
    if absent and pin:
        runs = tuple(replace(run, value=_stood_for(run.origin, absent)) for run in runs)
    digest = (pin.head if question.over_head else pin.prompt) if absent and pin else None
    over = "head" if question.over_head else "prompt"
    return Blamed(subject, rendered, runs, over, digest, absent)


def _stood_for(origin: Origin, absent: tuple[Absence, ...]) -> Digest | None:
    """Give the digest of what a placeholder stands for; null for bytes that are here."""
    match origin:
        case FromBinding(pointer=pointer):
            number = entry_number(pointer)
            what = "values" if number is None else f"entry {number}"
        case FromTool():
            what = "tools"
        case _:
            return None
    return next((row.digest for row in absent if row.what == what), None)


def _observed(repo: Repository, pin: Pin, asked: Asked) -> Blamed:
    """Blame bytes that pvc did not render: whose text they are is found by alignment."""
    from pvc.ops.attribute import attribute, blame_attributed

    if pin.observed == "request":
        raise UsageError(
            f"session `{pin.session}` is a whole request body",
            hint="pvc miss tells who owns a byte of it",
        )
    rendered = rendered_of(repo, pin)
    start, end = _range(rendered, asked)
    runs = blame_attributed(repo, attribute(repo, rendered.data))
    subject: dict[str, object] = {"session": pin.session, "receipt": pin.receipt}
    return Blamed(subject, rendered, tuple(r for r in runs if r.start < end and r.end > start))


def _range(rendered: Rendered, asked: Asked) -> tuple[int, int]:
    if asked.section is None:
        return asked.range_of(rendered.data)
    found = rendered.section_range(asked.section)
    if found is None:
        names = dict.fromkeys(span.section for span in rendered.spans if span.section)
        raise NotFoundError(f"the prompt has no section `{asked.section}`", hint=", ".join(names))
    return found


def blame_subject(
    repo: Repository,
    word: str,
    environment: Mapping[str, object],
    byte_range: tuple[int, int] | None = None,
    section: str | None = None,
    *,
    at: int | None = None,
) -> Blamed:
    """Blame the prompt of a pin or of a version; `at` is a past position of the pin's session.

    `byte_range` is half-open. Raises `UsageError` when it lies outside of the prompt, and
    `NotFoundError` when nothing of `section` was rendered.
    """
    asked = Asked(byte_range, section=section)
    return _prompt(repo, select(repo, word), Question(environment, asked, Options(), at=at))
