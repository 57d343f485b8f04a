"""Instructions for prompts that are sent in parts, and for texts that a session added.

`core.program` loads this module when a program asks for one of these:

    ("trim-end", block)                             its trailing white space, Unicode's, gone
    ("chosen", field, joint, ((name, part), …))     the parts that the list at `field` names
    ("written", block)                              a block of `core.raku_blocks`
    ("wire", field, joint, parts)                   each part a block where `field` is `messages`,
                                                    else joined without their trailing line feeds
    ("added", joint, data, name, pointer)           a text of a session (`core.entries`)
    ("hole", text, name, pointer, path, at)         a text in a value's place (`core.stand_in`)

Rule 1: a block ends in front of the next one, so a text that is appended leaves every byte before
it where it was.
"""

from pvc.core import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.core.program import Instruction, Rope, Values

LINE_FEED = b"\n"


def _added(instruction: "Instruction", _values: "Values") -> "Rope":
    _, joint, data, name, pointer = instruction
    return [
        (joint, ("glue", "entry-joint"), 0, ""),
        (data, ("binding", name, pointer, "", "0"), 0, name),
    ]


def _hole(instruction: "Instruction", _values: "Values") -> "Rope":
    _, text, name, pointer, path, at = instruction
    return [(text.encode(), ("binding", name, pointer, path, str(at)), 0, "")]


def _written(instruction: "Instruction", values: "Values") -> "Rope":
    from pvc.core import raku_blocks  # known to the one form that has them

    if instruction[1] == "tools":
        return raku_blocks.tools(values["tools"], "/tools")
    return raku_blocks.environment(values, values["extra"])


def _trim_end(instruction: "Instruction", values: "Values") -> "Rope":
    from pvc.model.raku_text import trimmed_end  # as above

    rope = program.run_block(instruction[1], values)
    text = b"".join([piece[0] for piece in rope]).decode()
    return program.cut(rope, [(0, len(text[: trimmed_end(text)].encode()))])


def _chosen(instruction: "Instruction", values: "Values") -> "Rope":
    _, field, joint, parts = instruction
    known = dict(parts)
    names = values[field] or known
    ropes = [program.run_block((known[name],), values) for name in names if name in known]
    return program.glued(ropes, joint, edges=False)


def _wire(instruction: "Instruction", values: "Values") -> "Rope":
    _, field, joint, parts = instruction
    rope: Rope = []
    for number, part in enumerate(parts):
        piece = program.run_block((part,), values)
        if values[field] == "messages":
            rope += [(b"", program.BLOCK_END, 0, ""), *piece] if number else piece
            continue
        text = b"".join([item[0] for item in piece])
        rope += [(joint, ("glue", "joint"), 0, "")] if number else []
        rope += program.cut(piece, [(0, len(text.rstrip(LINE_FEED)))])
    return rope


RUN: "dict[str, Callable[[Instruction, Values], Rope]]" = {
    "added": _added,
    "hole": _hole,
    "written": _written,
    "trim-end": _trim_end,
    "chosen": _chosen,
    "wire": _wire,
}
