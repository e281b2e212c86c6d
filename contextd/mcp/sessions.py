"""The sessions of protocols up to 2025-11-25, which any process can restore from their rows."""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Collection
from functools import partial
from typing import Any, Final, TypeVar, get_args

import anyio
from anyio.abc import TaskGroup
from django.conf import settings
from mcp.types import INVALID_PARAMS, JSONRPCNotification
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from contextd import bus, changes, gate, sessions
from contextd.errors import ContextdError, Invalid, NotFound
from contextd.mcp import batches, envelope, handshake, replay, sdk
from contextd.mcp.admissions import Admissions
from contextd.mcp.held import Content, Held, process_that_asked
from contextd.mcp.peers import Peers
from contextd.mcp.sender import Sender
from contextd.mcp.server import AnnouncingServer
from contextd.models import Session
from contextd.workers import Workers

HEADER: Final = "mcp-session-id"
LAST_EVENT: Final = "last-event-id"

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


class CallEnded(NotFound):
    """The call that the client answers or resumes has ended, at least in this process."""

    status = 410


class Sessions(sdk.SessionManager):
    """Holds the sessions in use in this process; the row of each is authoritative."""

    def __init__(
        self, server: AnnouncingServer, peers: Peers, look_ups: Workers, admissions: Admissions
    ) -> None:
        super().__init__(server, max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        self._admissions = admissions
        self._server = server
        self._peers = peers
        self._look_ups = look_ups
        self._held: dict[str, Held] = {}
        self._seen: set[str] = set()
        self._endings_heard = 0
        self._tasks: TaskGroup

    @property
    def held(self) -> int:
        return len(self._held)

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with super().run(), anyio.create_task_group() as self._tasks:
            async with self._peers.listening(self._hear):
                self._tasks.start_soon(self._tend)
                yield
            with anyio.CancelScope(shield=True):
                await self._note_seen()
            self._tasks.cancel_scope.cancel()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = Headers(scope=scope).get(HEADER)
        if session_id is None:
            await self._open(scope, receive, send)
            return
        held = await self._find(session_id, scope["user"])
        self._seen.add(held.id)
        if scope["method"] == "POST":
            await self._post(held, scope, receive, send)
        elif scope["method"] == "DELETE":
            await self._end(held)
            await Response()(scope, receive, send)
        else:
            await self._listen(held, scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise handshake.missing()
        body = await envelope.read(receive)
        content = from_json(body)
        if isinstance(content, list):
            raise handshake.missing()
        try:
            asked = handshake.read(content)
        except handshake.Unacceptable as error:
            refusal = gate.as_rpc(error, request_id=content["id"], code=INVALID_PARAMS)
            await JSONResponse(refusal, status_code=error.status)(scope, receive, send)
            return
        held = self._hold(await self._begin(asked, scope["user"]), scope["user"], is_new=True)
        await held.ready()
        receive = envelope.unread(body, receive)
        status = await sdk.status_sent(held.transport.handle_request, scope, receive, send)
        if status is None or status >= 400:
            await self._end(held)

    async def _begin(self, asked: handshake.Handshake, sender: Sender) -> Session:
        begin = partial(
            sessions.begin,
            sender.principal,
            context=sender.context,
            client=asked.client,
            protocol_version=asked.protocol_version,
        )
        return await self._look_up(begin)

    async def _find(self, session_id: str, sender: Sender) -> Held:
        """Return the sender's session, restored from its row if needed. Raise NotFound if none."""
        owner = (sender.principal.name, sender.context)
        held = self._held.get(session_id)
        if held is None or held.is_ending:
            held = await self._restore(session_id, sender)
        if held is None or held.owner != owner:
            raise NotFound("there is no such session, or it has ended: initialize a new one")
        held.sender = sender
        await held.ready()
        return held

    async def _restore(self, session_id: str, sender: Sender) -> Held | None:
        principal = sender.principal.name
        find = partial(sessions.find, session_id, principal=principal, context=sender.context)
        heard = -1
        # The session may end during the look-up, before this process holds it: look it up again.
        while heard != self._endings_heard:
            heard = self._endings_heard
            row = await self._look_up(find)
        held = self._held.get(session_id)
        if held is not None and not held.is_ending:
            return held
        return self._hold(row, sender, is_new=False) if row else None

    def _hold(self, row: Session, sender: Sender, *, is_new: bool) -> Held:
        send_elsewhere = partial(self._send_to_stream, row.pk)
        held = Held(row, sender, self._admissions, send_elsewhere, is_new=is_new)
        self._held[held.id] = held
        self._tasks.start_soon(self._run, held)
        return held

    async def _run(self, held: Held) -> None:
        try:
            await held.run(self._server, self.lifespan_state)
        except Exception:
            logger.exception("a session failed; it is restored from its row when it is needed")
        finally:
            await self._let_go(held)

    async def _let_go(self, held: Held) -> None:
        if self._held.get(held.id) is held:
            del self._held[held.id]
        if not held.transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await held.transport.terminate()

    async def _end(self, held: Held) -> None:
        await self._look_up(partial(sessions.end, [held.id]))
        await self._let_go(held)

    async def _listen(self, held: Held, scope: Scope, receive: Receive, send: Send) -> None:
        last_event = Headers(scope=scope).get(LAST_EVENT)
        if last_event is not None and not replay.is_of_standalone_stream(last_event):
            if not held.replay.has(last_event):
                raise CallEnded(
                    "this stream cannot be resumed here: it has ended, or its call runs in another "
                    "server process. Find out what the call has changed before you repeat it"
                )
            await held.transport.handle_request(scope, receive, send)
            return
        await self._peers.publish(bus.StreamOpened(session=held.id))
        async with held.listening():
            if held.may_have_missed and not held.replay.has(last_event):
                scope = resuming(await self._announce_all(held), scope)
            await held.transport.handle_request(scope, receive, send)

    async def _announce_all(self, held: Held) -> str:
        """Announce all that the client may have missed; return the event to resume from.

        Permissions need no check: the client learns only what it has subscribed to.
        """
        uris = await self._look_up(partial(sessions.subscribed, held.id))
        lists = [
            notification(f"notifications/{kind}/list_changed") for kind in get_args(bus.ListName)
        ]
        updates = [notification("notifications/resources/updated", {"uri": uri}) for uri in uris]
        return await held.replay.begin_with([*lists, *updates])

    async def _post(self, held: Held, scope: Scope, receive: Receive, send: Send) -> None:
        body = await envelope.read(receive)
        content = from_json(body)
        if isinstance(content, list):
            batches.check(content, held.protocol_version)
            take = partial(self._take, held, scope)
            await batches.serve(content, take, scope, receive, send)
        else:
            await self._take(held, scope, content, envelope.unread(body, receive), send)

    async def _take(
        self, held: Held, scope: Scope, content: Content, receive: Receive, send: Send
    ) -> None:
        if await self._passes_on(held, content):
            await Response(status_code=202)(scope, receive, send)
            return
        with held.one_at_a_time(content):
            await held.transport.handle_request(scope, receive, send)

    async def _passes_on(self, held: Held, content: Content) -> bool:
        """Return whether the message was for another process only and has been forwarded there."""
        match content:
            case {"method": "initialize"}:
                raise Invalid(
                    "this session is initialized; to begin a new one, omit the session id"
                )
            case {"method": "notifications/cancelled", "params": {"requestId": running}}:
                if not held.is_running(running):
                    await self._peers.publish(bus.FromClient(session=held.id, content=content))
            case {"method": "notifications/progress", "params": {"progressToken": asked}}:
                return await self._return_to(process_that_asked(asked), held.id, content)
            case {"id": asked} if "method" not in content:
                return await self._answer(process_that_asked(asked), held.id, content)
        return False

    async def _answer(self, process: str | None, session_id: str, content: Content) -> bool:
        if process in (None, bus.this_process()):
            return False
        if not await self._return_to(process, session_id, content):
            raise CallEnded(
                "the call that asked for this ended with its server process: call again"
            )
        return True

    async def _return_to(self, process: str | None, session_id: str, content: Content) -> bool:
        if process is None or process == bus.this_process():
            return False
        return await self._peers.send(process, bus.FromClient(session=session_id, content=content))

    async def _send_to_stream(self, session_id: str, content: Content) -> None:
        await self._peers.publish(bus.ToClient(session=session_id, content=content))

    def _hear(self, message: bus.News) -> None:
        if isinstance(message, bus.SessionsEnded):
            self._endings_heard += 1
            self._let_go_of(message.sessions)
            return
        if isinstance(message, changes.Announcement):
            return
        held = self._held.get(message.session)
        if held is None or message.sender == bus.this_process():
            return
        match message:
            case bus.StreamOpened():
                held.note_listening_elsewhere()
            case bus.FromClient():
                self._tasks.start_soon(held.take, message.content)
            case bus.ToClient():
                self._tasks.start_soon(held.give, message.content)

    def _let_go_of(self, session_ids: Collection[str]) -> None:
        for session_id in session_ids:
            if held := self._held.get(session_id):
                self._tasks.start_soon(self._let_go, held)

    async def _tend(self) -> None:
        while True:
            await anyio.sleep(sessions.TOUCH_INTERVAL.total_seconds())
            await self._note_seen()

    async def _note_seen(self) -> None:
        """Record which sessions were used, and drop those that ended unnoticed."""
        self._seen |= {held.id for held in self._held.values() if held.is_in_use}
        seen, self._seen = self._seen, set()
        try:
            if seen:
                await self._look_up(partial(sessions.note_seen, seen))
            ended = await self._look_up(partial(sessions.ended_among, list(self._held)))
        except ContextdError:
            self._seen |= seen
        else:
            self._let_go_of(ended)

    async def _look_up(self, work: Callable[[], Answer]) -> Answer:
        return await self._look_ups.run_safely("the look-up of a session", work)


def resuming(event_id: str, scope: Scope) -> Scope:
    """Return the request of a client that has received that event last."""
    header = LAST_EVENT.encode()
    others = [(name, value) for name, value in scope["headers"] if name != header]
    return {**scope, "headers": [*others, (header, event_id.encode())]}


def notification(method: str, params: dict[str, Any] | None = None) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
