"""The Python SDK: `MajlisClient` for asyncio, `SyncMajlisClient` for blocking code, `ClientState` for live views."""

from majlis.client.clients import MajlisClient, SyncMajlisClient
from majlis.client.follow import Event
from majlis.client.state import ClientState, SpaceState

__all__ = ["ClientState", "Event", "MajlisClient", "SpaceState", "SyncMajlisClient"]
