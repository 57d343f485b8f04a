"""How large things may be that somebody else may have written. All bounds of pvc are here.

A bound is asked before a thing is read: a file's size from its state, an object's from its header,
a walk's while it counts. The first excess ends the reading with one line that names the bound.

Rule 1: what pvc writes stays well below what it reads, so a bound never hides an own record.
Rule 2: this module imports nothing, for the launch path asks too.
"""

BOUNDED = "docs/repositories.md lists the bounds"
"""The hint of whoever refuses by one of these."""

# --- a version, and the folder that it is adopted from ---
MAX_FILE_BYTES = 16 << 20
MAX_FOLDER_BYTES = 64 << 20
"""The files of a folder, or of a version without its packs."""
MAX_VERSION_BYTES = 256 << 20
"""The files of a version with its packs."""
MAX_FILES = 10_000
MAX_ENTRIES = 100_000
"""Files and folders of a version with its packs: what a walk over trees counts."""
MAX_PATH_BYTES = 1024
MAX_NAME_BYTES = 255
MAX_DEPTH = 256
MAX_MANIFEST_BYTES = 1 << 20
MAX_KEY_PARTS = 64
"""Parts of a dotted key in a manifest, a lock or a tombstone."""

# --- objects of git ---
MAX_BLOB_BYTES = 128 << 20
"""A segment of a ledger, a body, or a file of the user's history."""
MAX_TREE_BYTES = 64 << 20
MAX_COMMIT_BYTES = 16 << 20
"""A commit with its message: a fold names what it saw of each other ledger."""

# --- what a launch or a command writes ---
MAX_BODY_BYTES = 64 << 20
"""A body in the spool, which becomes a blob of its own."""
MAX_RECORD_BYTES = 256 << 10
"""A record: a segment holds up to 256 of them."""
MAX_MESSAGE_BYTES = 8 << 20
"""The message of a commit."""

# --- what is given to a command ---
MAX_INPUT_BYTES = 64 << 20
"""An environment, tool list, request, context, baseline, log, list of revisions, or one line of a
transcript; providers refuse half of it."""


def mebibytes(size: int) -> str:
    """Write a bound."""
    return f"{size >> 20} MiB"
