"""The one renderer: runs a compiled program over an environment, giving bytes and span tuples.

The launch path (`pvc pin`) runs this very module at every session start, so it imports nothing at
its top; `core.compile` makes the programs and `model.span.lift` gives the tuples their types.

A program is `(form, rule, fields, blocks)`; a block is a tuple of instructions:

    ("lit", data, path, name, offset)               bytes of a file
    ("text", name, field, path, at)                 the text at `field`
    ("list", name, field, joint, ordered, path, at) its entries, joined
    ("pick", field, ((choice, block), …))           the block of the choice
    ("guard", field, block)                         the block, when the field holds anything
    ("section", name, trim, block)                  a named part
    ("join", joint, edges, (instruction, …))        parts that are not empty, glued
    ("merge", joint, edges, field, orders, dynamic, rows)
                                                    rows `(id, order, complete, plane, section)`
                                                    and the records at `field`, arranged by
                                                    `core.sections`, glued
    ("tidy", block)                                 line ends and blank lines put in order

`core.parts` has more, for sessions and for forms that send their sections apart, and `core.inputs`
for forms whose inputs are more than texts and lists; each is loaded by the first program that asks
for it.

Rule 1: there is no scanner here. Placeholders were found by the dialect, so a filled value cannot
open another one.
Rule 2: every byte gets an origin, joints too. Deleting bytes (trim, tidy, edges) cuts spans and
never moves an origin.
Rule 3: texts are trimmed by Loom's set (`WHITE`), which is not Python's: U+00A0 and U+3000 stay.
Rule 4: fields are checked against the program before anything is rendered; the message names the
JSON pointer.

Between instructions a text is a *rope*: a list of `(bytes, origin, offset, section)` pieces. One
without bytes whose origin is `BLOCK_END` ends a block of the prompt within an instruction.
"""

from pvc.errors import CorruptError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    Origin = tuple[str, ...]
    Piece = tuple[bytes, Origin, int, str]
    Rope = list[Piece]
    Range = tuple[int, int]
    Span = tuple[int, int, Origin, int, str]
    Instruction = tuple[Any, ...]  # as the table above says; the first item tells which
    Block = tuple[Instruction, ...]
    Field = tuple[str, str, bool, tuple[str, ...], str, tuple[Any, ...]]
    Program = tuple[str, int, tuple[Any, ...], tuple[Any, ...]]
    Values = dict[str, Any]

FORMAT = 1
RICH_KINDS = (
    *("optional", "truth", "number", "texts", "object", "part", "objects", "fragment", "full"),
)

