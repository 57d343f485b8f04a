"""Versions as programs: compiled once, kept in the program cache, the same for every command."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pvc.core.compile import Program, compile_pack
from pvc.dialects.base import read_pack
from pvc.model.names import CommitId

if TYPE_CHECKING:
    from pvc.model.pack import Pack
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


def pack_of(repo: Repository, version: VersionInfo) -> Pack:
    """Decode a version. Raises `DecodeError` when its files are not in their form."""
    from pvc.store.versions import sources

    return read_pack(sources(repo, version))


def compile_version(repo: Repository, version: VersionInfo) -> Program:
    """Compile a version and keep the program for the launch path."""
    from pvc.launch.cache import write

    program = compile_pack(pack_of(repo, version))
    write(str(repo.common_dir), version.id, (version.name, version.number, version.id, program))
    return program


def keep_program(
    repo: Repository, version: VersionInfo, *, named_by: CommitId | None = None
) -> None:
    """Keep the program of a version, where it is not kept yet and can be.

    `named_by` is a channel's move to it: a launch looks under the commit that its ref holds.
    """
    from pvc.launch.cache import read, write

    folder = str(repo.common_dir)
    kept = read(folder, version.id)
    with suppress(OSError):
        program = kept[3] if kept else compile_version(repo, version)
        if named_by is not None:
            write(folder, named_by, (version.name, version.number, version.id, program))


def program_of(directory: str, commit: str) -> tuple[str, int, str, Program]:
    """Compile the version at `commit`, for a launch that found no cache; returns its cache entry.

    A channel's move is kept under its own commit too, or each launch by that name would be slow.
    Raises `NotFoundError` when no such version is here.
    """
    from pvc.launch.cache import write
    from pvc.store.open import open_repository
    from pvc.store.versions import at_commit

    repo = open_repository(directory, offline=True)
    version = at_commit(repo, CommitId(commit))
    made = version.name, version.number, version.id, compile_version(repo, version)
    if commit != version.id:
        write(str(repo.common_dir), commit, made)
    return made
