"""Sessions of a small tree, changed within this process: what the session tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.launch.call import Call
from pvc.launch.entry import Change, SessionPinner
from pvc.launch.place import find
from pvc.ops import supersede
from pvc.ops.session import record

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.launch.answer import Answer
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from workspace import Workspace

PLAIN = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'
FILES: dict[str, bytes | str] = {
    "agent/pvc.toml": PLAIN + 'dynamic = ["wiki", "date", "notes", "branch"]\n',
    "agent/a.md": "You are an agent.\n",
    "agent/b.md": "You serve {who}.\n",
}


@dataclass
class Sessions:
    """A repository with a tree `agent`, and sessions in it."""

    workspace: Workspace

    @property
    def repo(self) -> Repository:
        return self.workspace.open()

    def adopt(self, files: dict[str, bytes | str] | None = None, reason: str = "First") -> None:
        """Commit files and make them the tree's next version."""
        self.workspace.commit(files or FILES)
        supersede.run(self.repo, "agent", reason)

    def pin(self, session: str = "s", *, tree: str = "agent", **values: Value) -> Answer:
        """Pin a session."""
        call = Call()
        call.tree, call.session, call.environment = tree, session, values or {"who": "Ann"}
        answer = self.pinner().pin([call])[0]
        assert answer.error is None, answer.message
        return answer

    def pinner(self) -> SessionPinner:
        return SessionPinner(find(str(self.workspace.path)))

    def change(self, text: str, mode: str = "append", author: str = "session") -> Pin:
        """Add one entry to the session `s`."""
        return record(self.repo, "s", [Change(text.encode(), mode, author)])[0]
