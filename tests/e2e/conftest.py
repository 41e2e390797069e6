"""What every test is given: a gate, a client, a transport, and callers nobody else in the run uses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

import clients
from asking import Caller, Place
from gate import Gate, configured, serving

TRANSPORTS = ["http", "stdio"]
numbers = itertools.count(1)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with serving(tmp_path_factory.mktemp("http") / "data") as gate:
        yield gate


@pytest.fixture(scope="session")
def unserved(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    """A data directory that only `toolgate stdio` opens."""
    return Gate(data=configured(tmp_path_factory.mktemp("stdio") / "data"))


@pytest.fixture(params=TRANSPORTS)
def place(request: pytest.FixtureRequest) -> Place:
    return Place(request.getfixturevalue("served" if request.param == "http" else "unserved"), request.param)


@pytest.fixture(params=clients.ALL, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest):
    return request.param


@pytest.fixture(params=[each for each in clients.ALL if each.calls_unlisted], ids=lambda client: client.name)
def frank_client(request: pytest.FixtureRequest):
    """A client that sends what it is told to, listed or not, so that the refusal is the gate's."""
    return request.param


@pytest.fixture
def user(place: Place) -> Callable[[str], Caller]:
    """Signs a user in at this place, under a name of this test's own."""
    number = next(numbers)
    return lambda name: Caller(token=place.gate.mint("--user", f"{name}-{number}"))


@pytest.fixture
def served_over_http(served: Gate) -> Place:
    return Place(served, "http")
