"""Owns how sessions are made, found, listed and deleted."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ._generated.models import (
    Limits,
    ModelOptions,
    PermissionMode,
    PermissionPolicy,
    RecoveryPolicy,
    SessionCreateParams,
    SessionCreateResult,
    SessionDeleteResult,
    SessionGetResult,
    SessionListResult,
)
from ._options import items, path
from ._params import given, params
from ._run import Connect
from ._session import AsyncSession

StrPath = str | os.PathLike[str]
"""A path."""


class AsyncSessions:
    """The sessions of the runtime's store. `cwd` and `model` of the launch are what sessions get that name none."""

    def __init__(self, connect: Connect, cwd: StrPath | None, model: str | None) -> None:
        self._connect = connect
        self._cwd = Path.cwd() if cwd is None else Path(cwd).absolute()
        self._model = model

    async def create(
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
    ) -> AsyncSession:
        """Creates a session; what is left out is the runtime's default.

        `cwd`: the working directory; it must exist, and a relative one is looked for in the launch's. `roots`: what
        file tools stay inside; `cwd` is always one. `model`: `provider/model`. `system` replaces the default system
        text, `instructions` are joined to it. `tools`: names and patterns (`*`) of the tools that are on.
        `permissions`: `"read-only"`, `"edit"`, `"allow-all"`, or a mode with rules (CB-5). `env`: the environment of
        the tools' processes, beside an allow-list. `recovery`: what follows a turn that a crash interrupted,
        `"resume"` or `"settle"` (RE-2). `metadata` is kept as it is. A nested dict may have Python's names or the
        wire's.

        Raises SessionExistsError, UnknownModelError, ModelAuthError; ValueError where an option is malformed, and
        RpcError with code `"invalid_params"`, which names each fault, where the runtime refuses one.
        """
        options = given(
            session_id=session_id,
            cwd=str(self._cwd if cwd is None else self._cwd / path("cwd", cwd)),
            roots=None if roots is None else self._roots(roots),
            model=model if model is not None else self._model,
            model_options=model_options,
            system=system,
            instructions=instructions,
            tools=items("tools", tools),
            permissions=permissions,
            env=env,
            limits=limits,
            recovery=recovery,
            title=title,
            metadata=metadata,
        )
        fields = params("session/create", SessionCreateParams, options)
        created = await (await self._connect()).request("session/create", fields, SessionCreateResult)
        return AsyncSession(created.session.session_id, self._connect)

    def _roots(self, roots: Sequence[StrPath]) -> builtins.list[str]:
        return [
            str(self._cwd / path(f"roots[{index}]", root)) for index, root in enumerate(items("roots", roots) or [])
        ]

    async def get(self, session_id: str) -> AsyncSession:
        """The handle of a session that exists. Raises SessionNotFoundError."""
        found = await (await self._connect()).request("session/get", {"sessionId": session_id}, SessionGetResult)
        return AsyncSession(found.session.session_id, self._connect)

    async def list(
        self,
        *,
        parent_id: str | None = None,
        status: Literal["running", "idle"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SessionListResult:
        """One page of descriptions in `sessions`, newest first; its `next_cursor`, given as `cursor`, gives the next
        page.

        `limit`: at most so many, 1 to 1,000. `metadata`: only sessions that have these entries.
        """
        fields = given(parentId=parent_id, status=status, metadata=metadata, limit=limit, cursor=cursor)
        return await (await self._connect()).request("session/list", fields, SessionListResult)

    async def delete(self, session_id: str, *, tree: bool = False) -> None:
        """Deletes a session, with `tree` its descendants too (DEL-1). Its id is never used again.

        Raises SessionNotFoundError, and RpcError with code `"has_children"` where it has some and `tree` is False.
        """
        fields: dict[str, Any] = {"sessionId": session_id} | ({"tree": True} if tree else {})
        await (await self._connect()).request("session/delete", fields, SessionDeleteResult)
