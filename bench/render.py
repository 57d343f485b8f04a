"""Render and digest a 24 KB prompt, against BLAKE3 and SHA-256 of the same bytes, form by form.

    python bench/render.py

Interleaved in one process; the ratio of medians is the figure (budget: at most 15).
"""

from __future__ import annotations

import sys
from hashlib import sha256
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from pvc.core.compile import compile_pack
from pvc.core.program import run
from pvc.dialects.base import read_pack
from pvc.model.source import Source, Sources

if TYPE_CHECKING:
    from pvc.core.compile import Program

ROUNDS = 300
SIZE_BYTES = 24_000
LINE = b"- Say what you are about to do, then do it, then say how it went; in that order.\n"
LOOM_VALUES: dict[str, Any] = {
    "workspace": "/srv/harbour",
    "platform": "linux",
    "shell": "/bin/sh",
    "tools": ["b", "a"],
    "enforcement": "BestEffort",
    "network": "NetworkOpen",
}


def loom() -> tuple[Program, dict[str, Any]]:
    """Twelve sections with a placeholder each."""
    body = b"".join(
        b"%%%% section part_%d\nIn {workspace} with {tools}:\n\n%s\n" % (i, LINE * 25)
        for i in range(12)
    )
    files = [
        Source("pvc.toml", b'format = 1\nname = "bench"\nform = "loom"\n'),
        Source("bench.loom", b"%% loom-prompt-pack 1\n%% version bench\n" + body),
    ]
    return compile_pack(read_pack(Sources.of(files))), LOOM_VALUES


def plain() -> tuple[Program, dict[str, Any]]:
    """Twelve files with a placeholder each."""
    manifest = b'format = 1\nname = "bench"\nform = "plain"\nbindings = ["cwd"]\n'
    files = [Source(f"{i:02}.md", b"# Part\n\nIn {cwd}:\n\n" + LINE * 25) for i in range(12)]
    sources = Sources.of([Source("pvc.toml", manifest), *files])
    return compile_pack(read_pack(sources)), {"cwd": "/srv/harbour"}


def main() -> int:
    """Print one row a form."""
    print(f"{'form':<8}{'bytes':>8}{'render ms':>11}{'hash ms':>10}{'ratio':>8}")
    for form in (loom, plain):
        program, values = form()
        rendering, hashing = [], []
        for _ in range(ROUNDS):
            start = perf_counter()
            data, _, _ = run(program, values)
            blake3(data).digest()
            rendering.append(perf_counter() - start)
            start = perf_counter()
            blake3(data).digest()
            sha256(data).digest()
            hashing.append(perf_counter() - start)
        a, b = median(rendering) * 1e3, median(hashing) * 1e3
        print(f"{form.__name__:<8}{len(data):>8}{a:>11.3f}{b:>10.3f}{a / b:>8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
