"""Access to the server: which addresses may be unencrypted, certificates, bearer tokens."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import ssl
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import grpc

from jounce_service.server.config import ServerConfig
from jounce_service.transport import errors
from jounce_service.transport.callers import Callers

#: Methods that need no token: probes have none.
_OPEN: Final = "/grpc.health.v1.Health/"
#: OpenSSL's codes X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
_DATES: Final = (9, 10)
#: Shortest bearer token [characters]: shorter ones can be guessed.
_SHORTEST: Final = 16

_log = logging.getLogger(__name__)


class ConfigError(ValueError):
    """A setting is wrong; the message says which."""


def check_address(address: str, safe: bool) -> None:
    """Raises ConfigError if ``address`` is not host:port, or is not loopback though ``safe`` is False."""
    host, colon, port = address.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or not 0 <= int(port) <= 65535:
        raise ConfigError(f"address {address!r}: expected host:port or unix:/path")
    if not safe and not _is_loopback(host.strip("[]")):
        raise ConfigError(
            f"address {address!r}: the connection is not encrypted and the address is not loopback; "
            "expected a certificate (--tls-certificate, --tls-key), or --insecure to listen there without one"
        )


def tls_context(config: ServerConfig) -> ssl.SSLContext | None:
    """The TLS context of a listener; None without TLS. Raises ConfigError that names the file at fault."""
    if not config.tls_certificate:
        if config.tls_key or config.tls_client_ca:
            raise ConfigError("tls_key, tls_client_ca: expected with tls_certificate")
        return None
    if not config.tls_key:
        raise ConfigError("tls_certificate: expected with tls_key")
    for path in filter(None, (config.tls_certificate, config.tls_key, config.tls_client_ca)):
        _read(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(config.tls_certificate, config.tls_key)
        if config.tls_client_ca:
            context.load_verify_locations(config.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except ssl.SSLError as error:
        files = ", ".join(filter(None, (config.tls_certificate, config.tls_key, config.tls_client_ca)))
        raise ConfigError(f"{files}: {error}") from error
    return context


def warn_of_dates(config: ServerConfig) -> None:
    """Logs a warning if the certificate is outside its period of validity, or an authority has expired.

    It performs a handshake in memory, so that OpenSSL judges as it would for a client. The server starts all the same,
    since its own clock may be wrong.
    """
    if not config.tls_certificate:
        return
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(config.tls_certificate, config.tls_key)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(config.tls_certificate)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)
    try:
        for side in sides * 2:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _DATES:
            _log.warning("%s: %s: clients refuse it", config.tls_certificate, error.verify_message)
    if config.tls_client_ca:
        authorities = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authorities.load_verify_locations(config.tls_client_ca)
        for one in authorities.get_ca_certs():
            if ssl.cert_time_to_seconds(str(one["notAfter"])) < time.time():
                _log.warning("%s: an authority has expired: its clients will be refused", config.tls_client_ca)


def server_credentials(config: ServerConfig) -> grpc.ServerCredentials | None:
    """gRPC's TLS credentials; None without TLS. Raises ConfigError that names the file at fault."""
    # gRPC itself says only that it cannot listen, so ``tls_context`` checks the files.
    if tls_context(config) is None:
        return None
    authorities = _read(config.tls_client_ca) if config.tls_client_ca else None
    pair = _read(config.tls_key), _read(config.tls_certificate)
    return grpc.ssl_server_credentials([pair], authorities, require_client_auth=authorities is not None)


def callers_of(config: ServerConfig) -> Callers:
    """Reads the bearer tokens from the configured files; raises ConfigError."""
    return Callers(_tokens(config.token_file), _tokens(config.admin_token_file))


def _tokens(path: str) -> list[str]:
    if not path:
        return []
    tokens = _read(path).decode(errors="replace").split()
    if not tokens or any(len(t) < _SHORTEST for t in tokens):
        raise ConfigError(f"{path}: expected at least one token, each of at least {_SHORTEST} characters")
    return tokens


class BearerCheck(grpc.aio.ServerInterceptor):  # type: ignore[misc, unused-ignore]
    """Refuses calls without a known token. It runs once per call, so a stream's messages cost nothing."""

    def __init__(self, callers: Callers) -> None:
        """``callers`` holds the known tokens."""
        self._callers = callers

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The call's handler, or one that refuses it."""
        if handler_call_details.method.startswith(_OPEN):
            return await continuation(handler_call_details)
        if self._callers.who(handler_call_details.invocation_metadata) is not None:
            return await continuation(handler_call_details)
        # A stream handler refuses at once; a unary handler would first wait for the request.
        return grpc.stream_stream_rpc_method_handler(_refuse)


async def _refuse(_: Any, context: Any) -> None:
    info = errors.error_info(
        errors.NotAuthenticated(
            "the call has no bearer token that the server knows",
            field="authorization",
            allowed="Bearer, followed by a token of the server",
        )
    )
    metadata = ((errors.METADATA_KEY, info.SerializeToString()),)
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, info.message, metadata)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
