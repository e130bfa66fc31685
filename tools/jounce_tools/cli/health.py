"""``jounce health``: asks a server over grpc.health.v1 whether it serves; exit code 0 if it does."""

from __future__ import annotations

import argparse
import math
import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from jounce.values import number
from jounce_client import Tls
from jounce_tools.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("address", help="host:port or unix:/path of the server")
    parser.add_argument("--service", default="", help="full name of one service (default: the whole server)")
    parser.add_argument("--timeout", type=number, default=3.0, help="seconds to wait (default: %(default)s)")
    parser.add_argument("--ca", help="PEM file with the authorities of the server's certificate; turns TLS on")
    parser.add_argument("--certificate", help="PEM file with the client's own certificate")
    parser.add_argument("--key", help="PEM file with its private key")
    parser.add_argument("--server-name", default="", help="name in the server's certificate")


def run(arguments: argparse.Namespace) -> int:
    """Asks once."""
    host, _, port = arguments.address.rpartition(":")
    if not arguments.address.startswith("unix:") and not (host and port.isdigit()):
        raise UsageError(f"address {arguments.address!r}: expected host:port or unix:/path")
    if not 0.0 < arguments.timeout < math.inf:
        raise UsageError(f"--timeout {arguments.timeout!r} s: expected a finite time above 0 s")
    with _channel(arguments) as channel:
        request = health_pb2.HealthCheckRequest(service=arguments.service)
        try:
            reply = health_pb2_grpc.HealthStub(channel).Check(request, timeout=arguments.timeout)
        except grpc.RpcError as error:
            sys.stderr.write(f"jounce health: {arguments.address}: {error.code().name}: {error.details()}\n")
            return 1
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
    sys.stdout.write(f"{status}\n")
    return 0 if reply.status == health_pb2.HealthCheckResponse.SERVING else 1


def _channel(arguments: argparse.Namespace) -> grpc.Channel:
    if arguments.ca is None:
        return grpc.insecure_channel(arguments.address)
    tls = Tls(arguments.ca, arguments.certificate, arguments.key, arguments.server_name)
    return grpc.secure_channel(arguments.address, tls.credentials(), tls.options())
