"""Read a `pvc.toml`: bytes → `Manifest`. Pure.

    format = 1                                  required
    kind = "tree"                               or "pack"; "tree" when absent
    name = "agent"                              required
    form = "loom"                               required
    files = ["**/*.md"]                         globs, or `entry = "FILE"`; each form has a default
    bindings = ["name"]                         form plain: its placeholders
    dynamic = ["references"]                    ids of sections that may change every turn
    packs = {house = 3}                         a tree's packs, by version number
    section = [{path, order, plane, scope, complete}]
    budget = {chars, tokens}
    markers = {after = ["surface:1h"]}
    provider = {shape = "openai-chat", model = "gpt-5", platform = "azure"}
    check = {ignore = [{code, path, reason}]}

Rule 1: an unknown key is an error with the near name, never ignored: a key that does nothing is a
key that somebody relies on.
Rule 2: only the words are judged here; whether a named file exists is known to `dialects.base`.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from pvc.errors import UsageError
from pvc.model.manifest import (
    FORMAT,
    MANIFEST,
    Budget,
    Form,
    Ignore,
    Kind,
    Manifest,
    Marker,
    PackUse,
    Provider,
    SectionRow,
)
from pvc.model.names import PackName, TreeName
from pvc.model.span import Plane
from pvc.model.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["MANIFEST", "near", "parse_manifest"]

E = TypeVar("E", bound=StrEnum)
N = TypeVar("N", TreeName, PackName)

DEFAULT_FILES = {
    Form.LOOM: ("**/*.loom", "**/*.md"),
    Form.PLAIN: ("**/*.md",),
    Form.CLIO: ("**/*.md",),
    Form.PANTO: ("**/SYSTEM.md", "**/APPEND_SYSTEM.md"),
    Form.RAKU: ("**/*.md",),
}
SHAPE_WORDS = {
    "anthropic": "anthropic.messages",
    "openai-chat": "openai.chat",
    "openai-responses": "openai.responses",
}
"""The words of `[provider]` and of `pvc render --emit`, and the shapes that they stand for."""
STANDS_ON = {
    Form.CLIO: "builtin-clio",
    Form.HARNESS: "builtin-harness",
    Form.PANTO: "builtin-panto",
    Form.RAKU: "builtin-raku",
}
"""Packs without which a form's prompts would lack what its source holds as constants."""
_EVERY_FILE = ("**/*",)
_BINDING = re.compile(r"[a-z0-9_]+")
_FEW = 16
_TTL = re.compile(r"[1-9][0-9]{0,4}[smh]")


def default_files(form: Form) -> tuple[str, ...]:
    """Give the globs of a manifest that names none."""
    return DEFAULT_FILES.get(form, _EVERY_FILE)


def parse_manifest(data: bytes, *, at: str = MANIFEST) -> Manifest:
    """Parse a manifest.

    Raises `DecodeError` when it is no TOML, `UsageError` when it says something that is not
    understood.
    """
    return _Table(parse_toml(data, at), at).manifest()


