"""Pin: write down what a session is told, durably, before the session begins.

    prepare ──► commit ──► settle
    (render,    (bodies,    (look again,
     look)       record)     answer)

Rule 1: nothing is answered before it is on the disk: bodies first, synced; then the record, synced
under a temporary name, linked, its folder synced.
Rule 2: of two processes that pin one session at once, the link decides; after it both look into
the index, because a fold may have taken an older record from the spool in between. Whoever finds
another's record there takes its own back, and nobody can have been told otherwise
(`launch.known`, rules 1 and 2).
Rule 3: a known session keeps its version. Only other values can differ then, and they are refused
before anything is spent.
Rule 4: a launch goes on when recording fails; that is said, and `--must-record` says otherwise.
Rule 5: what is kept beside the record is `pvc.privacy`'s to say, or `--privacy`'s: the inputs, the
rendered bytes too, or nothing. Secrets in it are named before it is kept, or stop the pin. A record
says what was kept, and a known session is compared by what its own record says.
"""

import time

from pvc.core.json_text import parse_stored
from pvc.core.secret_signs import shows_sign
from pvc.errors import (
    CorruptError,
    NotFoundError,
    PvcError,
    RefusedError,
    UsageError,
    WriteError,
)
from pvc.launch import prompt as prompts
from pvc.launch import record, settings, writer
from pvc.launch.answer import Answer, failed
from pvc.launch.disk import refusal, refuse_out
from pvc.launch.index import tips_bytes
from pvc.launch.known import Known, all_of, folded, newest
from pvc.launch.prompt import Prompt
from pvc.launch.spool import FOLD_AT, Spool, body, check_sizes
from pvc.launch.version import Version, Versions
from pvc.model.times import LAST_SECOND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pvc.core.entries import Entry
    from pvc.core.json_text import Value
    from pvc.launch.answer import Status
    from pvc.launch.call import Call
    from pvc.launch.place import Place
    from pvc.launch.record import Record
    from pvc.launch.settings import Settings

    Step = Callable[["Plan"], None]
    Sync = Callable[[], None]

COUNT_EVERY = 16
STAYS = "it is kept in this clone"
LEAVES = "the ledger keeps it, and every sync sends it"
SECRETS_HINT = (
    "take it out of what is pinned, pin with `--privacy digest`, or `git config pvc.secrets warn`"
)
RETRIES = 8
"""How often a record may vanish under us (each time, another process lost to a third)."""


class Plan:
    """One call on its way: what is rendered, what is known, what is to be written."""

    __slots__ = (
        "answer",
        "bodies",
        "call",
        "data",
        "is_linked",
        "known",
        "notes",
        "prompt",
        "record",
        "tips",
        "trouble",
        "version",
    )

    def __init__(self, call: "Call") -> None:
        self.call = call
        self.version: Version | None = None
        self.prompt: Prompt | None = None
        self.known: Known | None = None
        self.record: Record | None = None
        self.data = b""
        self.bodies: dict[str, bytes] = {}
        self.is_linked = False
        self.answer: Answer | None = None
        self.tips: bytes | None = None
        self.trouble: Exception | None = None
        self.notes: list[str] = list(call.notes)


