"""Owns the synchronous face of the way in: the same names as the asynchronous one, each blocking its caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self

from ._duration import Duration
from ._errors import ConnectionClosedError
from ._generated.models import (
    Limits,
    ModelInfo,
    ModelOptions,
    PermissionMode,
    PermissionPolicy,
    RecoveryPolicy,
    SessionListResult,
    ToolInfo,
)
from ._portal import Portal
from ._quiesce import AsyncQuiesce
from ._sessions import AsyncSessions, StrPath
from ._sync_session import Session, like


class Quiesce:
    """A runtime of one's own, for code that blocks. Made by `launch`; usable from several threads, and inside a
    running event loop (in a notebook), since its own loop runs on a thread of its own. Its methods block, and are
    those of `AsyncQuiesce`.

    Interrupted (Ctrl-C) in `run`, `collect` or a stream, the run is given up as its `on_abort` says (RUN-9).
    Forgotten, or at the end of the interpreter, the runtime is ended.
    """

    def __init__(self, portal: Portal, quiesce: AsyncQuiesce) -> None:
        self._portal = portal
        self._quiesce = quiesce
        self._sessions = Sessions(portal, quiesce.sessions)

    @classmethod
    def launch(
        cls,
        *,
        runtime: StrPath | None = None,
        cwd: StrPath | None = None,
        env: Mapping[str, str | None] | None = None,
        store: str | None = None,
        model: str | None = None,
        log_level: str | None = None,
        on_stderr: Callable[[str], object] | None = None,
        request_timeout: Duration | None = 60.0,
    ) -> Self:
        """Launches a runtime, and returns once it is ready: `with Quiesce.launch() as quiesce:`, or `close()` it when
        done.

        The options, and what it raises, are those of `AsyncQuiesce.launch`.
        """
        quiesce = AsyncQuiesce.launch(
            runtime=runtime,
            cwd=cwd,
            env=env,
            store=store,
            model=model,
            log_level=log_level,
            on_stderr=on_stderr,
            request_timeout=request_timeout,
        )
        return cls._opened(quiesce)

    @classmethod
    def _opened(cls, quiesce: AsyncQuiesce) -> Self:
        portal = Portal()
        try:
            portal.call(quiesce.__aenter__)
        except BaseException:
            portal.stop()
            raise
        return cls(portal, quiesce)

    @property
    def sessions(self) -> Sessions:
        """The sessions of the runtime's store."""
        return self._sessions

    @like(AsyncQuiesce.models)
    def models(self, *, provider: str | None = None) -> list[ModelInfo]:
        return self._portal.call(lambda: self._quiesce.models(provider=provider))

    @like(AsyncQuiesce.tools)
    def tools(self, *, session_id: str | None = None) -> list[ToolInfo]:
        return self._portal.call(lambda: self._quiesce.tools(session_id=session_id))

    @like(AsyncQuiesce.ping)
    def ping(self) -> None:
        self._portal.call(self._quiesce.ping)

    @like(AsyncQuiesce.close)
    def close(self) -> None:
        try:
            self._portal.call(self._quiesce.close)
        except ConnectionClosedError:
            pass  # another thread was faster
        finally:
            self._portal.stop()

    def __enter__(self) -> Self:
        self._portal.call(self._quiesce.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Sessions:
    """The sessions of the runtime's store, for code that blocks; its methods are those of `AsyncSessions`."""

    def __init__(self, portal: Portal, sessions: AsyncSessions) -> None:
        self._portal = portal
        self._sessions = sessions

    @like(AsyncSessions.create)
    def create(
        self,
        *,
        session_id: str | None = None,
        cwd: StrPath | None = None,
        roots: Sequence[StrPath] | None = None,
        model: str | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
        system: str | None = None,
        instructions: str | None = None,
        tools: Sequence[str] | None = None,
        permissions: PermissionMode | PermissionPolicy | Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        recovery: RecoveryPolicy | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        create = partial(
            self._sessions.create,
            session_id=session_id,
            cwd=cwd,
            roots=roots,
            model=model,
            model_options=model_options,
            system=system,
            instructions=instructions,
            tools=tools,
            permissions=permissions,
            env=env,
            limits=limits,
            recovery=recovery,
            title=title,
            metadata=metadata,
        )
        return Session(self._portal, self._portal.call(create))

    @like(AsyncSessions.get)
    def get(self, session_id: str) -> Session:
        return Session(self._portal, self._portal.call(lambda: self._sessions.get(session_id)))

    @like(AsyncSessions.list)
    def list(
        self,
        *,
        parent_id: str | None = None,
        status: Literal["running", "idle"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SessionListResult:
        return self._portal.call(
            lambda: self._sessions.list(
                parent_id=parent_id, status=status, metadata=metadata, limit=limit, cursor=cursor
            )
        )

    @like(AsyncSessions.delete)
    def delete(self, session_id: str, *, tree: bool = False) -> None:
        self._portal.call(lambda: self._sessions.delete(session_id, tree=tree))