# Loom's white space: tab, LF, VT, FF, CR, space; U+0085, U+200E, U+200F, U+2028, U+2029.
WHITE = b"\t\n\v\f\r "
WIDE_WHITE = (b"\xc2\x85", b"\xe2\x80\x8e", b"\xe2\x80\x8f", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
LINE_WHITE = (b"\t", b"\v", b"\f", b"\r", b" ", *WIDE_WHITE)
LINE_ENDS = b"\r\n"
BLOCK_END = ("block",)


def run(program: "Program", environment: object) -> "tuple[bytes, list[Span], tuple[int, ...]]":
    """Render `program` over `environment`, a mapping of parsed JSON.

    Returns `(data, spans, block_ends)`, a span being `(start, end, origin, offset, section)`.
    Raises `UsageError` when the environment does not fit the program's fields, `CorruptError` when
    the program is none: one from the cache may be sealed and still not be what was compiled.
    """
    try:
        return _run(program, environment)
    except UnicodeError:
        raise  # of a value, which the caller words
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise CorruptError("a compiled program makes no sense") from None


def _run(program: "Program", environment: object) -> "tuple[bytes, list[Span], tuple[int, ...]]":
    _form, _rule, fields, blocks = program
    values = check(fields, environment, "")
    data: list[bytes] = []
    spans: list[Span] = []
    ends, at = [], 0
    for block in blocks:
        for piece, origin, offset, section in run_block(block, values):
            if not piece:
                if origin == BLOCK_END:
                    ends.append(at)
                continue
            end = at + len(piece)
            last = spans[-1] if spans else None
            if (
                last
                and last[2] == origin
                and last[4] == section
                and (origin[0] == "glue" or last[3] + last[1] - last[0] == offset)
            ):
                spans[-1] = (last[0], end, origin, last[3], section)
            else:
                spans.append((at, end, origin, offset, section))
            data.append(piece)
            at = end
        ends.append(at)
    return b"".join(data), spans, tuple(ends)


# --- the environment ------------------------------------------------------------------------


def check(fields: "Iterable[Field]", environment: object, pointer: str) -> "Values":
    """Return `environment` with defaults filled in, after checking it against `fields`."""
    if not isinstance(environment, dict):
        raise UsageError("an environment is a JSON object", at=pointer or "environment")
    known = {field[0] for field in fields}
    for key in environment:
        if key not in known:
            raise UsageError(
                f"unknown key `{key}` in the environment",
                at=f"{pointer}/{key}",
                hint=near(key, known),
            )
    missing = [f for f in fields if f[2] and f[0] not in environment]
    if missing:
        raise UsageError(
            f"the environment has no {', '.join(f'`{f[0]}`' for f in missing)}",
            at=f"{pointer}/{missing[0][0]}",
            hint=_how_to_give(missing, pointer),
        )
    return {f[0]: _checked(f, environment, f"{pointer}/{f[0]}") for f in fields}


def _checked(field: "Field", environment: "Values", pointer: str) -> object:
    if field[1] in RICH_KINDS:
        from pvc.core.inputs import value  # known to the forms that have such fields

        return value(field, environment, pointer)
    return _value(field, environment, pointer)


def _value(field: "Field", environment: "Values", pointer: str) -> object:
    name, kind, _, choices, tag, variants = field
    if kind in ("records", "whole", "flag"):
        from pvc.core.sections import value_of  # known to the forms that have such fields

        return value_of(field, environment.get(name), pointer, check)
    if kind == "any":
        return environment.get(name)
    if name not in environment:
        return [] if kind == "list" else None if kind == "nullable" else ""
    value = environment[name]
    if kind == "nullable" and (value is None or _is_blank(value)):
        return None
    if kind == "list":
        if not isinstance(value, list):
            raise UsageError(
                f"`{name}` is a list of texts, not {kind_of(value)}",
                at=pointer,
                hint=f'in the file of --env: "{name}": ["…", "…"]',
            )
        return [checked_text(item, name, f"{pointer}/{i}") for i, item in enumerate(value)]
    if kind == "variant":
        return _variant(name, value, choices, tag, variants, pointer)
    text = checked_text(value, name, pointer)
    if kind == "choice":
        _one_of(name, text, choices, pointer)
    return text


def _how_to_give(missing: "list[Field]", pointer: str) -> str:
    """Write missing fields as words for the command line, which reach no deeper than the top."""
    if pointer:
        return f"`{pointer}` stands in the file of --env"
    return " ".join(f"--set {f[0]}={f[3][0] if f[3] else '…'}" for f in missing)


def _is_blank(value: object) -> bool:
    if type(value) is not str:
        return False
    start, end = trimmed(value.encode(errors="replace"))
    return start == end


def _variant(
    name: str,
    value: object,
    choices: "tuple[str, ...]",
    tag: str,
    variants: "tuple[Any, ...]",
    pointer: str,
) -> "Values":
    if type(value) is str:  # `--set network=NetworkOpen` for {"kind": "NetworkOpen"}
        value = {tag: value}
    if not isinstance(value, dict) or tag not in value:
        raise UsageError(f"`{name}` is an object with `{tag}`", at=pointer)
    choice = checked_text(value[tag], tag, f"{pointer}/{tag}")
    _one_of(tag, choice, choices, f"{pointer}/{tag}")
    rest = {key: item for key, item in value.items() if key != tag}
    return {tag: choice, **check(variants[choices.index(choice)], rest, pointer)}


def _one_of(name: str, text: str, choices: "tuple[str, ...]", pointer: str) -> None:
    if text not in choices:
        raise UsageError(
            f"`{name}` is `{text}`, which is not one of its {len(choices)} values",
            at=pointer,
            hint=near(text, choices),
        )


def checked_text(value: object, name: str, pointer: str) -> str:
    """Return a text of the environment that has UTF-8."""
    if type(value) is not str:  # a number is a `str` of its own type
        raise UsageError(f"`{name}` takes text, not {kind_of(value)}", at=pointer)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"`{name}` holds a lone surrogate", at=pointer) from None
    return value


