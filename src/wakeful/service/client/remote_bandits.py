"""Bandits and dueling bandits of the service: for each the methods that wait, and the same ones awaited."""

from collections.abc import Coroutine
from typing import Any

from wakeful.service.client import bandit_methods as bandits
from wakeful.service.client import choices, duel_choices
from wakeful.service.client.remote import AwaitingRemote, BlockingRemote, awaiting, blocking


class BlockingArms(BlockingRemote):
    """What both kinds of bandits can do."""

    state = blocking(bandits.state)
    configure = blocking(bandits.configure)
    add_arm = blocking(bandits.add_arm)
    ensure_arms = blocking(bandits.ensure_arms)
    retire_arm = blocking(bandits.retire_arm)
    revive_arm = blocking(bandits.revive_arm)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of all arms, retired ones among them."""
        return self.run(bandits.arms(self))

    @property
    def retired(self) -> tuple[str, ...]:
        """The names of the retired arms."""
        return self.run(bandits.retired(self))

    @property
    def rounds(self) -> int:
        """How many decisions the service made; records of others are not among them."""
        return self.run(bandits.rounds(self))


class AwaitingArms(AwaitingRemote):
    """What both kinds of bandits can do; the three properties are awaited as well: `await shop.arms`."""

    state = awaiting(bandits.state)
    configure = awaiting(bandits.configure)
    add_arm = awaiting(bandits.add_arm)
    ensure_arms = awaiting(bandits.ensure_arms)
    retire_arm = awaiting(bandits.retire_arm)
    revive_arm = awaiting(bandits.revive_arm)

    @property
    def arms(self) -> Coroutine[Any, Any, tuple[str, ...]]:
        """The names of all arms, retired ones among them."""
        return self.run(bandits.arms(self))

    @property
    def retired(self) -> Coroutine[Any, Any, tuple[str, ...]]:
        """The names of the retired arms."""
        return self.run(bandits.retired(self))

    @property
    def rounds(self) -> Coroutine[Any, Any, int]:
        """How many decisions the service made; records of others are not among them."""
        return self.run(bandits.rounds(self))


class RemoteBandit(BlockingArms):
    """A bandit of the service, with the methods of `Bandit`; `Client.bandit` returns it. Threads may share it."""

    choose = blocking(choices.choose)
    choose_many = blocking(choices.choose_many)
    update = blocking(choices.update)
    update_many = blocking(choices.update_many)
    probabilities = blocking(choices.probabilities)
    switch_gains = blocking(choices.switch_gains)
    report = blocking(choices.report)
    explain = blocking(choices.explain)
    decision = blocking(choices.decision)
    record = blocking(choices.record)
    learn = blocking(choices.learn)


class AsyncRemoteBandit(AwaitingArms):
    """A bandit of the service, whose methods are awaited; `AsyncClient.bandit` returns it."""

    choose = awaiting(choices.choose)
    choose_many = awaiting(choices.choose_many)
    update = awaiting(choices.update)
    update_many = awaiting(choices.update_many)
    probabilities = awaiting(choices.probabilities)
    switch_gains = awaiting(choices.switch_gains)
    report = awaiting(choices.report)
    explain = awaiting(choices.explain)
    decision = awaiting(choices.decision)
    record = awaiting(choices.record)
    learn = awaiting(choices.learn)


class RemoteDuelingBandit(BlockingArms):
    """A dueling bandit of the service, with the methods of `DuelingBandit`; `Client.dueling_bandit` returns it."""

    choose = blocking(duel_choices.choose)
    choose_many = blocking(duel_choices.choose_many)
    update = blocking(duel_choices.update)
    update_many = blocking(duel_choices.update_many)
    ranking = blocking(duel_choices.ranking)
    win_matrix = blocking(duel_choices.win_matrix)
    duel = blocking(duel_choices.duel)
    record = blocking(duel_choices.record)
    learn = blocking(duel_choices.learn)


class AsyncRemoteDuelingBandit(AwaitingArms):
    """A dueling bandit of the service, whose methods are awaited; `AsyncClient.dueling_bandit` returns it."""

    choose = awaiting(duel_choices.choose)
    choose_many = awaiting(duel_choices.choose_many)
    update = awaiting(duel_choices.update)
    update_many = awaiting(duel_choices.update_many)
    ranking = awaiting(duel_choices.ranking)
    win_matrix = awaiting(duel_choices.win_matrix)
    duel = awaiting(duel_choices.duel)
    record = awaiting(duel_choices.record)
    learn = awaiting(duel_choices.learn)
