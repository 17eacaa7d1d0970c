"""The Python SDK: `MajlisClient` for asyncio, `SyncMajlisClient` for everything else, `ClientState` for live views."""

from majlis.client.client import MajlisClient
from majlis.client.sse import Event
from majlis.client.state import ClientState, SpaceState
from majlis.client.sync_client import SyncMajlisClient

__all__ = ["ClientState", "Event", "MajlisClient", "SpaceState", "SyncMajlisClient"]
