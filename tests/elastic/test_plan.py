"""Plans as the lock service keeps them, and the names of containers."""

from __future__ import annotations

import json

from tensorloom.elastic.plan import Home, Plan, container, epoch_of


def test_a_plan_comes_back_as_it_was() -> None:
    """Through JSON."""
    plan = Plan(
        7, False, {0: Home(1, "a", 3), 12: Home(0, "b", 7)}, {0: "h:1", 1: "h:2"}
    )
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_containers_are_of_one_life() -> None:
    """A server that was started again has none of its last life's."""
    plan = Plan(3, True, {0: Home(1, "a", 2), 1: Home(1, "b", 3), 2: Home(0, "a", 1)})
    assert plan.containers_of(1, "b") == {container(1, 3)}
    assert plan.containers_of(1, "c") == set()


def test_epochs_are_read_from_shards_alone() -> None:
    """Others' containers are left alone."""
    names = [
        container(4, 9),
        "localhost",
        "elastic.own.12ab",
        "elastic.held.3",
        "elastic.1",
    ]
    assert [epoch_of(name) for name in names] == [9, None, None, None, None]
