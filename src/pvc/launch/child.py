"""One git child, for the few questions that pvc cannot answer from a file.

`subprocess` costs more to import than the child takes to run, so this starts it by itself.

Rule 1: nothing that a repository holds is run, and nothing is asked on a terminal.
Rule 2: nothing goes over the network: in a partial clone git would fetch what it was promised.
Rule 3: a child that fails gives None; the caller knows what that means and says so.
Rule 4: a child sees objects as they were made: replace refs and grafts are off. `store.child` takes
the settings from here, so both roads see the same history.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}  # the first since git 2.44
ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_GRAFT_FILE": "/dev/null/none",  # below a file, so it never exists
    "LC_ALL": "C",
}
NO_MONITOR = "core.fsmonitor=false"
NO_HOOKS = "core.hooksPath=/dev/null"


def output(words: "Sequence[str]") -> bytes | None:
    """Run `git WORDS` and give its standard output; null when it fails or is not there."""
    read, write = os.pipe()
    try:
        child = os.posix_spawnp(
            "git",
            ["git", "-c", NO_MONITOR, "-c", NO_HOOKS, *words],
            {**os.environ, **ENVIRONMENT, **OFFLINE},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, write, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except FileNotFoundError:
        os.close(read)
        return None
    finally:
        os.close(write)
    parts = []
    with open(read, "rb", buffering=0) as pipe:
        while part := pipe.read(1 << 20):
            parts.append(part)
    _, status = os.waitpid(child, 0)
    return b"".join(parts) if status == 0 else None
