"""A fold that runs beside the launch and outlives it.

Rule 1: a launch never waits for a fold, and never starts one while another runs or has just begun:
sixteen launches at once must not become sixteen folds.
"""

import fcntl
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.place import Place

PAUSE_S = 5.0
"""After a fold began, another is not started for this long, should it fail each time."""


def fold(place: "Place") -> None:
    """Start a fold unless one runs."""
    if _is_busy(place.home + "/fold.lock"):
        return
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    words = [sys.executable, "-m", "pvc.launch.detach", place.git_dir]
    os.posix_spawn(sys.executable, words, os.environ, file_actions=null, setpgroup=0)


def _is_busy(path: str) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(handle).st_mtime < PAUSE_S and os.fstat(handle).st_size:
            return True
        os.ftruncate(handle, 0)
        os.write(handle, b"%d\n" % os.getpid())
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _main(git_dir: str) -> None:
    from pvc.ops.fold import run
    from pvc.store.open import open_repository

    run(open_repository(git_dir, offline=True), wait=False)


if __name__ == "__main__":
    _main(sys.argv[1])