def kind_of(value: object) -> str:
    """Name the kind of a JSON value, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "text" if type(value) is str else "a number"


def near(word: str, names: "Collection[str]") -> str:
    """Hint at the name that `word` may have meant, or at all of them."""
    from difflib import get_close_matches  # only where something is wrong already

    near = get_close_matches(word, sorted(names), 1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"known: {', '.join(sorted(names))}" if names else "this prompt takes no values"


def look_up(values: "Any", field: "tuple[str, ...]") -> "Any":
    """Find the value at `field`, or null."""
    for key in field:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


# --- instructions ---------------------------------------------------------------------------


def run_block(block: "Block", values: "Values") -> "Rope":
    """Run the instructions of a block, one rope after the other."""
    rope: Rope = []
    for instruction in block:
        rope += _RUN[instruction[0]](instruction, values)
    return rope


def _lit(instruction: "Instruction", _values: "Values") -> "Rope":
    _, data, path, name, offset = instruction
    return [(data, ("source", path, name), offset, "")]


def _text_hole(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, path, at = instruction
    text = look_up(values, field)
    origin = ("binding", name, "/" + "/".join(field), path, str(at))
    return [(text.encode(), origin, 0, "")] if text else []


def _list_hole(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, joint, ordered, path, at = instruction
    pointer = "/" + "/".join(field)
    rope: Rope = []
    for data, index, offset in _entries(values, field, ordered=ordered):
        if rope:
            rope.append((joint, ("glue", "list-joint"), 0, ""))
        rope.append((data, ("binding", name, f"{pointer}/{index}", path, str(at)), offset, ""))
    return rope


def _entries(
    values: "Values", field: "tuple[str, ...]", *, ordered: bool
) -> "list[tuple[bytes, int, int]]":
    """Trimmed entries as `(bytes, index, bytes trimmed in front)`: no empties, each once."""
    seen: set[bytes] = set()
    entries = []
    for index, text in enumerate(look_up(values, field) or ()):
        data = text.encode()
        start, end = trimmed(data)
        entry = data[start:end]
        if entry and entry not in seen:
            seen.add(entry)
            entries.append((entry, index, start))
    return sorted(entries) if ordered else entries


def _pick(instruction: "Instruction", values: "Values") -> "Rope":
    _, field, choices = instruction
    chosen = look_up(values, field)
    for choice, block in choices:
        if choice == chosen:
            return run_block(block, values)
    return []


def _guard(instruction: "Instruction", values: "Values") -> "Rope":
    _, field, block = instruction
    value = look_up(values, field)
    if isinstance(value, list):
        held = bool(_entries(values, field, ordered=False))
    else:
        start, end = trimmed((value or "").encode())
        held = start < end
    return run_block(block, values) if held else []


def _section(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, trim, block = instruction
    rope = run_block(block, values)
    if trim:
        rope = cut(rope, [trimmed(b"".join([piece[0] for piece in rope]))])
    return [(data, origin, offset, name) for data, origin, offset, _ in rope]


def _join(instruction: "Instruction", values: "Values") -> "Rope":
    _, joint, edges, parts = instruction
    return glued([_RUN[part[0]](part, values) for part in parts], joint, edges=edges)


def glued(
    ropes: "list[Rope]", joint: bytes, *, edges: bool, planes: "Sequence[str]" = ()
) -> "Rope":
    """Glue the ropes that are not empty; with `planes`, a block ends where the plane changes."""
    texts = [b"".join([piece[0] for piece in rope]) for rope in ropes]
    held = [i for i, text in enumerate(texts) if (text.strip(LINE_ENDS) if edges else text)]
    if not held:  # nothing but line ends: the first such part stands alone, so it stays whole
        return next((rope for rope, text in zip(ropes, texts, strict=True) if text), [])
    rope: Rope = []
    plane = planes[held[0]] if planes else ""
    for i in held:
        if planes and planes[i] != plane:
            plane = planes[i]
            rope.append((b"", BLOCK_END, 0, ""))
        text, part = texts[i], ropes[i]
        if edges:
            start = 0 if i == held[0] else len(text) - len(text.lstrip(LINE_ENDS))
            end = len(text) if i == held[-1] else len(text.rstrip(LINE_ENDS))
            part = cut(part, [(start, end)])
        if i != held[0]:
            rope.append((joint, ("glue", "joint"), 0, ""))
        rope += part
    return rope


def _merge(instruction: "Instruction", values: "Values") -> "Rope":
    from pvc.core.sections import merge  # for the one form whose launch brings sections along

    _, joint, edges, field, orders, dynamic, rows = instruction
    prompt, _ = merge(rows, values[field], field, dict(orders), dynamic)
    parts = [row[4] for row in prompt]
    ropes = [_RUN[part[0]](part, values) for _, part in parts]
    return glued(ropes, joint, edges=edges, planes=[plane for plane, _ in parts])


def _given(instruction: "Instruction", _values: "Values") -> "Rope":
    _, text, name, pointer = instruction
    return [(text.encode(), ("binding", name, pointer, "", "0"), 0, name)]


def _tidy(instruction: "Instruction", values: "Values") -> "Rope":
    rope = run_block(instruction[1], values)
    return cut(rope, tidied(b"".join([piece[0] for piece in rope])))


class _Instructions(dict):  # type: ignore[type-arg]  # no subscript at run time: typing is slow
    """What runs each instruction; the first that is not here fetches those of richer forms."""

    def __missing__(self, word: str) -> "Callable[[Instruction, Values], Rope]":
        from pvc.core import parts

        if word in parts.RUN:
            self.update(parts.RUN)
            return parts.RUN[word]
        from pvc.core.inputs import RUN

        self.update(RUN)
        return RUN[word]


_RUN: "dict[str, Callable[[Instruction, Values], Rope]]" = _Instructions()
_RUN |= {
    "lit": _lit,
    "text": _text_hole,
    "list": _list_hole,
    "pick": _pick,
    "guard": _guard,
    "section": _section,
    "join": _join,
    "merge": _merge,
    "given": _given,
    "tidy": _tidy,
}


# --- trimming -------------------------------------------------------------------------------


def trimmed(data: bytes, start: int = 0, end: "int | None" = None) -> "Range":
    """Find what is left of `data[start:end]` when white space goes from both ends."""
    end = trimmed_end(data, start, len(data) if end is None else end)
    at = start
    while at < end:
        if data[at] in WHITE:
            at += 1
        elif data.startswith(WIDE_WHITE, at):
            at += 2 if data[at] == 0xC2 else 3
        else:
            break
    if start < at < end and data[at - 1] == 0x20 and data[at] >= 0xCC and _extends(data, at):
        at -= 1  # a space that carries a combining mark is another character
    return at, end


def trimmed_end(data: bytes, start: int, end: int) -> int:
    """Find where `data[start:end]` ends once its trailing white space is gone."""
    while end > start:
        if data[end - 1] in WHITE:
            end -= 1
        elif data.endswith(WIDE_WHITE, start, end):
            end -= 2 if data[end - 2] == 0xC2 else 3
        else:
            break
    return end


def _extends(data: bytes, at: int) -> bool:
    from pvc.model.graphemes import extends  # a table, needed in one text of a million

    return extends(ord(data[at : at + 4].decode(errors="replace")[0]))


def tidied(data: bytes) -> "list[Range]":
    """Find the ranges of `data` that Loom's last step keeps: ascending, not touching.

    Trailing white space leaves every line, runs of blank lines shrink to one, none is left at
    either end, and there is no final newline.
    """
    if _is_tidy(data):
        return [(0, len(data))] if data else []
    lines = []
    at = 0
    for line in data.split(b"\n"):
        lines.append((at, trimmed_end(data, at, at + len(line)), at + len(line)))
        at += len(line) + 1
    kept: list[tuple[int, int, int]] = []
    blank = True  # true at the start: no blank line in front
    for start, end, line_end in lines:
        if start < end or not blank:
            kept.append((start, end, line_end))
        blank = start == end
    if kept and kept[-1][0] == kept[-1][1]:
        kept.pop()
    ranges: list[Range] = []
    for start, end, line_end in kept:
        ranges += [(start, end), (line_end, line_end + 1)]
    return _touching(ranges[:-1])


def _is_tidy(data: bytes) -> bool:
    """Whether there is nothing to tidy: most prompts, told by searches that run in C."""
    return (
        data[:1] != b"\n"
        and trimmed_end(data, 0, len(data)) == len(data)
        and b"\n\n\n" not in data
        and not any(line.endswith(LINE_WHITE) for line in data.split(b"\n"))
    )


def _touching(ranges: "list[Range]") -> "list[Range]":
    joined: list[Range] = []
    for start, end in ranges:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        elif start < end:
            joined.append((start, end))
    return joined


def cut(rope: "Rope", ranges: "list[Range]") -> "Rope":
    """Keep the ascending `ranges` of a rope's bytes; origins stay with their bytes."""
    if ranges == [(0, sum([len(piece[0]) for piece in rope]))]:
        return rope
    kept: Rope = []
    at, pieces = 0, iter(rope)
    piece = next(pieces, None)
    for start, end in ranges:
        while piece is not None and at + len(piece[0]) <= start:
            at += len(piece[0])
            piece = next(pieces, None)
        while piece is not None and at < end:
            data, origin, offset, section = piece
            a, b = max(start - at, 0), min(end - at, len(data))
            kept.append((data[a:b], origin, offset + a, section))
            if at + len(data) > end:
                break
            at += len(data)
            piece = next(pieces, None)
    return kept


