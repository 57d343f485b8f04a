"""Entries of a session: each change of its prompt is a pin that supersedes the one before.

    n = 0  version + values       the version's blocks
    n = 1  append "…"             … and one more
    n = 2  replace "…"            that one alone
    n = 3  version + values       a re-pin: the version's blocks, nothing before counts

Rule 1: a pin says by itself what the prompt was after it: its digest is of the whole prompt, and
the entry's text is a body. So the prompt at any past position is rendered, never remembered.
Rule 2: predecessors are found by receipt (`supersedes`), for two clones may have pinned the same
number.
Rule 3: whoever loses a number to another process goes on from the other's pin: both entries count,
in the order in which they were linked.
"""

from pvc.errors import CorruptError, NotFoundError, PvcError, RefusedError, UsageError, WriteError
from pvc.launch import prompt as prompts
from pvc.launch import record, writer
from pvc.launch.call import Call
from pvc.launch.index import tips_bytes
from pvc.launch.known import Known, all_of
from pvc.launch.pin import RETRIES, Pinner, Plan, kept, not_recorded, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pvc.core.entries import Entry
    from pvc.launch.place import Place
    from pvc.launch.record import Record
    from pvc.launch.version import Versions

    Body = Callable[[Known, str], bytes]

BATCH = 64
"""Changes that share a sync of each folder."""
CONTEXT = ":context"
"""What a chain of deliveries is called behind the chain that they belong to."""
DIGESTS = ("prompt.digest", "head.digest")
INHERITED = (
    "session",
    "chain",
    "tree",
    "version",
    "commit",
    "environment.digest",
    "tools.digest",
    "provider",
    "model",
    "privacy",
)
"""What an entry's pin takes over from the one that it supersedes."""


def entries_up_to(known: "Known", pins: "Iterable[Known]", body: "Body") -> "list[Entry]":
    """Give the entries behind a pin, from the version's blocks or the last replace on."""
    by_receipt = {pin.receipt: pin for pin in pins}
    entries: list[Entry] = []
    at: Known | None = known
    while at is not None and at.text("entry.mode"):
        mode = at.text("entry.mode")
        entries.append((at.n, mode, body(at, "entry")))
        if mode == "replace":
            break
        before = at.text("supersedes")
        at = by_receipt.get(before)
        if at is None:
            raise CorruptError(
                f"pin {entries[-1][0]} of session `{known.text('session')}` follows one that is"
                " not here",
                at=before,
                hint="pvc sync",
            )
    return entries[::-1]


class Change:
    """One entry that is asked for."""

    __slots__ = ("author", "data", "mode", "reason")

    def __init__(self, data: bytes, mode: str, author: str = "", reason: str = "") -> None:
        self.data = data
        self.mode = mode
        self.author = author
        self.reason = reason


