"""Session-start hooks of harnesses: what they say on standard input, as a call.

    claude-code    {"session_id": …, "hook_event_name": "SessionStart", "source": …, "model": …}

Rule 1: a hook names the session, and its model where the harness knows it. Everything else (tree,
values, tools) stands in the hook's own command line, where whoever set it up can read it.
Rule 2: what a hook prints to standard output may become part of the conversation. So the answer
goes to standard error, and only `--out -` prints the prompt.
"""

from pvc.core.json_text import parse
from pvc.errors import DecodeError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.call import Call

EVENTS = {"claude-code": "SessionStart"}
"""The hook of each harness that runs when a session starts, resumes, or was compacted."""


def apply(call: "Call", name: str, data: bytes) -> None:
    """Take session and model from what a harness's hook was given."""
    event = EVENTS.get(name)
    if event is None:
        raise UsageError(f"no hook `{name}`", hint=f"known: {', '.join(EVENTS)}")
    at = f"the hook's input ({name})"
    try:
        given = parse(data.decode(), at=at)
    except UnicodeDecodeError as error:
        raise DecodeError(f"byte {error.start} is no UTF-8", at=at) from None
    if not isinstance(given, dict):
        raise DecodeError("a hook's input is a JSON object", at=at)
    if given.get("hook_event_name") != event:
        raise UsageError(
            f"this is no `{event}` hook: `{given.get('hook_event_name')}`",
            at=at,
            hint=f"run `pvc pin --hook {name}` from the {event} hook",
        )
    session = given.get("session_id")
    if type(session) is not str or not session:
        raise DecodeError("the hook names no `session_id`", at=at)
    call.session = session
    model = given.get("model")
    if not call.model and type(model) is str:
        call.model = model
