"""Python client of the jounce lockstep service. It depends only on `jounce_proto`."""

from jounce_client._records import Event as Event
from jounce_client._records import Frame as Frame
from jounce_client._records import Late as Late
from jounce_client._records import Pacing as Pacing
from jounce_client._records import ParameterValue as ParameterValue
from jounce_client._records import Session as Session
from jounce_client._records import Snapshot as Snapshot
from jounce_client._records import State as State
from jounce_client.access import Tls as Tls
from jounce_client.aio import AsyncClient as AsyncClient
from jounce_client.aio import AsyncParticipant as AsyncParticipant
from jounce_client.client import Client as Client
from jounce_client.client import Participant as Participant
from jounce_client.errors import JounceError as JounceError

__all__ = [
    "AsyncClient", "AsyncParticipant", "Client", "Event", "Frame", "JounceError", "Late", "Pacing", "ParameterValue",
    "Participant", "Session", "Snapshot", "State", "Tls",
]
