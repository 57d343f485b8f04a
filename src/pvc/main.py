"""The door of both commands, `pvc` and `git-pvc`.

Rule 1: `pin` goes the short way (`launch`), everything else through click; so this imports nothing
of either before it knows which.
"""

import gc
import os
import sys

from pvc.errors import PvcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run what the command line says, and exit."""
    words = sys.argv[1:]
    if words[:1] == ["-C"] and words[2:3] == ["pin"]:
        words = ["pin", *words[:2], *words[3:]]
    if words[:1] != ["pin"] or "--help" in words or "-h" in words:
        from pvc.cli.main import main as cli

        sys.exit(cli())
    gc.disable()  # one pin leaves no more rubbish than its process takes with it
    from pvc.launch.main import main as pin

    try:
        code = pin(words[1:])
    except Exception:  # noqa: BLE001 - a fault of ours: shown whole, under its own exit code
        import traceback

        traceback.print_exc()
        code = PvcError.exit_code
    # All that was answered is on the disk; taking the interpreter apart would only cost time.
    sys.stderr.flush()
    os._exit(code)
