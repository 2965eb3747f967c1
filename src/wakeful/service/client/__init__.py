"""Clients of the decision service: `Client`, and `AsyncClient` for asyncio."""

from wakeful.service.client.clients import AsyncClient, Client
from wakeful.service.client.errors import Conflict, Denied, Failed, Invalid, NotFound, ServiceError, Unavailable

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "Denied",
    "Failed",
    "Invalid",
    "NotFound",
    "ServiceError",
    "Unavailable",
]
