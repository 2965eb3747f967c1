"""Requests in any order, repeated and restarted, against a dictionary that says what each must answer."""

from functools import partial

from databases import postgres_database, sqlite_database
from service_machine import run_machine


def test_every_answer_is_that_of_the_dictionary_on_sqlite() -> None:
    run_machine(sqlite_database, 40, 25, same_each_time=True)


def test_every_answer_is_that_of_the_dictionary_on_postgresql(postgres: str) -> None:
    run_machine(partial(postgres_database, postgres), 8, 25, same_each_time=True)
