"""Real git servers on loopback, each started from a test with its own settings: what hosts run.

    daemon   `git daemon`
    http     `git http-backend` behind lighttpd
    ssh      OpenSSH's server with a key, a port and a configuration of its own

Every one serves the bare repositories below one folder and runs as whoever runs the tests. A line
in front of a server (`Line`) is slow, or is cut after so many bytes.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

import pvc.errors

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("daemon", "http", "ssh")
_SBIN = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_LIGHTTPD = """\
server.document-root = "{base}"
server.bind = "127.0.0.1"
server.port = {port}
server.modules = ("mod_alias", "mod_setenv", "mod_cgi")
server.errorlog = "{folder}/errors"
server.upload-dirs = ("{folder}")
server.max-connections = 128
server.max-fds = 512
alias.url = ("/git" => "{backend}")
cgi.assign = ("" => "")
setenv.set-environment = ({variables})
"""
_SSHD = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
PermitRootLogin yes
MaxStartups 100
MaxSessions 100
LogLevel ERROR
SetEnv {variables}
"""


@dataclass
class Server:
    """A server that can be killed and started again on its port."""

    kind: str
    base: Path
    folder: Path
    port: int
    ssh_command: str = ""
    """What `core.sshCommand` has to be in a clone; empty where it needs none."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def url(self, name: str, port: int = 0) -> str:
        """Say where the bare repository `name`, below the base, is served."""
        host = f"127.0.0.1:{port or self.port}"
        match self.kind:
            case "daemon":
                return f"git://{host}/{name}"
            case "http":
                return f"http://{host}/git/{name}"
            case _:
                return f"ssh://{host}{self.base}/{name}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            self._command(),
            env=_variables(self.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"{self.kind} does not answer")

    def kill(self) -> None:
        """End it and all that it started, at once, as a machine that loses its power does."""
        if self._process is not None:
            for process in (*_descendants(self._process.pid), self._process.pid):
                _kill(process)
            self._process.wait()
            self._process = None

    def connect(self, clone: Path, name: str = "hub.git", port: int = 0) -> None:
        """Make this server the remote `origin` of a clone."""
        settings = {"remote.origin.url": self.url(name, port)}
        if self.ssh_command:
            settings["core.sshCommand"] = self.ssh_command
        for key, value in settings.items():
            subprocess.run(["git", "-C", str(clone), "config", key, value], check=True)

    def _command(self) -> list[str]:
        match self.kind:
            case "daemon":
                return [
                    "git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack",
                    "--max-connections=0", "--listen=127.0.0.1", f"--port={self.port}",
                    f"--base-path={self.base}", str(self.base),
                ]  # fmt: skip
            case "http":
                return [_installed("lighttpd"), "-D", "-f", str(self.folder / "settings")]
            case _:
                return [_installed("sshd"), "-D", "-e", "-f", str(self.folder / "settings")]


@contextmanager
def served(kind: str, base: Path, folder: Path) -> Iterator[Server]:
    """Serve what is below `base`; `folder` takes the server's own files. Skips what is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(kind, base, folder, free_port())
    match kind:
        case "http":
            _installed("lighttpd")
            _write_lighttpd(server)
        case "ssh":
            _installed("sshd")
            _write_sshd(server)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def free_port() -> int:
    """Find a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _installed(program: str) -> str:
    path = shutil.which(program, path=_SBIN)
    if path is None:
        pytest.skip(f"`{program}` is not installed")
    return path


def _variables(home: Path) -> dict[str, str]:
    """Build what a server's children see: nothing of this machine's git settings."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(Path(pvc.errors.__file__).parents[1]),
    }


def _write_lighttpd(server: Server) -> None:
    backend = subprocess.run(["git", "--exec-path"], capture_output=True, check=True, text=True)
    variables = _variables(server.folder) | {
        "GIT_PROJECT_ROOT": str(server.base),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REMOTE_USER": "somebody",  # who may push; whether it is so is not this test's matter
    }
    text = _LIGHTTPD.format(
        base=server.base,
        port=server.port,
        folder=server.folder,
        backend=f"{backend.stdout.strip()}/git-http-backend",
        variables=", ".join(f'"{name}" => "{value}"' for name, value in variables.items()),
    )
    (server.folder / "settings").write_text(text)


def _write_sshd(server: Server) -> None:
    folder = server.folder
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where the server parts with its privileges
    for name in ("host", "key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    variables = " ".join(f'{name}="{value}"' for name, value in _variables(folder).items())
    (folder / "settings").write_text(
        _SSHD.format(port=server.port, folder=folder, variables=variables)
    )
    server.ssh_command = (
        f"ssh -F none -i {folder}/key -o IdentitiesOnly=yes -o BatchMode=yes -o LogLevel=ERROR"
        " -o KexAlgorithms=curve25519-sha256 -o StrictHostKeyChecking=no"
        " -o UserKnownHostsFile=/dev/null"
    )


def _descendants(pid: int) -> list[int]:
    """Find the children of a process, theirs first."""
    found = []
    try:
        listing = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    for child in map(int, listing.split()):
        found += [*_descendants(child), child]
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself


# --- lines ------------------------------------------------------------------------------------


class Line:
    """A connection to a server that is slow (`rate`, bytes a second) or breaks (`cut_after`).

    Bytes are counted from the client to the server, over all connections.
    """

    def __init__(self, port: int, *, rate: int = 0, cut_after: int | None = None) -> None:
        self.rate = rate
        self.cut_after = cut_after
        self.passed = 0
        self._to = port
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        _shut(*self._open)
        for thread in self._threads:
            thread.join(5)
        for end in self._open:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed: the test is over
            try:
                server = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                client.close()  # nobody listens there
                continue
            self._open += [client, server]
            for source, target, counts in ((client, server, True), (server, client, False)):
                words = (source, target, counts)
                thread = threading.Thread(target=self._carry, args=words, daemon=True)
                self._threads.append(thread)
                thread.start()

    def _carry(self, source: socket.socket, target: socket.socket, counts: bool) -> None:  # noqa: FBT001 - an argument of a thread
        try:
            while data := source.recv(1024 if self.rate else 65536):
                if counts and not self._count(data):
                    _shut(*self._open)
                    return
                target.sendall(data)
                if self.rate:
                    time.sleep(len(data) / self.rate)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            _shut(source, target)  # one side went away: so does the other

    def _count(self, data: bytes) -> bool:
        with self._lock:
            self.passed += len(data)
            return self.cut_after is None or self.passed <= self.cut_after


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):  # shut before
            end.shutdown(socket.SHUT_RDWR)
