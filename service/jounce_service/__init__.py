"""Hosts models in lockstep sessions behind the wire contract ``jounce.v1``."""

from jounce_service.server.config import ServerConfig
from jounce_service.server.server import JounceServer

__all__ = ["JounceServer", "ServerConfig"]
