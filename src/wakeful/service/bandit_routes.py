"""Routes about bandits and their arms."""

from typing import Any

from wakeful.service import requests
from wakeful.service.messages import BanditList, BanditState, Changes, NewArm, NewBandit
from wakeful.service.names import checked_name
from wakeful.service.operations import Call, Operation, Service
from wakeful.service.queries import DeleteQuery
from wakeful.service.views import all_states, bandit_state


async def create_bandit(service: Service, call: Call) -> tuple[int, Any]:
    """Make a bandit; the same again changes nothing."""
    for position, arm in enumerate(call.body.arms):
        checked_name(f"arms[{position}]", arm)
    state, is_new = await service.desk.ask(requests.Create(call.path[0], call.body))
    return 201 if is_new else 200, state


async def change_bandit(service: Service, call: Call) -> tuple[int, Any]:
    """Change settings of a bandit, for decisions from now on."""
    return 200, await service.desk.ask(requests.Configure(call.path[0], call.body))


async def delete_bandit(service: Service, call: Call) -> tuple[int, Any]:
    """Delete a bandit with its log, once that was read to its end."""
    await service.desk.ask(requests.Delete(call.path[0], call.query.events))
    return 204, None


async def list_bandits(service: Service, call: Call) -> tuple[int, Any]:
    """Return all bandits."""
    return 200, BanditList(await service.desk.ask(requests.LookAll(all_states)))


async def show_bandit(service: Service, call: Call) -> tuple[int, Any]:
    """Return a bandit, and how much has happened to it."""
    return 200, await service.desk.ask(requests.Look(call.path[0], bandit_state))


async def add_arm(service: Service, call: Call) -> tuple[int, Any]:
    """Add an arm, or revive a retired one."""
    arm = checked_name("name", call.body.name)
    state, is_new = await service.desk.ask(requests.AddArm(call.path[0], arm))
    return 201 if is_new else 200, state


async def retire_arm(service: Service, call: Call) -> tuple[int, Any]:
    """Retire an arm: it is not chosen any more, and what was learned of it stays."""
    return 200, await service.desk.ask(requests.RetireArm(*call.path))


BANDIT_PATH = "/v1/bandits/{name}"
BANDIT_ROUTES = (
    Operation(
        "PUT",
        BANDIT_PATH,
        create_bandit,
        ("admin",),
        {201: BanditState, 200: BanditState},
        body=NewBandit,
        problems=("conflict",),
    ),
    Operation(
        "PATCH", BANDIT_PATH, change_bandit, ("admin",), {200: BanditState}, body=Changes, problems=("not_found",)
    ),
    Operation(
        "DELETE",
        BANDIT_PATH,
        delete_bandit,
        ("admin",),
        {204: None},
        query=DeleteQuery,
        problems=("not_found", "conflict"),
    ),
    Operation("GET", "/v1/bandits", list_bandits, ("read",), {200: BanditList}),
    Operation("GET", BANDIT_PATH, show_bandit, ("read",), {200: BanditState}, problems=("not_found",)),
    Operation(
        "POST",
        f"{BANDIT_PATH}/arms",
        add_arm,
        ("admin",),
        {201: BanditState, 200: BanditState},
        body=NewArm,
        problems=("not_found",),
    ),
    Operation(
        "DELETE", f"{BANDIT_PATH}/arms/{{arm}}", retire_arm, ("admin",), {200: BanditState}, problems=("not_found",)
    ),
)
