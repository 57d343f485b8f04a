"""The canonical stream of a request's head: tools and system as the bytes that a cache compares.

The launch path and the comparison of two bodies both write these leaves, so that a pin's head
digest and `pvc miss` cannot disagree. A leaf is `(JSON pointer, bytes)`; in the stream one zero
byte follows each. Whole bodies (settings, messages, markers) are read by `providers`; this module
imports `json_text` alone.

Rule 1: a string leaf is the UTF-8 of the string, any other value compact JSON with its keys in the
order of the body: schemas reach the model as text, so their key order counts.
Rule 2: the leaves that a shape names come in its order, then every other key in code-point order,
so a field that pvc has never heard of is compared all the same.
Rule 3: a marker (`cache_control`, `prompt_cache_breakpoint`) of a tool or a block is no leaf, for
it is not content. Deeper inside, in a schema, the same key is.
Rule 4: a half surrogate is kept as the three bytes that it would be, for a captured body must be
comparable; `head` refuses it, for what pvc itself sends must be UTF-8.
Rule 5: a tool definition is carried from one shape to another only where nothing of it is lost that
the model would see; key order inside its schema is kept.
"""

from pvc.core.json_text import Value, dump, escape, lone_surrogate
from pvc.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Leaf = tuple[str, bytes]

ANTHROPIC = "anthropic.messages"
CHAT = "openai.chat"
RESPONSES = "openai.responses"
SHAPES = (ANTHROPIC, CHAT, RESPONSES)
CONVERSE = "bedrock.converse"
"""Read, not written: the same stream as the Anthropic body of the same request."""
READABLE = (*SHAPES, CONVERSE)

MARKERS = ("cache_control", "prompt_cache_breakpoint")
_TOOL_LEAVES = {
    ANTHROPIC: ("name", "description", "input_schema"),
    CHAT: ("type",),
    RESPONSES: ("type", "name", "description", "parameters"),
}
_FUNCTION_LEAVES = ("name", "description", "parameters")
_SYSTEM_ROLES = ("system", "developer")


def head(tools: list[Value] | None, prompt_blocks: "Sequence[bytes]", shape: str) -> bytes:
    """Write the head that pvc sends: tools in the shape's own form, then the prompt's blocks.

    Blocks are Anthropic's system list, Chat's one leading system message (a string when there is
    one block, else parts), and the joined instructions of Responses.
    """
    written = [data for _, data in tool_leaves(tools, shape)]
    try:
        b"\0".join(written).decode()
    except UnicodeDecodeError:
        raise DecodeError(
            "half of a surrogate pair has no UTF-8",
            at=lone_surrogate(tools, "/tools"),
            hint="mend the text of this tool",
        ) from None
    if shape == RESPONSES:
        written += [b"".join(prompt_blocks)] if prompt_blocks else []
    else:
        written += [b"system"] if shape == CHAT and prompt_blocks else []
        bare = shape == CHAT and len(prompt_blocks) == 1
        for block in prompt_blocks:
            written += [block] if bare else [b"text", block]
    return b"".join([leaf + b"\0" for leaf in written])


def tool_leaves(tools: Value, shape: str) -> "Iterator[Leaf]":
    """Give the leaves of a `tools` list that is in the shape's own form."""
    for pointer, tool in elements(tools, "/tools"):
        yield from one_tool(tool, pointer, shape)


def is_deferred(tool: Value) -> bool:
    """Tell whether a tool is left out of the prefix until it is searched for."""
    if not isinstance(tool, dict):
        return False
    function = tool.get("function")
    return tool.get("defer_loading") is True or (
        isinstance(function, dict) and function.get("defer_loading") is True
    )


def one_tool(tool: Value, pointer: str, shape: str) -> "list[Leaf]":
    """Give the leaves of one tool in the shape's own form."""
    if not isinstance(tool, dict):
        return [(pointer, value_bytes(tool))]
    function = tool.get("function") if shape == CHAT else None
    if not isinstance(function, dict):
        return named_leaves(tool, pointer, _TOOL_LEAVES[_known(shape)])
    return [
        *named_leaves(tool, pointer, ("type",), only=True),
        *named_leaves(function, f"{pointer}/function", _FUNCTION_LEAVES),
        *named_leaves(tool, pointer, (), without=("type", "function")),
    ]


