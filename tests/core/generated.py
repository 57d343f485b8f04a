"""Histories for tests: written out as whole trees, or generated from a seed with known truth."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING

from pvc.core.blame import Change, Step
from pvc.model.names import CommitId, ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def blob_id(data: bytes) -> ObjectId:
    """git's own id of a blob."""
    head = b"blob %d\0" % len(data)
    return ObjectId(hashlib.sha1(head + data, usedforsecurity=False).hexdigest())


def commit_id(version: int, salt: str = "") -> CommitId:
    return CommitId(hashlib.sha1(f"{salt}{version}".encode(), usedforsecurity=False).hexdigest())


@dataclass
class FakeHistory:
    """A first-parent chain in a dict; `reads` counts the contents asked for."""

    blobs: dict[ObjectId, bytes] = field(default_factory=dict)
    taken: list[Step] = field(default_factory=list)
    reads: int = 0

    @classmethod
    def of(cls, trees: Sequence[Mapping[str, bytes]], salt: str = "") -> FakeHistory:
        """One commit per whole tree."""
        out = cls()
        before: Mapping[str, bytes] = {}
        for version, tree in enumerate(trees):
            changes = tuple(
                Change(path, out._put(before.get(path)), out._put(tree.get(path)))
                for path in sorted({*before, *tree})
                if before.get(path) != tree.get(path)
            )
            out.taken.append(Step(commit_id(version, salt), changes))
            before = tree
        return out

    def _put(self, data: bytes | None) -> ObjectId | None:
        if data is None:
            return None
        oid = blob_id(data)
        self.blobs[oid] = data
        return oid

    def steps(self) -> Iterable[Step]:
        return iter(self.taken)

    def blob(self, oid: ObjectId) -> bytes:
        self.reads += 1
        return self.blobs[oid]

    def part(self, start: int, end: int | None = None) -> FakeHistory:
        """The same contents, and only the steps from `start` to `end`."""
        return FakeHistory(self.blobs, self.taken[start:end])

    def numbers(self) -> dict[CommitId, int]:
        """Which version each commit is."""
        return {step.commit: version for version, step in enumerate(self.taken)}


@dataclass(frozen=True)
class Atom:
    """A word or a mark: what the differ should treat as one, and the version that wrote it."""

    text: str
    version: int
    joined: bool = False
    """Whether it follows the one before without a blank."""


Sentence = list[Atom]
Paragraph = list[Sentence]


@dataclass
class Page:
    """A file: paragraphs, wrapped at a width (0: one line each), and what stands before each."""

    width: int
    paragraphs: list[Paragraph]


@dataclass(frozen=True)
class Generated:
    """A history, the trees that it holds, and the version of each byte of the last (-1: blank)."""

    history: FakeHistory
    trees: list[dict[str, bytes]]
    truth: dict[str, list[int]]


SYLLABLES = """
    ka lo mi re tan ser vo pli den gra fu ish or ent al ba sto we nu qui
"""
COMMON = """
    the of to a and in is that for it as with on be not you this are or by
"""