class SessionPinner(Pinner):
    """Adds to sessions that are pinned."""

    def __init__(self, place: "Place", versions: "Versions | None" = None) -> None:
        super().__init__(place, versions)
        self._bodies: dict[str, bytes] = {}

    def deliver(self, base: "Known", before: "Known | None", data: bytes, n: int) -> "Known | None":
        """Record that context was delivered; null when somebody else has the number.

        The prompt's digest is that of `base`, the session's newest pin: nothing of it changes.
        """
        _refuse_unkept(base)
        plan = Plan(_call(base.text("session"), base.text("chain") + CONTEXT))
        plan.tips = tips_bytes(self.place.home)
        digests = {key: base.record[key] for key in DIGESTS if key in base.record}
        digest = prompts.digest(data)
        plan.bodies = {digest: data}
        self._plan_values(
            plan,
            base,
            {
                **digests,
                "chain": plan.call.chain,
                "n": n,
                "supersedes": before.receipt if before else "",
                "context.digest": digest,
            },
        )
        self._commit([plan])
        return self._recorded(plan)

    def change(self, session: str, chain: str, changes: "list[Change]") -> "list[Known]":
        """Record changes in their order; all are durable when this returns. Gives their pins."""
        found: dict[int, Known] = {}
        made: list[Known] = []
        lost = 0
        while len(made) < len(changes):
            group = self._group(session, chain, changes[len(made) : len(made) + BATCH], found)
            made += group
            lost = 0 if group else lost + 1
            if lost == RETRIES:
                raise WriteError(f"session `{session}` keeps changing", hint="try again")
        self._fold_when_due(len(made))
        return made

    def _group(
        self, session: str, chain: str, changes: "list[Change]", found: "dict[int, Known]"
    ) -> "list[Known]":
        """Record changes with one sync of each folder; gives those that got their numbers."""
        tips = tips_bytes(self.place.home)
        all_of(self.place, self.spool, session, chain, found)
        base = self._base(found, session, chain)
        ahead = {**found}
        plans: list[Plan] = []
        for change in changes:
            plan = Plan(_call(session, chain))
            plan.tips = tips
            self._plan_change(plan, base, change, ahead)
            if plan.record is None:
                raise WriteError(f"session `{session}` cannot be recorded")
            base = ahead[base.n + 1] = Known(plan.record, plan.data, is_local=True)
            plans.append(plan)
        self._link(session, plans)
        made: list[Known] = []
        for plan in plans:
            known = self._recorded(plan)
            if known is None:  # another process was quicker: go on from its pin
                found.clear()
                break
            found[known.n] = known
            made.append(known)
        return made

    def _link(self, session: str, plans: "list[Plan]") -> None:
        """Give records their names in order, up to the first that is taken.

        Nobody may go on from one of ours whose predecessor is not there.
        """
        try:
            for plan in plans:
                self._write_bodies(plan)
            self.spool.sync_bodies()
            for plan in plans:
                self._write_record(plan)
                if not plan.is_linked:
                    break
            self.spool.sync()
            for plan in plans:
                self._hold_bodies(plan)
            self.spool.sync_bodies()
        except (OSError, UsageError) as error:
            raise _failure(session, error) from error

    def _recorded(self, plan: Plan) -> "Known | None":
        if plan.trouble is not None:
            raise _failure(plan.call.session, plan.trouble)
        if plan.record is None or not self._stands(plan):
            return None
        return Known(plan.record, plan.data, is_local=True)

    @staticmethod
    def _base(found: "dict[int, Known]", session: str, chain: str) -> "Known":
        if not found:
            raise NotFoundError(
                f"session `{session}` is not pinned here"
                + ("" if chain == "main" else f" in chain `{chain}`"),
                hint="pvc pin TREE --session ID pins it, or `pvc sync`",
            )
        base = found[max(found)]
        _refuse_unkept(base)
        if base.text("observed"):
            raise RefusedError(
                f"session `{session}` was pinned from bytes that were sent",
                hint="entries need a version; pin the session's tree in a chain of its own",
            )
        return base

    def _plan_change(
        self, plan: Plan, base: "Known", change: Change, found: "dict[int, Known]"
    ) -> None:
        n = base.n + 1
        digest = prompts.digest(change.data)
        plan.prompt = prompt = self._changed(base, change, n, found)
        self._bodies[digest] = change.data
        whole = {prompts.digest(prompt.data): prompt.data}
        inputs = kept(prompt.environment, prompt.tools_body, change.data)
        plan.bodies = {**inputs, **(whole if base.text("privacy") == "bytes" else {})}
        self._plan_values(
            plan,
            base,
            {
                **plan.prompt.digests(),
                "n": n,
                "supersedes": base.receipt,
                "reason": change.reason,
                "entry.mode": change.mode,
                "entry.digest": digest,
                "entry.author": change.author,
            },
        )

    def _plan_values(self, plan: Plan, base: "Known", more: "Record") -> None:
        """Plan a record that takes over what a session's pin says, and `more`."""
        self.writer = self.writer or writer.ensure(self.place.home)
        values: Record = {
            **{key: base.record[key] for key in INHERITED if key in base.record},
            "time": now(),
            "writer": self.writer,
            **more,
        }
        values["format"] = record.format_of(values)
        plan.record, plan.data = values, record.write(values)

    def _changed(
        self, base: "Known", change: Change, n: int, found: "dict[int, Known]"
    ) -> prompts.Prompt:
        """Render the prompt after a change."""
        from pvc.core.json_text import parse_stored

        entries = entries_up_to(base, found.values(), self._cached_body)
        environment = parse_stored(self._cached_body(base, "environment"), "a body of values")
        tools = None
        if base.text("tools.digest"):
            tools = parse_stored(self._cached_body(base, "tools"), "a body of tools")
        if not isinstance(environment, dict):
            raise CorruptError("a pinned environment is no object")
        version = self.versions.at(base.text("commit"))
        shape = base.text("provider") if tools is not None else ""
        more = (n, change.mode, change.data)
        return prompts.render(version, environment, tools, shape, [*entries, more])

    def _cached_body(self, known: "Known", part: str) -> bytes:
        digest = known.text(f"{part}.digest")
        if digest not in self._bodies:
            self._bodies[digest] = self._body(known, part)
        return self._bodies[digest]


def _failure(session: str, why: Exception) -> PvcError:
    message = not_recorded(session, why)
    if isinstance(why, UsageError):
        return UsageError(message, hint=why.hint)
    return WriteError(message)


def _refuse_unkept(base: "Known") -> None:
    """Refuse to go on from a prompt that nobody can render again."""
    privacy = base.text("privacy")
    if privacy in ("digest", "keyed"):
        raise RefusedError(
            f"session `{base.text('session')}` was pinned with privacy `{privacy}`: what it was"
            " told is not kept, so nothing can be added to it",
            hint="`pvc pin --repin REASON --privacy inputs` keeps it from there on",
        )


def _call(session: str, chain: str) -> Call:
    call = Call()
    call.session, call.chain, call.must_record = session, chain, True
    return call
