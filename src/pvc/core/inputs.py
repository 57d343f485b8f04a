"""What programs of richer forms need: nested inputs, conditions, JavaScript's rules for text.

`core.program` loads this module when a program asks for something that it does not know itself, so
the others never pay for it. What it imports imports nothing itself.

Fields beyond `core.program`'s, as `(name, kind, required, choices, tag, variants)`:

    optional   a text, null or absent; a blank text stays
    truth      true, false, null or absent
    number     a finite number, null or absent
    texts      a list of texts, null or absent: null is not the empty list
    object     an object with the fields of `variants[0]`; absent is the empty one
    part       the same, null when absent
    objects    a list of such objects
    fragment   one of `choices`, `tag` when absent
    full       what no program can do; `tag` says what to do instead

Instructions, with conditions below:

    ("glue", data, rule)                            bytes of the form's own
    ("trim", block)                                 white space goes from both ends
    ("when", condition, block)                      the block, when the condition holds
    ("number", name, field, path, at)               the number, as JavaScript prints it
    ("names", name, field, trim, before, joint, after)   unique texts in order, each wrapped
    ("hints", name, field, admitted)                one line a hint of an admitted tool
    ("entries", name, field, joint)                 objects of `id` and `body`, each a section
    ("refuse", condition, message, pointer, hint)   stop, when the condition holds

    ("is", field, value)            text, truth value or null
    ("held", field)                 a text that is not blank
    ("above", field)                a number above zero
    ("filled", field, trim)         a list with an entry, or one that is not blank
    ("has", field, text, trim)      a list with that entry
    ("heads", field, word)          a text whose first line is a first-level heading of that word
    ("all", (…)) ("any", (…)) ("not", condition)

Rule 1: white space, order and numbers are JavaScript's (`model.javascript`).
Rule 2: white space inside a hint becomes single spaces. A lone space stays the value's own byte;
every other run is glue.
"""

from pvc.core import program
from pvc.errors import UnsupportedError, UsageError
from pvc.model.javascript import WHITE, as_float, number_text, squeezed, units, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from pvc.core.program import Field, Instruction, Origin, Rope, Values

    Condition = tuple[Any, ...]

_ASCII_WHITE = b"\t\n\v\f\r "
# --- fields ---------------------------------------------------------------------------------


def value(field: "Field", given: "Values", pointer: str) -> object:
    """Check one field of a kind that `core.program` does not know."""
    name, kind, _, choices, tag, variants = field
    held = given.get(name)
    if kind == "full" and name in given:
        raise UnsupportedError(f"no program can render `{name}`", at=pointer, hint=tag)
    if kind == "fragment":
        return _fragment(name, held, choices, tag, pointer)
    if held is None:
        empty: dict[str, object] = {"optional": "", "objects": []}
        return program.check(variants[0], {}, pointer) if kind == "object" else empty.get(kind)
    if kind in ("object", "part"):
        return program.check(variants[0], held, pointer)
    if kind == "optional":
        return program.checked_text(held, name, pointer)
    if kind == "truth":
        return _truth(name, held, pointer)
    if kind == "number":
        return _number(name, held, pointer)
    if not isinstance(held, list):
        raise UsageError(f"`{name}` is a list, not {program.kind_of(held)}", at=pointer)
    pointers = [f"{pointer}/{index}" for index in range(len(held))]
    if kind == "texts":
        return [
            program.checked_text(item, name, at) for item, at in zip(held, pointers, strict=True)
        ]
    return [program.check(variants[0], item, at) for item, at in zip(held, pointers, strict=True)]


def _fragment(
    name: str, held: object, choices: "tuple[str, ...]", default: str, pointer: str
) -> str:
    if held is None:
        return default if default in choices else ""
    chosen = program.checked_text(held, name, pointer)
    if chosen not in choices:
        raise UsageError(
            f"{name} fragment `{chosen}` is not found",
            at=pointer,
            hint=program.near(chosen, choices),
        )
    return chosen


def _truth(name: str, held: object, pointer: str) -> bool:
    if not isinstance(held, bool):
        raise UsageError(f"`{name}` is true or false, not {program.kind_of(held)}", at=pointer)
    return held


def _number(name: str, held: object, pointer: str) -> float:
    is_text = type(held) is str or not isinstance(held, (int, float, str))
    if isinstance(held, bool) or is_text:
        raise UsageError(f"`{name}` is a number, not {program.kind_of(held)}", at=pointer)
    number = as_float(held)
    if number - number != 0:
        raise UsageError(f"`{name}` is no finite number", at=pointer)
    return number


# --- conditions -----------------------------------------------------------------------------


def holds(condition: "Condition", values: "Values") -> bool:
    """Say whether a condition holds over checked values."""
    word = condition[0]
    if word == "all":
        return all(holds(part, values) for part in condition[1])
    if word == "any":
        return any(holds(part, values) for part in condition[1])
    if word == "not":
        return not holds(condition[1], values)
    held = program.look_up(values, condition[1])
    if word == "is":
        return type(held) is type(condition[2]) and bool(held == condition[2])
    if word == "held":
        return bool((held or "").strip(WHITE))
    if word == "above":
        return held is not None and held > 0
    if word == "filled":
        return any(name.strip(WHITE) if condition[2] else True for name in held or ())
    if word == "has":
        return condition[2] in [name.strip(WHITE) if condition[3] else name for name in held or ()]
    if word == "heads":
        return _heads(held or "", condition[2])
    raise ValueError(word)