# --- programs as bytes ----------------------------------------------------------------------
#
#     3 s4 b9 n ⏎  2 0 1  name lit bytes
#
# Every distinct value once: so rich programs, which say the same conditions and texts many times,
# stay small and are loaded in one pass. The line says what each value but the tuples is; then each
# tuple's size and the places of its items, an inner one before the tuple that holds it; then texts.


def dump(value: object) -> bytes:
    """Write tuples of bytes, texts, numbers, truth values and null; equal values, equal bytes."""
    from sys import byteorder

    places: dict[Any, int] = {}
    _collect(value, places)
    atoms = [*places]
    numbers: list[int] = []
    _place(value, places, numbers)
    texts = [text for mark, text in atoms if mark in "sb"]
    words = [f"{mark}{len(held) if mark in 'sb' else held}" for mark, held in atoms]
    line = " ".join([str(len(numbers)), *words]).encode() + b"\n"
    return line + b"".join([n.to_bytes(4, byteorder) for n in numbers] + texts)


def _collect(value: object, places: "dict[Any, int]") -> None:
    """Give every distinct value that is no tuple its place."""
    if isinstance(value, tuple):
        for item in value:
            _collect(item, places)
    else:
        places.setdefault(_atom(value), len(places))


def _place(value: object, places: "dict[Any, int]", numbers: "list[int]") -> int:
    """Give the place of a value; a tuple that has none yet is written behind its items."""
    if not isinstance(value, tuple):
        return places[_atom(value)]
    items = tuple([_place(item, places, numbers) for item in value])
    if items not in places:
        numbers += (len(items), *items)
    return places.setdefault(items, len(places))


