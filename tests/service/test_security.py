"""Access to the server, and attacks on it: each is refused, and the server stays healthy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from certificates import DAY, Authority
from grpc_health.v1 import health_pb2, health_pb2_grpc
from rig import Stream

from jounce_client import AsyncClient, Client, JounceError, Tls
from jounce_proto import jounce_pb2 as pb
from jounce_service.transport.security import ConfigError
from jounce_tools.cli import main

TOKEN = "correct-horse-battery-staple"
SERVICE = "/jounce.v1.SessionService/"


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An authority, and another that nobody trusts."""
    folder = tmp_path_factory.mktemp("pki")
    return Authority(folder, "good"), Authority(folder, "other")


def tls(server: tuple[Path, Path], ca: Path | None = None) -> dict[str, str]:
    """Settings of a server with that certificate, and the authority of its clients."""
    own = {"tls_certificate": str(server[0]), "tls_key": str(server[1])}
    return own | ({"tls_client_ca": str(ca)} if ca else {})


def refused(address: str, **options: Any) -> bool:
    with pytest.raises(JounceError) as caught:
        Client.connect(address, timeout=0.7, **options)
    return caught.value.reason in ("UNAVAILABLE", "DEADLINE_EXCEEDED")


def test_tls_serves_clients_that_trust_its_authority_and_no_others(serve: Any, pki: Any, finish: Any) -> None:
    good, other = pki
    address = serve(**tls(good.issue("server"))).server.addresses[0]
    with Client.connect(address, tls=Tls(good.file)) as client:
        assert client.create_session("integrator").id
    assert refused(address, tls=Tls(other.file))
    assert refused(address)

    async def check() -> tuple[str, ...]:
        async with await AsyncClient.connect(address, tls=Tls(good.file)) as client:
            return await client.models()

    assert finish(check()) == ("integrator",)
    assert main(["health", address, f"--ca={good.file}"]) == 0
    assert main(["health", address, f"--ca={other.file}"]) == 1


def test_a_server_whose_certificate_has_expired_is_not_talked_to(serve: Any, pki: Any) -> None:
    good, _ = pki
    assert refused(serve(**tls(good.issue("old-server", -DAY))).server.addresses[0], tls=Tls(good.file))


def test_mutual_tls_wants_a_valid_certificate_of_its_own_authority(serve: Any, pki: Any) -> None:
    good, other = pki
    address = serve(**tls(good.issue("mutual"), good.file)).server.addresses[0]
    with Client.connect(address, tls=Tls(good.file, *good.issue("client"))) as client:
        assert client.models() == ("integrator",)
    assert refused(address, tls=Tls(good.file))
    assert refused(address, tls=Tls(good.file, *good.issue("old-client", -DAY)))
    assert refused(address, tls=Tls(good.file, *other.issue("stranger")))
    with Client.connect(address, tls=Tls(good.file, *good.issue("client"))) as client:
        assert client.models() == ("integrator",)


def test_every_call_but_health_wants_a_known_bearer_token(serve: Any, info: Any, tmp_path: Path, finish: Any) -> None:
    (tmp_path / "tokens").write_text(f"{TOKEN}\nanother-good-token-of-somebody\n")
    server = serve(token_file=str(tmp_path / "tokens"))
    for words in ((), (f"Bearer {TOKEN}x",), ("Bearer ",), (TOKEN,), (f"Bearer {TOKEN}", "Bearer x" * 9)):
        metadata = tuple(("authorization", w) for w in words)
        for call in (server.stub.ListModels, server.stub.CreateSession):
            with pytest.raises(grpc.RpcError) as caught:
                call(pb.ListModelsRequest(), metadata=metadata)
            assert (caught.value.code(), info(caught.value).reason) == (
                grpc.StatusCode.UNAUTHENTICATED, "NOT_AUTHENTICATED")
    # A stream is refused before it has said anything.
    with pytest.raises(grpc.RpcError) as caught:
        next(Stream(server.stub).call)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    with pytest.raises(JounceError, match="NOT_AUTHENTICATED"):
        Client.connect(server.server.addresses[1], token="x")
    check = health_pb2_grpc.HealthStub(server.channels[1]).Check(health_pb2.HealthCheckRequest())
    assert check.status == health_pb2.HealthCheckResponse.SERVING
    for address in server.server.addresses:
        with Client.connect(address, token=TOKEN) as client:
            session = client.create_session("integrator")
            with client.join(session, "a", owns=["force"], wants=["tick_count"]) as member:
                assert member.step([1.0])["tick_count"] == 1.0
            data = client.download(session, client.save(session))
            assert client.upload(session, data).tick == 1

    async def check_async() -> float:
        async with await AsyncClient.connect(server.server.addresses[1], token=TOKEN) as client:
            session = await client.create_session("integrator")
            async with await client.join(session, "a", owns=["force"], wants=["tick_count"]) as member:
                return float((await member.step([1.0]))["tick_count"])

    assert finish(check_async()) == 1.0


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_of_a_token_has_no_case_and_the_token_has(
    serve: Any, info: Any, tmp_path: Path, scheme: str
) -> None:
    (tmp_path / "tokens").write_text(TOKEN)
    server = serve(token_file=str(tmp_path / "tokens"))
    server.stub.ListModels(pb.ListModelsRequest(), metadata=(("authorization", f"{scheme} {TOKEN}"),))
    for words in (f"{scheme} {TOKEN.swapcase()}", f"{scheme}{TOKEN}", f"Basic {TOKEN}", scheme, f"{scheme} ", ""):
        with pytest.raises(grpc.RpcError) as caught:
            server.stub.ListModels(pb.ListModelsRequest(), metadata=(("authorization", words),))
        assert info(caught.value).reason == "NOT_AUTHENTICATED"