def system_leaves(system: Value, shape: str) -> "list[Leaf]":
    """Give the leaves of the system text in the shape's own form.

    `system` is Anthropic's `system`, the `instructions` of Responses, or all `messages` of Chat, of
    which the leading system and developer messages are taken.
    """
    if shape == CHAT:
        leaves: list[Leaf] = []
        for pointer, message in elements(system, "/messages"):
            if not is_system_message(message):
                break
            leaves += chat_message(message, pointer)
        return leaves
    if _known(shape) == RESPONSES:
        return [] if system is None else [("/instructions", value_bytes(system))]
    return [leaf for block in content_blocks(system, "/system") for leaf in block]


def is_system_message(message: Value) -> bool:
    """Tell whether a Chat message or Responses item speaks with the developer's voice."""
    return isinstance(message, dict) and message.get("role") in _SYSTEM_ROLES


# --- parts that messages share with the head -------------------------------------------------


def elements(values: Value, pointer: str, start: int = 0) -> "Iterator[tuple[str, Value]]":
    """Give each element of a list from one on with its pointer; an absent list has none."""
    if values is None:
        return
    if not isinstance(values, list):
        raise DecodeError(f"no list: `{dump(values)[:24]}`", at=pointer, hint="one JSON array")
    for index in range(start, len(values)):
        yield f"{pointer}/{index}", values[index]


def content_blocks(content: Value, pointer: str) -> "list[list[Leaf]]":
    """Give the leaves of each block of an Anthropic text or content; a string is one block."""
    if isinstance(content, list):
        return [block_leaves(block, f"{pointer}/{i}") for i, block in enumerate(content)]
    return [] if content is None else [[(pointer, b"text"), (pointer, value_bytes(content))]]


def block_leaves(block: Value, pointer: str) -> "list[Leaf]":
    """Give the leaves of one Anthropic block."""
    if not isinstance(block, dict):
        return [(pointer, value_bytes(block))]
    kind = block.get("type")
    if kind == "tool_result":
        return _result_leaves(block, pointer)
    return named_leaves(block, pointer, _BLOCK_LEAVES.get(str(kind), ("type",)))


def _result_leaves(block: dict[str, Value], pointer: str) -> "list[Leaf]":
    leaves = named_leaves(block, pointer, ("type", "tool_use_id"), only=True)
    content = block.get("content")
    if isinstance(content, list):
        for index, part in enumerate(content):
            leaves += block_leaves(part, f"{pointer}/content/{index}")
    elif content is not None:
        leaves.append((f"{pointer}/content", value_bytes(content)))
    return leaves + named_leaves(block, pointer, (), without=("type", "tool_use_id", "content"))


_BLOCK_LEAVES = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "thinking": ("type", "thinking", "signature"),
}


def chat_message(message: Value, pointer: str) -> "list[Leaf]":
    """Give the leaves of one Chat message: role, content, tool calls, then the rest."""
    if not isinstance(message, dict):
        return [(pointer, value_bytes(message))]
    leaves = named_leaves(message, pointer, ("role",), only=True)
    leaves += content_leaves(message.get("content"), f"{pointer}/content")
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return leaves + named_leaves(message, pointer, (), without=("role", "content"))
    for at, call in elements(calls, f"{pointer}/tool_calls"):
        leaves += _call_leaves(call, at)
    return leaves + named_leaves(message, pointer, (), without=("role", "content", "tool_calls"))


def content_leaves(content: Value, pointer: str) -> "list[Leaf]":
    """Give the leaves of an OpenAI content: the string, or `type` and `text` of each part."""
    if not isinstance(content, list):
        return [] if content is None else [(pointer, value_bytes(content))]
    leaves: list[Leaf] = []
    for at, part in elements(content, pointer):
        if isinstance(part, dict):
            leaves += named_leaves(part, at, ("type", "text"))
        else:
            leaves.append((at, value_bytes(part)))
    return leaves


def _call_leaves(call: Value, pointer: str) -> "list[Leaf]":
    if not isinstance(call, dict):
        return [(pointer, value_bytes(call))]
    leaves = named_leaves(call, pointer, ("id",), only=True)
    function = call.get("function")
    if isinstance(function, dict):
        at = f"{pointer}/function"
        leaves += named_leaves(function, at, ("name", "arguments"), only=True)
    return leaves