class _Table:
    """One table of the manifest; every key is taken once, and what is left over is unknown."""

    def __init__(self, table: dict[str, object], at: str) -> None:
        self.table = table
        self.at = at
        self.taken: list[str] = []

    # --- values ---

    def take(self, key: str, wanted: type, *, required: bool = False) -> object:
        """Take the value of `key`; null when it is absent."""
        self.taken.append(key)
        if key not in self.table:
            if required:
                raise UsageError(f"`{key}` is missing", at=self.at, hint=_example(key))
            return None
        value = self.table[key]
        if type(value) is not wanted:  # a truth value is an int to isinstance
            raise UsageError(f"`{key}` is {_NOUNS[wanted]}, not {_noun(value)}", at=self.at)
        return value

    def text(self, key: str, *, required: bool = False) -> str:
        value = self.take(key, str, required=required)
        if required and value == "":
            raise UsageError(f"`{key}` is empty", at=self.at)
        return "" if value is None else str(value)

    def number(self, key: str, *, least: int | None = None) -> int | None:
        value = self.take(key, int)
        if not isinstance(value, int):
            return None
        if least is not None and value < least:
            raise UsageError(f"`{key}` is {value}, and {least} is the least", at=self.at)
        return value

    def choice(self, key: str, kind: type[E]) -> E | None:
        value = self.text(key)
        return _choice(value, kind, key, self.at) if key in self.table else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts, none empty and each once."""
        found: list[str] = []
        for item in self._list(key):
            if not isinstance(item, str) or not item:
                raise UsageError(f"`{key}` is a list of texts, none empty", at=self.at)
            if item in found:
                raise UsageError(f"`{key}` names `{item}` twice", at=self.at)
            found.append(item)
        return tuple(found)

    def _list(self, key: str) -> list[object]:
        value = self.take(key, list)
        return value if isinstance(value, list) else []

    def sub(self, key: str) -> _Table:
        """Take a table; an absent one is empty."""
        value = self.take(key, dict)
        return _Table(value if isinstance(value, dict) else {}, f"{self.at} [{key}]")

    def subs(self, key: str) -> Iterable[_Table]:
        """Take a list of tables."""
        for number, item in enumerate(self._list(key), 1):
            at = f"{self.at} [[{key}]] {number}"
            if not isinstance(item, dict):
                raise UsageError(f"a `{key}` is a table, not {_noun(item)}", at=at)
            yield _Table(item, at)

    def done(self) -> None:
        """Refuse whatever was not taken."""
        for key in self.table:
            if key not in self.taken:
                raise UsageError(f"unknown key `{key}`", at=self.at, hint=near(key, self.taken))

    # --- the manifest ---

    def manifest(self) -> Manifest:
        if (number := self.take("format", int, required=True)) != FORMAT:
            hint = "written by a newer pvc?" if isinstance(number, int) and number > FORMAT else ""
            raise UsageError(f"`format` is {number}, not {FORMAT}", at=self.at, hint=hint)
        kind = self.choice("kind", Kind) or Kind.TREE
        name = self.text("name", required=True)
        form = _choice(self.text("form", required=True), Form, "form", self.at)
        manifest = Manifest(
            kind=kind,
            name=_named(PackName, name, self.at)
            if kind is Kind.PACK
            else _named(TreeName, name, self.at),
            form=form,
            entry=self._path("entry", self.text("entry")),
            files=self._files(form),
            bindings=self._bindings(form),
            packs=self._packs(kind),
            sections=tuple(self._sections()),
            dynamic=self.texts("dynamic"),
            budget=self._budget(),
            markers=self._markers(),
            ignore=self._ignore(),
            provider=self._provider(),
        )
        self.done()
        return manifest

    def _files(self, form: Form) -> tuple[str, ...]:
        files = self.texts("files")
        if "entry" in self.table:
            if files:
                raise UsageError("`entry` and `files` exclude each other", at=self.at)
            return ()
        if "files" in self.table and not files:
            raise UsageError("`files` is empty", at=self.at, hint="leave it out for the default")
        return tuple(self._path("files", f) for f in files) or default_files(form)

    def _path(self, key: str, path: str) -> str:
        if path and any(part in ("", ".", "..") for part in path.split("/")):
            raise UsageError(
                f"`{key}` names `{path}`",
                at=self.at,
                hint="a path inside the folder, its parts joined by `/`",
            )
        return path

    def _bindings(self, form: Form) -> tuple[str, ...]:
        bindings = self.texts("bindings")
        if bindings and form is not Form.PLAIN:
            raise UsageError(f"form `{form}` has its own bindings", at=f"{self.at} `bindings`")
        for name in bindings:
            if not _BINDING.fullmatch(name):
                raise UsageError(
                    f"`{name}` is no binding name", at=self.at, hint="letters a-z, digits and _"
                )
        return bindings

    def _packs(self, kind: Kind) -> tuple[PackUse, ...]:
        table = self.sub("packs")
        if kind is Kind.PACK and table.table:
            raise UsageError("a pack stands on no other pack", at=table.at)
        uses = [
            PackUse(_named(PackName, name, table.at), table.number(name, least=1) or 1)
            for name in table.table
        ]
        return tuple(sorted(uses, key=lambda use: use.name))

    def _sections(self) -> Iterable[SectionRow]:
        seen: list[str] = []
        for table in self.subs("section"):
            path = self._path("path", table.text("path", required=True))
            if path in seen:
                raise UsageError(f"`{path}` has two sections", at=table.at)
            seen.append(path)
            complete = table.take("complete", bool)
            yield SectionRow(
                path,
                order=table.number("order"),
                plane=table.choice("plane", Plane),
                scope=table.text("scope"),
                complete=complete is True,
            )
            table.done()

    def _budget(self) -> Budget:
        table = self.sub("budget")
        budget = Budget(table.number("chars", least=1), table.number("tokens", least=1))
        table.done()
        return budget

    def _markers(self) -> tuple[Marker, ...]:
        table = self.sub("markers")
        markers = [_marker(text, table.at) for text in table.texts("after")]
        table.done()
        return tuple(markers)

    def _provider(self) -> Provider:
        table = self.sub("provider")
        shape = table.text("shape")
        if shape and shape not in SHAPE_WORDS:
            hint = near(shape, SHAPE_WORDS)
            raise UsageError(f"`{shape}` is not a request shape", at=table.at, hint=hint)
        provider = Provider(SHAPE_WORDS.get(shape, ""), table.text("model"), table.text("platform"))
        table.done()
        return provider

    def _ignore(self) -> tuple[Ignore, ...]:
        check = self.sub("check")
        rows = []
        for table in check.subs("ignore"):
            rows.append(
                Ignore(
                    code=table.text("code", required=True),
                    reason=table.text("reason", required=True),
                    path=table.text("path"),
                )
            )
            table.done()
        check.done()
        return tuple(rows)


def _named(kind: type[N], text: str, at: str) -> N:
    try:
        return kind(text)
    except UsageError as error:
        raise UsageError(error.message, at=at, hint=error.hint) from None


def _marker(text: str, at: str) -> Marker:
    plane, colon, ttl = text.partition(":")
    if colon and not _TTL.fullmatch(ttl):
        raise UsageError(f"`{ttl}` is no lifetime", at=at, hint="such as `5m` or `1h`")
    return Marker(_choice(plane, Plane, "after", at), ttl)


def _choice(text: str, kind: type[E], key: str, at: str) -> E:
    try:
        return kind(text)
    except ValueError:
        names = [str(member) for member in kind]
        raise UsageError(
            f"`{key}` is `{text}`, not one of {', '.join(names)}", at=at, hint=near(text, names)
        ) from None


def near(word: str, names: Iterable[str]) -> str:
    """Hint at the name that `word` may have meant, or at all of them if they are few."""
    known = sorted(names)
    close = get_close_matches(word, known, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known: {', '.join(known)}" if 0 < len(known) <= _FEW else ""


_NOUNS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def _noun(value: object) -> str:
    return _NOUNS.get(type(value), "another kind of value")


def _example(key: str) -> str:
    examples = {"format": "format = 1", "name": 'name = "agent"', "form": 'form = "plain"'}
    return f"add `{examples[key]}`" if key in examples else ""