@pytest.mark.parametrize("mutual", [False, True])
def test_a_certificate_that_has_expired_is_warned_of_at_the_start(
    serve: Any, pki: Any, caplog: pytest.LogCaptureFixture, mutual: bool
) -> None:
    good, _ = pki
    more = (good.file,) if mutual else ()
    serve(**tls(good.issue("fresh"), *more))
    assert "certificate" not in caplog.text
    serve(**tls(good.issue("stale", -DAY), *more))
    assert [r.levelname for r in caplog.records if "certificate has expired" in r.getMessage()] == ["WARNING"]


def test_an_authority_that_has_expired_is_warned_of_at_the_start(
    serve: Any, pki: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stale = Authority(tmp_path, "stale", -DAY)
    serve(**tls(pki[0].issue("served"), stale.file))
    assert [r.levelname for r in caplog.records if "authority has expired" in r.getMessage()] == ["WARNING"]


def test_settings_that_do_not_make_a_lock_are_refused_in_words(serve: Any, pki: Any, tmp_path: Path) -> None:
    good, other = pki
    (certificate, key), (_, other_key) = good.issue("one"), other.issue("two")
    (tmp_path / "short").write_text("secret\n")
    (tmp_path / "empty").write_text("\n")
    for words, config in {
        "expected with tls_certificate": {"tls_key": str(key)},
        "expected with tls_key": {"tls_certificate": str(certificate)},
        "MISMATCH": {"tls_certificate": str(certificate), "tls_key": str(other_key)},
        "cannot read": {"tls_certificate": str(certificate), "tls_key": "/no/such/file"},
        "16 characters": {"token_file": str(tmp_path / "short")},
        "at least one token": {"token_file": str(tmp_path / "empty")},
    }.items():
        with pytest.raises(ConfigError, match=words):
            serve(**config)


def test_tls_needs_no_flag_to_listen_on_every_address(serve: Any, pki: Any) -> None:
    port = serve(address="0.0.0.0:0", **tls(pki[0].issue("open"))).server.addresses[0].rpartition(":")[2]
    with Client.connect(f"localhost:{port}", tls=Tls(pki[0].file)) as client:
        assert client.models() == ("integrator",)


def test_a_model_is_a_name_and_never_a_path(server: Any, info: Any) -> None:
    for name in ("../integrator", "/etc/passwd", "integrator/../integrator", "integrator\0"):
        with pytest.raises(grpc.RpcError) as caught:
            server.stub.CreateSession(pb.CreateSessionRequest(model=name))
        assert info(caught.value).reason == "UNKNOWN_MODEL"


def test_an_advance_past_its_wall_clock_cap_leaves_everything_as_it_was(serve: Any, info: Any) -> None:
    server = serve(max_call_seconds=0.2)
    session = server.create(sleep=0.1)
    server.call("Advance", session, n_ticks=30, input_names=["velocity.x"], inputs=[2.0])
    instance = server.instance(session)
    before = instance.get_state(), server.status(session)
    with pytest.raises(grpc.RpcError) as caught:
        server.call("Advance", session, n_ticks=100_000, input_names=["velocity.x"], inputs=[3.0])
    assert info(caught.value).reason == "CALL_TOO_LONG"
    assert (instance.get_state(), server.status(session)) == before
    # The inputs are as before, too: 2 m/s goes on.
    reply = server.call("Advance", session, n_ticks=1, output_names=["position.x"])
    assert reply.tick == 31 and reply.outputs[0] == pytest.approx(31 * 0.002)


def bearer(token: str) -> dict[str, Any]:
    """Metadata of a call."""
    return {"metadata": (("authorization", f"Bearer {token}"),)}


ONE, TWO, ADMIN = "a-good-token-of-one-tenant", "a-good-token-of-another", "the-token-of-an-administrator"


@pytest.fixture
def tenants(serve: Any, tmp_path: Path) -> Any:
    """A server with two tenants and an administrator, and a session of the first."""
    (tmp_path / "tokens").write_text(f"{ONE}\n{TWO}\n")
    (tmp_path / "admins").write_text(f"{ADMIN}\n")
    server = serve(token_file=str(tmp_path / "tokens"), admin_token_file=str(tmp_path / "admins"))
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="integrator"), **bearer(ONE))
    return server.stub, session


