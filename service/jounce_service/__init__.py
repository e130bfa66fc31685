"""Hosts models in lockstep sessions behind the wire contract ``jounce.v1``."""

from jounce_service.config import ServerConfig
from jounce_service.server import JounceServer

__all__ = ["JounceServer", "ServerConfig"]