class Pinner:
    """Pins sessions in one repository."""

    def __init__(self, place: "Place", versions: Versions | None = None) -> None:
        self.place = place
        self.spool = Spool(place.home)
        self.until_count = 0
        self.writer = ""
        self.versions = versions or Versions(place)
        self._settings: Settings | None = None

    @property
    def settings(self) -> "Settings":
        """What is set in git, read at the first need of it."""
        if self._settings is None:
            self._settings = settings.read(self.place)
        return self._settings

    def pin(self, calls: "list[Call]") -> list[Answer]:
        """Answer calls in their order; the sessions of one batch must differ."""
        plans = [Plan(call) for call in calls]
        for plan in plans:
            self._guarded(plan, self._prepare)
        self._commit([plan for plan in plans if plan.answer is None])
        for plan in plans:
            if plan.answer is None:
                self._guarded(plan, self._settle)
        self._fold_when_due(sum(plan.is_linked for plan in plans))
        return [plan.answer or failed(PvcError("no answer"), plan.call.id) for plan in plans]

    def _guarded(self, plan: Plan, step: "Step") -> None:
        try:
            step(plan)
        except PvcError as error:
            plan.answer = failed(error, plan.call.id)

    # --- prepare: render, and look whether the session is known -----------------------------

    def _prepare(self, plan: Plan) -> None:
        call = plan.call
        if call.out and call.out != "-":
            refuse_out(call.out)
        try:
            plan.tips = tips_bytes(self.place.home)
            plan.known = newest(self.place, self.spool, call.session, call.chain)
        except (OSError, CorruptError) as error:
            plan.trouble = error
        if call.resume:
            self._resume(plan)
        elif plan.known is None:
            self._render(plan, self.versions.named(call.tree) if call.tree else None)
            self._plan_record(plan, 0)
        elif call.repin:
            self._render(plan, self.versions.named(call.tree) if call.tree else None)
            if self._is_same(plan) and self._commit_of(plan) == plan.known.text("commit"):
                plan.answer = self._answer(plan, "same")
            else:
                self._plan_record(plan, plan.known.n + 1)
        else:
            self._judge(plan)

    def _render(self, plan: Plan, at: Version | None) -> None:
        call, known = plan.call, plan.known
        plan.version = at
        if call.observed:
            plan.prompt = Prompt(call.observed_bytes, [], ())
            return
        if at is None:
            raise RefusedError(
                f"session `{call.session}` was pinned from bytes that were sent",
                hint="`--repin REASON`, or another `--chain`",
            )
        shape = call.provider or (known.text("provider") if known else "")
        entries = self._entries(known) if known and not call.repin else ()
        plan.prompt = prompts.render(at, call.environment or {}, call.tools, shape, entries)

    def _plan_record(self, plan: Plan, n: int) -> None:
        call, known, prompt = plan.call, plan.known, plan.prompt
        if prompt is None or plan.trouble is not None:
            return
        if not prompt.data and not call.allow_empty:
            raise RefusedError(
                "the prompt is empty, so the session would be sent nothing",
                hint="pvc render shows what is sent; `--allow-empty` pins it as it is",
            )
        values: Record = {
            "format": record.FORMAT,
            "session": call.session,
            "chain": call.chain,
            "n": n,
            "provider": prompt.shape or call.provider,
            "model": call.model,
            "observed": call.observed,
            "supersedes": known.receipt if known else "",
            "reason": call.repin,
        }
        if plan.version:
            values["tree"] = plan.version.tree
            values["version"] = plan.version.number
            values["commit"] = plan.version.commit
        try:
            values["time"] = now()
            self.writer = self.writer or writer.ensure(self.place.home)
            values["writer"] = self.writer
            self._plan_kept(plan, prompt, values)
        except (OSError, WriteError) as error:
            plan.trouble = error
            return
        plan.record, plan.data = values, record.write(values)

    def _plan_kept(self, plan: Plan, prompt: Prompt, values: "Record") -> None:
        """Plan which bodies are kept beside the record, and how it says so."""
        privacy = plan.call.privacy or self.settings.privacy
        digests = prompt.digests()
        if privacy == "keyed":
            from pvc.launch import seal

            key = seal.ensure(self.place, self.settings.key)
            digests, values["key"] = key.seal_all(digests), key.name
        values.update(digests)
        if privacy != "inputs":
            values["privacy"] = privacy
            values["format"] = record.format_of(values)
        call = plan.call
        words = (
            ("reason", call.repin),
            ("session's name", call.session),
            ("chain's name", call.chain),
            ("model's name", call.model),
        )
        for what, text in words:
            self._look_for_secrets(plan, what, text.encode("utf-8", "surrogatepass"), LEAVES)
        if privacy in ("inputs", "bytes"):
            self._look_for_secrets(plan, "value", prompt.environment, STAYS)
            self._look_for_secrets(plan, "tools", prompt.tools_body, STAYS)
            if call.observed:
                self._look_for_secrets(plan, "bytes", prompt.data, STAYS)
            whole = prompt.data if call.observed or privacy == "bytes" else None
            plan.bodies = kept(prompt.environment, prompt.tools_body, whole)

    def _look_for_secrets(self, plan: Plan, what: str, data: bytes | None, where: str) -> None:
        """Say which secrets are about to be kept, or refuse; costs an import only at a sign."""
        if data is None or self.settings.secrets == "allow" or not shows_sign(data):
            return
        from pvc.ops.secrets import named

        found = named(data, what)
        if found and self.settings.secrets == "refuse":
            raise RefusedError(found[0], hint=SECRETS_HINT)
        plan.notes += [f"{words}; {where}" for words in found]

    # --- commit: bodies, then records, each group with one sync -----------------------------

    def _commit(self, plans: list[Plan]) -> None:
        for plan in plans:
            self._tried(plan, self._write_bodies)
        self._synced(plans, self.spool.sync_bodies)
        for plan in plans:
            self._tried(plan, self._write_record)
        self._synced(plans, self.spool.sync)
        for plan in plans:
            self._tried(plan, self._hold_bodies)
        self._synced(plans, self.spool.sync_bodies)

    def _write_bodies(self, plan: Plan) -> None:
        check_sizes(plan.data, plan.bodies)
        for digest, data in plan.bodies.items():
            self.spool.add_body(digest, data)

    def _hold_bodies(self, plan: Plan) -> None:
        """Write again what was taken away before the record was there (`launch.spool`, rule 3)."""
        for digest, data in plan.bodies.items():
            if plan.is_linked and not self.spool.has_body(digest):
                self.spool.add_body(digest, data)

    def _write_record(self, plan: Plan) -> None:
        if plan.record is not None:
            plan.is_linked = self.spool.add(plan.record, plan.data)

    def _tried(self, plan: Plan, step: "Step") -> None:
        if plan.trouble is None:
            try:
                step(plan)
            except (OSError, UsageError) as error:
                plan.trouble = error

    def _synced(self, plans: list[Plan], sync: "Sync") -> None:
        going = [plan for plan in plans if plan.trouble is None]
        try:
            if going:
                sync()
        except OSError as error:
            for plan in going:
                plan.trouble = error

    # --- settle: look again, and answer -----------------------------------------------------

    def _settle(self, plan: Plan) -> None:
        try:
            for _ in range(RETRIES):
                if plan.trouble is not None:
                    break
                if self._settled(plan):
                    return
                self._commit([plan])
        except (OSError, CorruptError) as error:
            plan.trouble = error
        self._unrecorded(plan)

    def _settled(self, plan: Plan) -> bool:
        """Answer by what is on the disk now; false when the name is free again."""
        if self._stands(plan):
            plan.answer = self._answer(plan, "pinned")
            return True
        call = plan.call
        plan.known = newest(self.place, self.spool, call.session, call.chain)
        if plan.known is None or plan.record is None or plan.known.n < int(plan.record["n"]):
            return False
        self._judge(plan)
        return True

    def _stands(self, plan: Plan) -> bool:
        """Say whether our record has the name; takes it back where it has not."""
        if plan.record is None:
            raise PvcError("nothing was to be recorded")
        call, n = plan.call, plan.record["n"]
        mine = record.receipt(plan.data)
        rivals = []
        if tips_bytes(self.place.home) != plan.tips:
            rivals = [
                known
                for known in folded(self.place, call.session, call.chain)
                if known.is_local and known.n == n
            ]
        if plan.is_linked and all(known.receipt == mine for known in rivals):
            return True
        if plan.is_linked:
            self.spool.remove(plan.record)
        return False

    def _unrecorded(self, plan: Plan) -> None:
        why = plan.trouble
        at = str(why.filename or "") if isinstance(why, OSError) else ""
        message = not_recorded(plan.call.session, why)
        if plan.call.must_record:
            raise WriteError(message, at=at, hint="without `--must-record` the launch goes on")
        plan.known = None
        plan.answer = answer = self._answer(plan, "unrecorded")
        answer.receipt = ""
        answer.message = f"{at}: {message}" if at else message

    # --- a session that is known ------------------------------------------------------------

    def _judge(self, plan: Plan) -> None:
        """Compare what is asked for with what is pinned."""
        known, call = plan.known, plan.call
        if known is None:
            raise PvcError("nothing to compare with")
        self._check_tree(plan)
        commit = known.text("commit")
        if commit and not call.observed:
            self._render(plan, self.versions.at(commit))
        else:
            self._render(plan, self.versions.named(call.tree) if call.tree else None)
        self._note_adoption(plan)
        if self._is_same(plan):
            plan.answer = self._answer(plan, "same")
        else:
            self._refuse(plan)

    def _is_same(self, plan: Plan) -> bool:
        known, call, prompt = plan.known, plan.call, plan.prompt
        if known is None or prompt is None:
            return False
        digests = self._as_recorded(known, prompt)
        if known.text("prompt.digest") != digests["prompt.digest"]:
            return False
        if call.model and known.text("model") not in ("", call.model):
            return False
        if call.provider and known.text("provider") not in ("", call.provider):
            return False
        if known.text("head.digest"):
            return known.text("head.digest") == digests.get("head.digest")
        return prompt.tools_body is None

    def _as_recorded(self, known: Known, prompt: Prompt) -> dict[str, str]:
        """Give a prompt's digests as the known record would hold them, keyed if they are."""
        if not known.text("key"):
            return prompt.digests()
        from pvc.launch import seal

        what = f"session `{known.text('session')}`"
        key = seal.load(self.place, self.settings.key, known.text("key"), what)
        return key.seal_all(prompt.digests())

    def _refuse(self, plan: Plan) -> None:
        from pvc.launch import divergence

        known, call, prompt = plan.known, plan.call, plan.prompt
        if known is None or prompt is None:
            raise PvcError("nothing to refuse")
        plan.answer = answer = self._answer(plan, "refused")
        answer.hint = f"`--repin REASON` records the change; the receipt was {known.receipt}"
        where = "its bytes are not here to compare with"
        for name in ("provider", "model"):
            told, pinned = str(getattr(call, name)), known.text(name)
            if told and pinned and told != pinned:
                answer.divergence = divergence.of_setting(name, pinned, told)
                where = divergence.in_words(answer.divergence)
                break
        else:
            pinned_prompt = self._pinned_or_none(known, prompt.shape)
            if pinned_prompt is not None:
                answer.divergence = divergence.of_prompts(pinned_prompt, prompt)
                answer.divergence |= self._price(known, pinned_prompt, prompt)
                where = divergence.in_words(answer.divergence)
        answer.message = f"session `{call.session}` was pinned with other bytes: {where}"
        answer.prompt_digest = prompt.digests()["prompt.digest"]
        answer.head_digest = prompt.digests().get("head.digest", "")

    def _price(self, known: Known, pinned: Prompt, given: Prompt) -> "dict[str, Value]":
        from pvc.ops.cost import of_refusal

        try:
            return of_refusal(self.place.git_dir, known.data, pinned, given)
        except (NotFoundError, CorruptError):
            return {}  # the refusal stands without its price

    def _pinned_or_none(self, known: Known, shape: str) -> Prompt | None:
        try:
            prompt = self.pinned(known, shape)
        except (NotFoundError, CorruptError):
            return None  # the refusal stands on digests; only its place is lost
        is_whole = not known.text("tools.digest") or prompt.tools_body is not None
        return prompt if is_whole else None

    def _resume(self, plan: Plan) -> None:
        call, known = plan.call, plan.known
        if isinstance(plan.trouble, OSError):
            raise refusal(plan.trouble)
        if plan.trouble is not None:
            raise plan.trouble
        if known is None:
            raise NotFoundError(
                f"session `{call.session}` is not pinned here",
                hint="leave `--resume` out to pin it, or `pvc sync`",
            )
        self._check_tree(plan)
        plan.prompt = self.pinned(known, known.text("provider"))
        self._note_adoption(plan)
        plan.answer = self._answer(plan, "same")

    def pinned(self, known: Known, shape: str) -> Prompt:
        """Give a pinned prompt again: from its version and its bodies, or as it was kept."""
        if known.text("observed"):
            return Prompt(self._body(known, "prompt"), [], ())
        try:
            return self._rendered_again(known, shape)
        except NotFoundError:
            whole = None
            if known.text("privacy") == "bytes":
                whole = body(self.place, known.text("prompt.digest"), known.text("writer"))
            if whole is None:
                raise
            return Prompt(whole, [], ())

    def _rendered_again(self, known: Known, shape: str) -> Prompt:
        environment = parse_stored(self._body(known, "environment"), "a body of values")
        tools = None
        if known.text("tools.digest"):
            tools = parse_stored(self._body(known, "tools"), "a body of tools")
        at = self.versions.at(known.text("commit"))
        if not isinstance(environment, dict):
            raise CorruptError("a pinned environment is no object")
        shape = shape if tools is not None else ""
        prompt = prompts.render(at, environment, tools, shape, self._entries(known))
        if prompt.digests()["prompt.digest"] != known.text("prompt.digest"):
            raise CorruptError(
                f"{at.label} renders to other bytes than were pinned", hint="`pvc verify`"
            )
        return prompt

    def _entries(self, known: Known) -> "Sequence[Entry]":
        """Give what the session added up to a pin."""
        if not known.text("entry.mode"):
            return ()
        from pvc.launch.entry import entries_up_to

        pins = all_of(self.place, self.spool, known.text("session"), known.text("chain"), {})
        return entries_up_to(known, pins.values(), self._body)

    def _body(self, known: Known, part: str) -> bytes:
        wanted = known.text(f"{part}.digest")
        if wanted == prompts.digest(prompts.EMPTY):
            return prompts.EMPTY
        if known.text("privacy") in ("digest", "keyed"):
            return self._searched(known, part)
        found = body(self.place, wanted, known.text("writer"))
        return self._searched(known, part) if found is None else found

    def _searched(self, known: Known, part: str) -> bytes:
        """Look for a body once more, as other commands do; raises what stands in the way."""
        from pvc.ops.pins import search_body

        what = {"prompt": "bytes", "environment": "values"}.get(part, part)
        return search_body(
            self.place.git_dir,
            known.text(f"{part}.digest"),
            f"the {what} of session `{known.text('session')}`",
            known.data,
        )

    def _check_tree(self, plan: Plan) -> None:
        known = plan.known
        asked, pinned = plan.call.tree.partition("@")[0], known.text("tree") if known else ""
        if asked and pinned and asked != pinned:
            raise RefusedError(
                f"session `{plan.call.session}` is pinned to tree `{pinned}`, not `{asked}`",
                hint="`--repin REASON` moves it; `--chain NAME` pins a second prompt",
            )

    def _note_adoption(self, plan: Plan) -> None:
        """Say when the version asked for is no longer the pinned one."""
        known, tree = plan.known, plan.call.tree
        if known is None or not tree or not known.text("commit"):
            return
        try:
            asked = self.versions.named(tree)
        except PvcError:
            return  # the session does not depend on it
        if asked.commit == known.text("commit"):
            return
        if "@" in tree:  # a channel may have gone back
            now = f"{tree} is {asked.label}" if tree != asked.label else f"{tree} was asked for"
        else:
            now = f"{asked.label} was adopted since"
        stays, pinned = _label(known), known.text("commit")
        if stays == asked.label:  # one number, two versions: a resolve came between
            stays = f"the {stays} with the commit {pinned[:12]}"
        plan.notes.append(
            f"{now}; session {plan.call.session} stays at {stays} (--repin REASON moves it)"
        )

    # --- answers ----------------------------------------------------------------------------

    def _answer(self, plan: Plan, status: "Status") -> Answer:
        answer = Answer(status, plan.call.id, plan.call.out)
        answer.notes = plan.notes
        if plan.prompt is not None:
            answer.data = plan.prompt.data
            digests = plan.prompt.digests()
            answer.prompt_digest = digests["prompt.digest"]
            answer.head_digest = digests.get("head.digest", "")
        if plan.known is not None and status != "pinned":
            answer.receipt = plan.known.receipt
            answer.version, answer.commit = _label(plan.known), plan.known.text("commit")
            return answer
        if plan.data:
            answer.receipt = record.receipt(plan.data)
        if plan.version is not None:
            answer.version, answer.commit = plan.version.label, plan.version.commit
        return answer

    @staticmethod
    def _commit_of(plan: Plan) -> str:
        return plan.version.commit if plan.version else ""

    def _fold_when_due(self, added: int) -> None:
        """Count the spool at the first pin of a process, then at every sixteenth."""
        self.until_count -= added
        if added and self.until_count < 0:
            self.until_count = COUNT_EVERY
            if self.spool.count() >= FOLD_AT:
                from pvc.launch.detach import fold

                fold(self.place)


def not_recorded(session: str, why: Exception | None) -> str:
    """Write the message for a session whose record could not be written."""
    reason = why.strerror.lower() if isinstance(why, OSError) and why.strerror else str(why)
    return f"session `{session}` is not recorded: {reason}"


def now() -> str:
    """Give the time as records hold it; raises `WriteError` when the clock shows none of these."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    if not 0 <= seconds <= LAST_SECOND:
        raise WriteError(
            f"the clock shows @{seconds}, a time that no record can hold", hint="set the clock"
        )
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{nanoseconds // 1000:06d}Z", time.gmtime(seconds))


def kept(*parts: bytes | None) -> dict[str, bytes]:
    """Give what is to be kept by its digest; an empty environment is known everywhere."""
    given = [data for data in parts if data is not None and data != prompts.EMPTY]
    return {prompts.digest(data): data for data in given}


def _label(known: Known) -> str:
    return f"{known.text('tree')}@{known.text('version')}" if known.text("tree") else ""