class Author:
    """Edits pages as people do, and remembers which version wrote what."""

    def __init__(self, seed: int, files: int, paragraphs: int) -> None:
        self.random = Random(seed)  # noqa: S311 - text for tests, not secrets
        self.version = 0
        syllables = SYLLABLES.split()
        rare = {
            "".join(self.random.choices(syllables, k=self.random.choice((2, 3, 3, 4))))
            for _ in range(2500)
        }
        self.words = COMMON.split() + sorted(rare)
        self.weights = [1 / (rank + 3) for rank in range(len(self.words))]
        self.pages = {
            f"p/{k:02}.md": Page(
                self.random.choice((0, 0, 72, 90)), [self.paragraph() for _ in range(paragraphs)]
            )
            for k in range(files)
        }
        self.born = files

    def word(self) -> str:
        return self.random.choices(self.words, self.weights)[0]

    def sentence(self) -> Sentence:
        out: Sentence = []
        for k in range(self.random.randint(5, 22)):
            word = self.word()
            out.append(Atom(word.capitalize() if k == 0 else word, self.version))
            if k and self.random.random() < 0.08:
                out.append(Atom(self.random.choice(",;:"), self.version, joined=True))
        return [*out, Atom(self.random.choice("....?!"), self.version, joined=True)]

    def paragraph(self) -> Paragraph:
        if self.random.random() < 0.15:
            heading = [Atom("##", self.version), *(Atom(self.word(), self.version) for _ in "abc")]
            return [heading]
        bullet = [[Atom("-", self.version)]] if self.random.random() < 0.25 else []
        return bullet + [self.sentence() for _ in range(self.random.randint(1, 6))]

    def step(self) -> None:
        """One version: one to three edits, or nothing in one of ten."""
        self.version += 1
        if self.random.random() < 0.1:
            return
        kinds = {
            self.replace_words: 36,
            self.insert_words: 10,
            self.delete_words: 8,
            self.rewrite_sentence: 15,
            self.insert_sentence: 8,
            self.delete_sentence: 5,
            self.insert_paragraph: 6,
            self.delete_paragraph: 3,
            self.move_paragraphs: 5,
            self.copy_paragraph: 1,
            self.reflow: 2,
            self.rename: 1,
        }
        touched = self.random.sample(sorted(self.pages), self.random.randint(1, 3))
        for path in touched:
            if path in self.pages:
                self.random.choices(list(kinds), list(kinds.values()))[0](path)

    def _place(self, path: str) -> tuple[Paragraph, int] | None:
        """A sentence of some length."""
        found = [
            (paragraph, k)
            for paragraph in self.pages[path].paragraphs
            for k, sentence in enumerate(paragraph)
            if len(sentence) > 5
        ]
        return self.random.choice(found) if found else None

    def replace_words(self, path: str) -> None:
        if place := self._place(path):
            sentence = place[0][place[1]]
            for _ in range(self.random.randint(1, 3)):
                at = self.random.randrange(len(sentence) - 1)
                old = sentence[at]
                new = self.word()
                if old.text.isalpha() and new != old.text.lower():
                    text = new.capitalize() if old.text[0].isupper() else new
                    sentence[at] = Atom(text, self.version)

    def insert_words(self, path: str) -> None:
        if place := self._place(path):
            sentence = place[0][place[1]]
            at = self.random.randrange(1, len(sentence) - 1)
            at -= sentence[at].joined
            sentence[at:at] = (
                [Atom(self.word(), self.version) for _ in range(self.random.randint(1, 4))]
                if at
                else []
            )

    def delete_words(self, path: str) -> None:
        if place := self._place(path):
            sentence = place[0][place[1]]
            at = self.random.randrange(1, len(sentence) - 3)
            if not any(atom.joined for atom in sentence[at : at + 3]):
                del sentence[at : at + self.random.randint(1, 2)]

    def rewrite_sentence(self, path: str) -> None:
        if place := self._place(path):
            place[0][place[1]] = self.sentence()

    def insert_sentence(self, path: str) -> None:
        if place := self._place(path):
            place[0].insert(place[1], self.sentence())

    def delete_sentence(self, path: str) -> None:
        if (place := self._place(path)) and len(place[0]) > 2:
            del place[0][place[1]]

    def insert_paragraph(self, path: str) -> None:
        page = self.pages[path].paragraphs
        page.insert(self.random.randint(0, len(page)), self.paragraph())

    def delete_paragraph(self, path: str) -> None:
        page = self.pages[path].paragraphs
        if len(page) > 4:
            del page[self.random.randrange(len(page))]

    def move_paragraphs(self, path: str) -> None:
        source = self.pages[path].paragraphs
        if len(source) > 6:
            at = self.random.randrange(len(source) - 2)
            size = self.random.randint(1, 2)
            taken = source[at : at + size]
            if sum(len(a.text) for sentences in taken for s in sentences for a in s) < 60:
                return  # a heading alone cannot be told from one that was written anew
            del source[at : at + size]
            target = self.pages[self.random.choice(sorted(self.pages))].paragraphs
            place = self.random.randint(0, len(target))
            target[place:place] = taken

    def copy_paragraph(self, path: str) -> None:
        source = self.random.choice(self.pages[path].paragraphs)
        copy = [[Atom(a.text, self.version, a.joined) for a in sentence] for sentence in source]
        self.pages[path].paragraphs.append(copy)

    def reflow(self, path: str) -> None:
        self.pages[path].width = self.random.choice((0, 60, 72, 80, 90))

    def rename(self, path: str) -> None:
        self.pages[f"p/{self.born:02}.md"] = self.pages.pop(path)
        self.born += 1

    def write(self, path: str) -> tuple[str, list[int]]:
        """The text of a page, and the version of each of its bytes; blanks have none."""
        page = self.pages[path]
        text, versions = [], []
        for paragraph in page.paragraphs:
            column = 0
            for k, atom in enumerate(atom for sentence in paragraph for atom in sentence):
                wraps = page.width and column + 1 + len(atom.text) > page.width
                gap = "" if atom.joined or not k else "\n" if wraps else " "
                column = len(atom.text) if gap == "\n" else column + len(gap + atom.text)
                text.append(gap + atom.text)
                versions += [-1] * len(gap) + [atom.version] * len(atom.text)
            text.append("\n\n")
            versions += [-1, -1]
        return "".join(text), versions

    def tree(self) -> dict[str, bytes]:
        return {path: self.write(path)[0].encode() for path in self.pages}


def generate(seed: int, versions: int, files: int = 6, paragraphs: int = 12) -> Generated:
    """A history of `versions` commits by one author; equal seeds give equal histories."""
    author = Author(seed, files, paragraphs)
    trees = [author.tree()]
    for _ in range(versions - 1):
        author.step()
        trees.append(author.tree())
    truth = {path: author.write(path)[1] for path in author.pages}
    return Generated(FakeHistory.of(trees), trees, truth)


@dataclass(frozen=True)
class Quality:
    """Bytes against the truth, in shares of the non-blank bytes that some later version wrote."""

    changed: int
    stale: int
    late: int
    crumbs: int
    true_crumbs: int

    @property
    def wrong(self) -> float:
        return (self.stale + self.late) / self.changed


def crumbs(versions: Sequence[int]) -> int:
    """Stretches of one version with fewer than four non-blank bytes."""
    marks = [version for version in versions if version >= 0]
    return sum(len(list(group)) < 4 for _, group in groupby(marks))


def quality(generated: Generated, answer: Mapping[str, Sequence[int]]) -> Quality:
    """Compare an answer, one version a byte, with the truth."""
    changed = stale = late = found = wanted = 0
    for path, truth in generated.truth.items():
        pairs = [(a, t) for a, t in zip(answer[path], truth, strict=True) if t >= 0]
        changed += sum(t > 0 for _, t in pairs)
        stale += sum(a < t for a, t in pairs)
        late += sum(a > t for a, t in pairs)
        found += crumbs([a for a, _ in pairs])
        wanted += crumbs(truth)
    return Quality(changed, stale, late, found, wanted)