def named_leaves(
    values: dict[str, Value],
    pointer: str,
    names: tuple[str, ...],
    *,
    without: tuple[str, ...] = (),
    only: bool = False,
) -> "list[Leaf]":
    """Give the named keys in their order, then (unless `only`) the others in code-point order."""
    leaves = [(f"{pointer}/{name}", value_bytes(values[name])) for name in names if name in values]
    if not only and len(values) > len(leaves):
        leaves += [
            (f"{pointer}/{escape(name)}", value_bytes(values[name]))
            for name in sorted(values)
            if name not in names and name not in without and name not in MARKERS
        ]
    return leaves


def value_bytes(value: Value) -> bytes:
    """Write one leaf: a string as it is, anything else as compact JSON."""
    text = value if isinstance(value, str) else dump(value)
    return text.encode("utf-8", "surrogatepass")


def _known(shape: str) -> str:
    if shape not in SHAPES:
        raise DecodeError(f"no request shape `{shape}`", hint="one of " + ", ".join(SHAPES))
    return shape


# --- tool definitions: their order, and from one shape to another ----------------------------


def by_name(tools: Value) -> Value:
    """Put tool definitions in the order of their names, by code point; a tie keeps its order.

    A registry gives them in any order, and each order is another prefix. `tools` is a list, or an
    object that holds one under `tools`; their schemas stay as they are.
    """
    if isinstance(tools, dict):
        return {**tools, "tools": by_name(tools.get("tools"))} if "tools" in tools else tools
    return sorted(tools, key=_name_of) if isinstance(tools, list) else tools


def _name_of(tool: Value) -> str:
    """Name a tool; a provider's built-in one has nothing but a type."""
    if not isinstance(tool, dict):
        return ""
    inner = tool.get("function")
    holder = inner if isinstance(inner, dict) else tool
    name = holder.get("name", tool.get("type"))
    return name if isinstance(name, str) else ""


def as_tools(value: Value, shape: str) -> list[Value]:
    """Give tool definitions in the shape's own form.

    `value` is a list, or an object with a list under `tools`, of definitions in the form of
    Anthropic, OpenAI Chat, OpenAI Responses or MCP's `tools/list`. A definition that is in the
    shape's form already stays as it is.
    """
    _known(shape)
    pointer = ""
    if isinstance(value, dict):
        value, pointer = value.get("tools"), "/tools"
        if value is None:
            raise DecodeError("no `tools` in the object", hint='a list, or {"tools": [...]}')
    return [_as_tool(tool, at, shape) for at, tool in elements(value, pointer)]


def _as_tool(tool: Value, pointer: str, shape: str) -> Value:
    if not isinstance(tool, dict):
        raise DecodeError("a tool is an object", at=pointer, hint="with `name` and a schema")
    form = _form(tool, shape)
    if form == shape:
        return tool
    inner = tool.get("function") if form == CHAT else tool
    name = inner.get("name") if isinstance(inner, dict) else None
    if form == "" or not isinstance(inner, dict) or not isinstance(name, str):
        raise DecodeError(
            f"no tool that can be written for `{shape}`: {dump(tool)[:48]}",
            at=pointer,
            hint="a function tool has `name`, `description` and a JSON schema",
        )
    key = _SCHEMA_KEYS[form]
    common: dict[str, Value] = {"name": name}
    if isinstance(inner.get("description"), str):
        common["description"] = inner["description"]
    common[_SCHEMA_KEYS[shape]] = inner.get(key, {"type": "object", "properties": {}})
    if "strict" in inner:
        common["strict"] = inner["strict"]
    if shape == CHAT:
        return {"type": "function", "function": common}
    return common if shape == ANTHROPIC else {"type": "function", **common}


_SCHEMA_KEYS = {
    ANTHROPIC: "input_schema",
    CHAT: "parameters",
    RESPONSES: "parameters",
    "mcp": "inputSchema",
}


def _form(tool: dict[str, Value], shape: str) -> str:
    """Tell which form a definition has; empty for what no form names."""
    if "inputSchema" in tool:
        return "mcp"
    if "function" in tool:
        return CHAT
    if "input_schema" in tool:
        return ANTHROPIC
    if tool.get("type") == "function" or "parameters" in tool:
        return RESPONSES
    return shape if isinstance(tool.get("type"), str) else ""  # a provider's built-in tool
