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


def keep_program(repo: Repository, version: VersionInfo) -> None:
    """Keep the program of a version, where it is not kept yet and can be."""
    from pvc.launch.cache import read

    if read(str(repo.common_dir), version.id) is None:
        with suppress(OSError):
            compile_version(repo, version)


def program_of(directory: str, commit: str) -> tuple[str, int, str, Program]:
    """Compile the version at `commit`, for a launch that found no cache; returns its cache entry.

    Raises `NotFoundError` when no such version is here.
    """
    from pvc.store.open import open_repository
    from pvc.store.versions import at_commit

    repo = open_repository(directory)
    version = at_commit(repo, CommitId(commit))
    return version.name, version.number, version.id, compile_version(repo, version)