def _heads(text: str, word: str) -> bool:
    line = text.strip(WHITE).split("\n", 1)[0]
    rest = line[1:]
    return line[:1] == "#" and rest[:1] in (*WHITE,) and rest.strip(WHITE) == word


# --- instructions ---------------------------------------------------------------------------


def _glue(instruction: "Instruction", _values: "Values") -> "Rope":
    _, data, rule = instruction
    return [(data, ("glue", rule), 0, "")]


def _trim(instruction: "Instruction", values: "Values") -> "Rope":
    rope = program.run_block(instruction[1], values)
    data = b"".join([piece[0] for piece in rope])
    end = len(data.rstrip(_ASCII_WHITE))
    start = min(len(data) - len(data.lstrip(_ASCII_WHITE)), end)
    if start < end and (data[start] >= 0x80 or data[end - 1] >= 0x80):  # it may be wider white
        text = data.decode()
        end = len(text.rstrip(WHITE).encode())
        start = min(len(data) - len(text.lstrip(WHITE).encode()), end)
    return rope if (start, end) == (0, len(data)) else program.cut(rope, [(start, end)])


def _when(instruction: "Instruction", values: "Values") -> "Rope":
    _, condition, block = instruction
    return program.run_block(block, values) if holds(condition, values) else []


def _number_hole(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, path, at = instruction
    held = program.look_up(values, field)
    if held is None:
        return []
    origin = ("binding", name, _pointer(field), path, str(at))
    return [(number_text(held).encode(), origin, 0, "")]


def _names(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, trim, before, joint, after = instruction
    found: dict[str, tuple[int, int]] = {}
    for index, text in enumerate(program.look_up(values, field) or ()):
        bare = text.strip(WHITE) if trim else text
        if bare or not trim:
            found.setdefault(bare, (index, _front(text) if trim else 0))
    rope: Rope = []
    for bare in sorted(found, key=units):
        index, offset = found[bare]
        origin = ("binding", name, f"{_pointer(field)}/{index}", "", "0")
        rope.append(((joint if rope else b"") + before, ("glue", "names"), 0, ""))
        rope.append((bare.encode(), origin, offset, ""))
        rope.append((after, ("glue", "names"), 0, ""))
    return rope


def _front(text: str) -> int:
    return len(text.encode()) - len(text.lstrip(WHITE).encode())


def hints(
    entries: "Iterable[tuple[str, str]]", admitted: "Iterable[str]"
) -> "list[tuple[str, str, int]]":
    """Choose hints of admitted tools: `(tool, hint, index)`, by tool, then hint.

    One a tool, and no text twice; a hint that is dropped for its text frees its tool.
    """
    tools = {name.strip(WHITE) for name in admitted}
    bare = [(tool.strip(WHITE), squeezed(hint), i) for i, (tool, hint) in enumerate(entries)]
    held = [entry for entry in bare if entry[0] in tools and entry[1]]
    held.sort(key=lambda entry: (units(entry[0]), units(entry[1])))
    chosen: list[tuple[str, str, int]] = []
    for entry in held:
        if not any(entry[0] == other[0] or entry[1] == other[1] for other in chosen):
            chosen.append(entry)
    return chosen


def _hints(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, admitted = instruction
    entries = program.look_up(values, field) or []
    pairs = [(entry["tool"], entry["hint"]) for entry in entries]
    rope: Rope = []
    for _tool, _hint, index in hints(pairs, program.look_up(values, admitted) or ()):
        if rope:
            rope.append((b"\n", ("glue", "hint-joint"), 0, ""))
        origin = ("binding", name, f"{_pointer(field)}/{index}/hint", "", "0")
        rope += _hint_rope(pairs[index][1], origin)
    return rope


def _hint_rope(text: str, origin: "Origin") -> "Rope":
    rope: Rope = []
    last = 0
    for start, end in words(text):
        if rope and text[last:start] == " ":
            rope.append((b" ", origin, len(text[:last].encode()), ""))
        elif rope:
            rope.append((b" ", ("glue", "hint-space"), 0, ""))
        rope.append((text[start:end].encode(), origin, len(text[:start].encode()), ""))
        last = end
    return rope


def _entries(instruction: "Instruction", values: "Values") -> "Rope":
    _, name, field, joint = instruction
    rope: Rope = []
    for index, entry in enumerate(program.look_up(values, field) or ()):
        body = entry["body"].strip(WHITE).encode()
        if not body:
            continue
        if rope:
            rope.append((joint, ("glue", "joint"), 0, ""))
        origin = ("binding", name, f"{_pointer(field)}/{index}/body", "", "0")
        rope.append((body, origin, _front(entry["body"]), entry["id"]))
    return rope


def _refuse(instruction: "Instruction", values: "Values") -> "Rope":
    _, condition, message, pointer, hint = instruction
    if holds(condition, values):
        raise UsageError(message, at=pointer, hint=hint)
    return []


def _pointer(field: "tuple[str, ...]") -> str:
    return "/" + "/".join(field)


RUN: "dict[str, Callable[[Instruction, Values], Rope]]" = {
    "glue": _glue,
    "trim": _trim,
    "when": _when,
    "number": _number_hole,
    "names": _names,
    "hints": _hints,
    "entries": _entries,
    "refuse": _refuse,
}