@pytest.mark.parametrize("call", ["GetSession", "Watch"])
def test_a_session_is_read_by_its_owner_an_administrator_and_who_has_a_token_of_it(tenants: Any, info: Any,
                                                                                   call: str) -> None:
    stub, session = tenants

    def read(who: str, token: str = "") -> str:
        request = getattr(pb, f"{call}Request")(session_id=session.session_id, token=token)
        try:
            if call == "GetSession":
                stub.GetSession(request, **bearer(who))
            else:
                request.present = True  # else a viewer that is let in would see nothing while the clock stands
                next(stub.Watch(request, **bearer(who)))
        except grpc.RpcError as error:
            return str(info(error).reason)
        return ""

    assert [read(who) for who in (ONE, TWO, ADMIN)] == ["", "NO_RIGHT", ""]
    assert [read(TWO, t) for t in (session.token, session.join_token, "x")] == ["", "", "NO_RIGHT"]


def test_a_tenant_lists_its_own_sessions_and_an_administrator_all(tenants: Any) -> None:
    stub, session = tenants
    other = stub.CreateSession(pb.CreateSessionRequest(model="integrator"), **bearer(TWO))

    def listed(who: str) -> list[tuple[str, bool]]:
        return [(s.session_id, s.own) for s in stub.ListSessions(pb.ListSessionsRequest(), **bearer(who)).sessions]

    assert listed(ONE) == [(session.session_id, True)]
    assert listed(TWO) == [(other.session_id, True)]
    assert listed(ADMIN) == [(session.session_id, False), (other.session_id, False)]
    fork = pb.ForkSessionRequest(session_id=session.session_id, token=session.token)
    forked = stub.ForkSession(fork, **bearer(TWO))
    assert listed(TWO)[1:] == [(forked.session_id, True)]


def test_an_administrator_evicts_and_deletes_without_a_session_token_and_others_do_not(tenants: Any,
                                                                                       info: Any) -> None:
    stub, session = tenants
    evict = pb.EvictParticipantRequest(session_id=session.session_id, name="a", release=True)
    delete = pb.DeleteSessionRequest(session_id=session.session_id)
    for who in (ONE, TWO):
        for call, request in ((stub.EvictParticipant, evict), (stub.DeleteSession, delete)):
            with pytest.raises(grpc.RpcError) as caught:
                call(request, **bearer(who))
            assert info(caught.value).reason == "NO_TOKEN"
    # What an administrator may not do: change how the session runs.
    with pytest.raises(grpc.RpcError) as caught:
        stub.PauseSession(pb.PauseSessionRequest(session_id=session.session_id), **bearer(ADMIN))
    assert info(caught.value).reason == "NO_TOKEN"
    with pytest.raises(grpc.RpcError) as caught:
        stub.EvictParticipant(evict, **bearer(ADMIN))
    assert info(caught.value).reason == "UNKNOWN_PARTICIPANT"
    stub.DeleteSession(delete, **bearer(ADMIN))
    assert not stub.ListSessions(pb.ListSessionsRequest(), **bearer(ADMIN)).sessions


def test_an_administrator_alone_asks_nobody_else_for_a_token(serve: Any, info: Any, tmp_path: Path) -> None:
    (tmp_path / "admins").write_text(f"{ADMIN}\n")
    server = serve(admin_token_file=str(tmp_path / "admins"))
    session = server.create()
    assert server.status(session).tick == 0
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.ListSessions(pb.ListSessionsRequest(), **bearer("somebody-else-s-wrong-token"))
    assert info(caught.value).reason == "NOT_AUTHENTICATED"
    server.stub.DeleteSession(pb.DeleteSessionRequest(session_id=session.session_id), **bearer(ADMIN))
    assert not server.stub.ListSessions(pb.ListSessionsRequest()).sessions