def _atom(value: object) -> "tuple[str, object]":
    """Write a value that is no tuple as its mark and what stands behind it."""
    if value is None or value is True or value is False:
        return {None: "n", True: "t", False: "f"}[value], ""
    if isinstance(value, int):
        return "i", value
    if isinstance(value, bytes):
        return "b", value
    if isinstance(value, str):
        return "s", value.encode()
    raise TypeError(f"no program holds a {type(value).__name__}")


def load(data: bytes) -> object:
    """Read what `dump` wrote. Raises `CorruptError` on anything else."""
    line, _, rest = data.partition(b"\n")
    try:
        count, *words = line.decode("ascii").split(" ")
        end = 4 * _digits(count)
        values = _atoms(words, rest[end:])
        held, at = values.__getitem__, 0
        numbers = memoryview(rest[:end]).cast("I").tolist()
        if 4 * len(numbers) != end:
            raise ValueError(end)
        while at < len(numbers):
            size, start = numbers[at], at + 1
            at = start + size
            items = tuple(map(held, numbers[start:at]))
            if len(items) != size:
                raise ValueError(size)
            values.append(items)
        return values[-1]
    except (IndexError, KeyError, TypeError, ValueError):
        raise CorruptError("a compiled program is damaged") from None


def _atoms(words: "list[str]", texts: bytes) -> "list[object]":
    values: list[object] = []
    start = 0
    for word in words:
        mark = word[0]
        if mark in "sb":
            end = start + _digits(word[1:])
            text = texts[start:end]
            values.append(text.decode() if mark == "s" else text)
            start = end
        else:
            values.append(_ATOMS[word] if word in _ATOMS else _number(word))
    if start != len(texts):
        raise ValueError(start)
    return values


_ATOMS: "dict[str, bool | None]" = {"n": None, "t": True, "f": False}


def _number(word: str) -> int:
    if word[0] != "i":
        raise ValueError(word)
    return -_digits(word[2:]) if word[1:2] == "-" else _digits(word[1:])


def _digits(text: str) -> int:
    if not text.isdigit():  # a negative length would read the same bytes for ever
        raise ValueError(text)
    return int(text)
