"""One class per way in which a caller would branch, as the schema's list says."""

from __future__ import annotations

import pickle

import pytest

import quiesce
from quiesce import ConnectionClosedError, QuiesceError, RequestTimeoutError, RpcError, RunTimeoutError
from quiesce._errors import class_of, rpc_error_for, rpc_error_of
from quiesce._generated.errors import ERROR_CODES


@pytest.mark.parametrize("code", ERROR_CODES)
def test_every_code_has_its_class(code: str) -> None:
    assert class_of(code) is getattr(quiesce, ERROR_CODES[code].class_name)


def test_every_class_has_its_code() -> None:
    named = {entry.class_name for entry in ERROR_CODES.values()}
    assert {kind.__name__ for kind in RpcError.__subclasses__()} == named - {"RpcError"}


def test_a_new_code_is_a_plain_rpc_error() -> None:
    error = rpc_error_of(-32000, "no", {"code": "too_new", "retryable": True, "more": [1]})
    assert type(error) is RpcError
    assert (error.code, error.rpc_code, error.retryable, error.data["more"]) == ("too_new", -32000, True, [1])


def test_faults_of_params_are_told_under_their_method() -> None:
    error = rpc_error_of(-32602, "invalid params: metadata: too deep", {}, method="session/prompt")
    assert str(error) == "session/prompt: metadata: too deep"
    assert str(rpc_error_of(-32000, "busy", {"code": "session_busy"}, method="session/prompt")) == "busy"


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (-32700, "parse_error"),
        (-32600, "invalid_request"),
        (-32601, "method_not_found"),
        (-32602, "invalid_params"),
        (-32603, "internal_error"),
        (7, "7"),
    ],
)
def test_json_rpcs_own_codes_have_words(number: int, word: str) -> None:
    assert rpc_error_of(number, "no", {}).code == word


@pytest.mark.parametrize("code", ERROR_CODES)
def test_an_error_raised_here_is_as_the_list_says(code: str) -> None:
    error = rpc_error_for(code, "no")
    assert (type(error), error.code, error.retryable) == (class_of(code), code, ERROR_CODES[code].retryable)


def test_time_outs_are_timeout_errors() -> None:
    assert issubclass(RequestTimeoutError, TimeoutError)
    assert issubclass(RunTimeoutError, TimeoutError)


@pytest.mark.parametrize(
    "error",
    [
        QuiesceError("no"),
        ConnectionClosedError("no", exit_code=3, stderr="why"),
        RequestTimeoutError("no", method="server/ping", timeout=1.5),
        rpc_error_of(-32602, "no", {"faults": []}),
        rpc_error_for("session_busy", "no"),
    ],
)
def test_errors_can_be_pickled(error: QuiesceError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.args, copy.__dict__) == (type(error), error.args, error.__dict__)
