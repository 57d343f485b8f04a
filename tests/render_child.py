"""Render trees in a process of its own, by the pure layers alone: `render_child.py ROOT`.

ROOT holds a folder a tree: the files of a version, its packs below `.pvc`, and the values in
`values.json` beside it. Prints a line a tree: its name, and the digests of prompt, spans, program.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path

from pvc.core.compile import compile_pack
from pvc.core.json_text import parse
from pvc.core.program import dump, run
from pvc.dialects.base import read_pack
from pvc.model.source import Source, Sources


def main(root: Path) -> None:
    """Render each tree below `root`."""
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = [os.fsencode(path.relative_to(folder)).decode() for path in files]
        sources = [Source(*pair) for pair in zip(names, map(Path.read_bytes, files), strict=True)]
        program = compile_pack(read_pack(Sources.of(sources)))
        values = parse(folder.with_suffix(".json").read_bytes().decode())
        data, spans, _ = run(program, values)
        digests = [sha256(each).hexdigest() for each in (data, repr(spans).encode(), dump(program))]
        sys.stdout.write(" ".join([folder.name, *digests]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
