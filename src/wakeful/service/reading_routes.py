"""Routes that read what a bandit has learned, and its log."""

from functools import partial
from typing import Any

from msgspec import UNSET

from wakeful.service import readings, views
from wakeful.service.bandit_routes import BANDIT_PATH
from wakeful.service.event_views import event_list, log_part
from wakeful.service.messages import EventList
from wakeful.service.operations import Call, Operation, Service
from wakeful.service.queries import AwakeQuery, LevelQuery, LogQuery, RankingQuery
from wakeful.service.requests import Look


async def show_report(service: Service, call: Call) -> tuple[int, Any]:
    """Return what a bandit has seen and learned, arm by arm."""
    return 200, await service.compute(views.report, await _copy(service, call), call.query.level)


async def show_ranking(service: Service, call: Call) -> tuple[int, Any]:
    """Return the arms of a dueling bandit, strongest first."""
    query = call.query
    group = None if query.group is UNSET else query.group
    return 200, await service.compute(views.ranking, await _copy(service, call), query.scale, query.level, group)


async def show_probabilities(service: Service, call: Call) -> tuple[int, Any]:
    """Return with which probabilities a bandit would choose now among some arms; nothing is decided."""
    awake = None if call.query.awake is UNSET else call.query.awake
    return 200, await service.compute(views.probabilities, await _copy(service, call), awake)


async def show_switch_gains(service: Service, call: Call) -> tuple[int, Any]:
    """Return the estimated gains of playing another arm instead."""
    return 200, await service.compute(views.switch_gains, await _copy(service, call))


async def show_wins(service: Service, call: Call) -> tuple[int, Any]:
    """Return who beat whom how often."""
    return 200, await service.compute(views.wins, await _copy(service, call))


async def show_log(service: Service, call: Call) -> tuple[int, Any]:
    """Return events of a bandit's log; `last` is the number to go on after."""
    after, limit = call.query.after, call.query.limit
    names, found = await service.desk.ask(Look(call.path[0], partial(log_part, after, limit)))
    return 200, await service.compute(event_list, names, found, after)


async def _copy(service: Service, call: Call) -> Any:
    """Return a copy of the bandit that the path names."""
    return await service.desk.ask(Look(call.path[0], views.bandit_copy))


def _reading(path: str, run: Any, answer: Any, query: Any = None) -> Operation:
    """Return the operation of a reading."""
    return Operation(
        "GET", f"{BANDIT_PATH}/{path}", run, ("read",), {200: answer}, query=query, problems=("not_found",)
    )


READING_ROUTES = (
    _reading("report", show_report, readings.ReportReading, LevelQuery),
    _reading("ranking", show_ranking, readings.RankingReading, RankingQuery),
    _reading("probabilities", show_probabilities, readings.Probabilities, AwakeQuery),
    _reading("switch-gains", show_switch_gains, readings.Gains),
    _reading("wins", show_wins, readings.Wins),
    _reading("log", show_log, EventList, LogQuery),
)
