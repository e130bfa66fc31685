"""Options and fixtures of the suite, as a pytest plugin.

It is a plugin because pytest reads the options of a ``conftest.py`` too late if tests are named with ``--pyargs``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import pytest

pytest.register_assert_rewrite("jounce_client.compliance.rig", "jounce_client.compliance.stream")

from jounce_client import Client, JounceError, Tls  # noqa: E402
from jounce_client.access import Bearer  # noqa: E402
from jounce_client.compliance.model import Model  # noqa: E402
from jounce_client.compliance.rig import Server  # noqa: E402
from jounce_proto import jounce_pb2 as pb  # noqa: E402
from jounce_proto import jounce_pb2_grpc as rpc  # noqa: E402

#: Option -> (environment variable with its default, help text).
OPTIONS: Final = {
    "--address": ("JOUNCE_COMPLIANCE_ADDRESS", "server under test: host:port or unix:/path"),
    "--model": ("JOUNCE_COMPLIANCE_MODEL", "model of the sessions (default: the first that is available)"),
    "--ca": ("JOUNCE_COMPLIANCE_CA", "PEM file with the authorities of the server's certificate; without it no TLS"),
    "--bearer": ("JOUNCE_COMPLIANCE_BEARER", "bearer token; the variable does not show in a process list"),
}
#: Wall-clock time [s] for the server's first answer.
_CONNECT: Final = 5.0
#: Ticks within which an input must change an output.
_LOOK: Final = 20
#: Number of inputs with an effect on outputs that the tests need [1].
_ENOUGH: Final = 3


def _end(why: str) -> NoReturn:
    pytest.exit(why, returncode=pytest.ExitCode.USAGE_ERROR)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("jounce", "jounce compliance suite")
    for option, (variable, text) in OPTIONS.items():
        group.addoption(option, default=os.environ.get(variable, ""), help=f"{text}; variable {variable}")


@pytest.fixture(scope="session")
def stub(pytestconfig: pytest.Config) -> Iterator[Any]:
    """A stub of the server under test."""
    address, ca, bearer = (str(pytestconfig.getoption(o)) for o in ("--address", "--ca", "--bearer"))
    if not address:
        _end("which server? --address host:port or unix:/path")
    try:
        client = Client.connect(address, timeout=_CONNECT, tls=Tls(ca=ca) if ca else None, token=bearer)
    except (JounceError, OSError) as error:
        _end(f"no server to test at {address}: {error}")
    with client:
        # The generated stub, so that the suite does not depend on the client's own encoding.
        plain: Any = rpc.SessionServiceStub(client._channel)
        yield Bearer(plain, bearer) if bearer else plain


@pytest.fixture(scope="session")
def model(stub: Any, pytestconfig: pytest.Config) -> Model:
    """The model of the sessions."""
    named = str(pytestconfig.getoption("--model"))
    names = [m.name for m in stub.ListModels(pb.ListModelsRequest()).models if not m.unavailable]
    if not names or (named and named not in names):
        _end(f"--model {named!r}: the server's available models are {', '.join(names) or 'none'}")
    return Model.read(stub.DescribeModel(pb.DescribeModelRequest(model=named or names[0])))


@pytest.fixture
def server(stub: Any, model: Model) -> Iterator[Server]:
    """The server under test."""
    one = Server(stub, model)
    yield one
    one.close()


@pytest.fixture(scope="session")
def shown(stub: Any, model: Model) -> tuple[str, ...]:
    """Up to three scalar inputs, each of which changes an output within 20 ticks; found by trying."""
    one = Server(stub, model)

    def outputs(inputs: dict[str, float]) -> list[float]:
        session = one.create()
        values = list(one.advance(session, _LOOK, inputs).outputs)
        one.close()
        return values

    rest, found = outputs({}), []
    for i in model.inputs:
        if i.low < i.high and outputs({i.name: i.high if i.start != i.high else i.low}) != rest:
            found.append(i.name)
        if len(found) == _ENOUGH:
            break
    return tuple(found)


@pytest.fixture
def live(shown: tuple[str, ...]) -> str:
    """A scalar input that changes an output."""
    if not shown:
        pytest.skip(f"no real input of the model changes an output within {_LOOK} ticks")
    return shown[0]


@pytest.fixture
def two(shown: tuple[str, ...]) -> tuple[str, str]:
    """Two such inputs."""
    if len(shown) < 2:
        pytest.skip(f"fewer than two real inputs of the model change an output within {_LOOK} ticks")
    return shown[0], shown[1]


@pytest.fixture
def owned(model: Model) -> str:
    """Any scalar input."""
    if not model.inputs:
        pytest.skip("the model has no inputs")
    return model.inputs[0].name
