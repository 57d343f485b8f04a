"""Run folders of vectors and cases on the real code: `tests/conform.py PATH…`.

Cases are recognised by what they hold (`conformance/case.py`), so any folder will do. Each failure
is printed with what differs; the last line counts. Exit 0 when something passed and nothing failed.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.case import Case, NotBuiltError, find

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNNERS = {
    "vector": "conformance.vectors",
    "blame": "conformance.blame",
    "miss": "conformance.miss",
}


def main(arguments: Sequence[str]) -> int:
    """Run every case at the paths and print what failed."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    passed = failed = 0
    for case in (case for argument in arguments for case in find(Path(argument))):
        if case.kind == "other":
            print(f"not a case: {case.path}")
            continue
        lines = check(case)
        passed, failed = passed + (not lines), failed + bool(lines)
        if lines:
            print(f"FAILED {case.path}", *lines, sep="\n    ")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def check(case: Case) -> list[str]:
    """Run one case; what is not built, or breaks, is a failure like any other."""
    if case.kind == "broken":
        return [str(case.content)]
    try:
        lines = import_module(RUNNERS[case.kind]).run(case.content)
    except NotBuiltError as error:
        return [f"not built: {error}"]
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("pvc."):
            raise
        return [f"not built: {error.name}"]
    except Exception:  # noqa: BLE001 - one case that breaks must not stop the others
        return traceback.format_exc(limit=-1).splitlines()[-3:]
    return list(lines)


if __name__ == "__main__":
    # The code of this checkout is judged, whatever is installed.
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    sys.exit(main(sys.argv[1:]))
