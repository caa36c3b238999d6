"""The view that a session has of a task's resources."""

from __future__ import annotations

from tensorloom.framework.runtime.resource import (
    Resource,
    ResourceManager,
    SessionResources,
)


class Thing(Resource):
    closed = False

    def close(self) -> None:
        self.closed = True


def make() -> Thing:
    return Thing("", "thing")


def find(view: SessionResources, name: str) -> Thing:
    return view.lookup_or_create("", name, Thing, make)


def test_views_share_names_but_not_nodes() -> None:
    shared = ResourceManager()
    one, other = SessionResources(shared, "one"), SessionResources(shared, "other")
    assert find(one, "v") is find(other, "v") is shared.lookup("", "v", Thing)
    own = find(one, one.own_name("queue"))
    assert own is find(one, one.own_name("queue"))
    assert own is not find(other, other.own_name("queue"))


def test_the_end_of_a_session_takes_its_own_alone() -> None:
    shared = ResourceManager()
    one, other = SessionResources(shared, "one"), SessionResources(shared, "other")
    mine, named = find(one, one.own_name("queue")), find(one, "v")
    theirs = find(other, other.own_name("queue"))
    one.end()
    assert (mine.closed, named.closed, theirs.closed) == (True, False, False)
    assert find(other, other.own_name("queue")) is theirs


def test_a_last_step_leaves_nothing_behind() -> None:
    one = SessionResources(ResourceManager(), "one")
    one.end()
    late = find(one, one.own_name("queue"))
    assert find(one, one.own_name("queue")) is not late
    assert find(one, "v") is find(one, "v")
