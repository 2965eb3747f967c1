"""The one table of routes: what it does not have cannot be asked, and what it has is in the OpenAPI document."""

from wakeful.service.bandit_routes import BANDIT_ROUTES
from wakeful.service.decision_routes import DECISION_ROUTES
from wakeful.service.operations import Operation
from wakeful.service.reading_routes import READING_ROUTES
from wakeful.service.service_routes import SERVICE_ROUTES

OPERATIONS: tuple[Operation, ...] = (*BANDIT_ROUTES, *DECISION_ROUTES, *READING_ROUTES, *SERVICE_ROUTES)
