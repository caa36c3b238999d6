"""Who is in a group, and what its members agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tensorloom.framework import errors
from tensorloom.framework.collective.requests import BROADCAST, REDUCTION
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.worker.collective.groups import (
    Group,
    GroupTable,
    InstanceTable,
    Terms,
)
from tensorloom.worker.collective.sequences import StepSequences

if TYPE_CHECKING:
    from tensorloom.framework.collective.process_group import Pending


def cpu(task: int, number: int = 0) -> str:
    return f"/job:worker/replica:0/task:{task}/device:CPU:{number}"


def result(pending: Pending) -> object:
    """What has become of it; it must not wait any more."""
    assert pending._ended.is_set()
    return pending.result(CancellationManager())


def error_of(pending: Pending) -> errors.OpError:
    with pytest.raises(errors.OpError) as caught:
        result(pending)
    return caught.value


def test_a_group_is_complete_when_the_last_member_comes() -> None:
    table = GroupTable()
    first = table.join(1, 2, "CPU", cpu(1))
    assert not first._ended.is_set()
    again = table.join(1, 2, "CPU", cpu(1))
    last = table.join(1, 2, "CPU", cpu(0))
    assert result(first) == result(last) == result(again)
    group = result(last)
    assert isinstance(group, Group)
    assert group.devices == (cpu(0), cpu(1))
    assert result(table.join(1, 2, "CPU", cpu(0))) == group


def test_ranks_keep_the_devices_of_a_task_together() -> None:
    joined = [cpu(10), cpu(2, 1), cpu(1), cpu(2)]
    group = Group(1, 4, "CPU", tuple(joined))
    # Sorted as text, as TensorFlow does.
    assert group.devices == (cpu(1), cpu(10), cpu(2), cpu(2, 1))
    assert [task[-2:] for task in group.tasks] == [":1", "10", ":2"]


@pytest.mark.parametrize(
    ("size", "device_type", "device", "told"),
    [
        (3, "CPU", cpu(1), "size"),
        (2, "GPU", cpu(1), "type"),
    ],
)
def test_members_that_disagree_all_hear_of_it(
    size: int, device_type: str, device: str, told: str
) -> None:
    table = GroupTable()
    first = table.join(1, 2, "CPU", cpu(0))
    other = table.join(1, size, device_type, device)
    for pending in (first, other):
        found = error_of(pending)
        assert isinstance(found, errors.InternalError)
        assert told in found.message
    # A corrected program finds nothing left of it.
    table.join(1, 2, "CPU", cpu(0))
    assert result(table.join(1, 2, "CPU", cpu(1)))


def test_who_comes_too_late_is_refused() -> None:
    table = GroupTable()
    table.join(1, 2, "CPU", cpu(0))
    table.join(1, 2, "CPU", cpu(1))
    assert "doesn't contain" in error_of(table.join(1, 2, "CPU", cpu(2))).message
    assert "size" in error_of(table.join(1, 3, "CPU", cpu(1))).message


@pytest.mark.parametrize(("size", "device"), [(0, cpu(0)), (2, "CPU:0"), (2, "")])
def test_what_is_no_member(size: int, device: str) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        GroupTable().join(1, size, "CPU", device)


GROUP = Group(1, 3, "CPU", (cpu(0), cpu(1), cpu(2)))


def terms(kind: int = REDUCTION, data_type: int = 1, *shape: int) -> Terms:
    return Terms(kind, data_type, shape, 1)


def test_the_source_of_a_broadcast_is_told_to_all() -> None:
    table = InstanceTable()
    waiting = [
        table.complete(GROUP, 7, terms(BROADCAST), cpu(i), is_source=i == 1)
        for i in range(3)
    ]
    assert [result(each) for each in waiting] == [1, 1, 1]
    assert result(table.complete(GROUP, 7, terms(BROADCAST), cpu(2), False)) == 1


@pytest.mark.parametrize(
    ("sources", "told"), [([0, 2], "already has source 0"), ([], "no source")]
)
def test_a_broadcast_has_one_source(sources: list[int], told: str) -> None:
    table = InstanceTable()
    waiting = [
        table.complete(GROUP, 7, terms(BROADCAST), cpu(i), is_source=i in sources)
        for i in range(3)
    ]
    for pending in waiting:
        assert told in error_of(pending).message


def test_terms_that_differ() -> None:
    table = InstanceTable()
    assert result(table.complete(GROUP, 7, terms(REDUCTION, 1, 2), cpu(0), False)) == -1
    shape = table.complete(GROUP, 7, terms(REDUCTION, 1, 3), cpu(1), False)
    assert isinstance(error_of(shape), errors.InvalidArgumentError)
    dtype = table.complete(GROUP, 7, terms(REDUCTION, 2, 2), cpu(1), False)
    assert isinstance(error_of(dtype), errors.InternalError)
    # Of another step: another graph has the same keys.
    table.complete(GROUP, 8, terms(REDUCTION, 1, 2), cpu(0), False, step_id=5)
    other = table.complete(GROUP, 8, terms(REDUCTION, 1, 3), cpu(1), False, step_id=6)
    assert result(other) == -1


def test_step_ids_count_up_and_change_after_a_failure() -> None:
    sequences = StepSequences()
    assert sequences.peek(4) is None
    first = sequences.begin(4)
    assert sequences.begin(4) == first
    assert 0 < first < 1 << 57
    sequences.retire(4, first)
    assert sequences.peek(4) == first + 1
    assert sequences.renew(4, first - 1) is None
    ended = sequences.renew(4, first)  # after it went well here
    assert ended is not None
    assert ended.first == first
    assert ended.count > 2
    other = sequences.begin(4)
    assert other not in range(first, first + ended.count)
    assert sequences.renew(4, first) is None  # another member says so, too
    sequences.retire(4, first)
    assert sequences.begin(4) == other
    sequences.take(4, 10)
    assert sequences.begin(4) == 10


def test_the_steps_that_end_are_those_around_the_failed_one() -> None:
    sequences = StepSequences()
    first = sequences.begin(4)
    for step_id in range(first, first + 1000):
        sequences.retire(4, step_id)
    ended = sequences.renew(4, first + 999)
    assert ended is not None
    assert ended.first > first
    assert ended.first < first + 999 < ended.first + ended.count


def test_a_task_that_was_restarted_gets_no_id_of_its_last_life() -> None:
    sequences = StepSequences()
    assert sequences.meet(4, "a", 1) is None
    assert sequences.meet(4, "b", 1) is None
    first = sequences.begin(4)
    assert sequences.meet(4, "a", 1) is None
    assert sequences.begin(4) == first
    ended = sequences.meet(4, "a", 2)
    assert ended is not None
    assert ended.first == first
    assert ended.tasks == ("a", "b")
    second = sequences.begin(4)
    assert second != first
    # It has not taken part in these: nothing ends.
    assert sequences.meet(4, "b", 2) is None
    assert sequences.meet(4, "a", 2) is None
    assert sequences.begin(4) == second
