"""Run every benchmark that needs nothing but pvc itself, one after the other.

    python bench/run.py [NAME …]

Each prints ratios measured side by side in one run; the machine and its load stand in front.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHES = ("render", "pin", "ledger", "blame", "miss")


def main(names: list[str]) -> int:
    """Run the named benchmarks, all without names; the exit code is the worst of theirs."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    version = platform.python_version()
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"Python {version}, {platform.machine()}, {cores} cores, load {load:.1f}")
    worst = 0
    for name in names or BENCHES:
        print(f"\n## {name}", flush=True)
        worst = max(worst, subprocess.call([sys.executable, str(HERE / f"{name}.py")]))
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
