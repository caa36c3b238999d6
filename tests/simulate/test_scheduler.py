"""Strands on the virtual clock, and the network between processes."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework.runtime import concurrency
from tensorloom.simulate.network import Costs
from tensorloom.simulate.scheduler import Stuck
from tensorloom.simulate.simulation import Simulation


def test_the_clock_moves_when_all_wait() -> None:
    simulation, seen = Simulation(), []

    def other() -> None:
        concurrency.sleep(7.0)
        seen.append(("other", simulation.now))

    def main() -> None:
        began = concurrency.monotonic()
        simulation.start("other", other)
        concurrency.sleep(1000.0)
        seen.append(("main", concurrency.monotonic() - began))

    simulation.run(main)
    assert seen == [("other", 7.0), ("main", 1000.0)]


def test_locks_conditions_and_queues() -> None:
    simulation, seen = Simulation(seed=3, switches=0.5), []

    def main() -> None:
        lock, queue = concurrency.Lock(), concurrency.SimpleQueue()
        total = [0]

        def add() -> None:
            for _ in range(20):
                with lock:
                    before = total[0]
                    concurrency.sleep(0.001)
                    total[0] = before + 1
            queue.put("done")

        threads = [concurrency.Thread(target=add) for _ in range(5)]
        for thread in threads:
            thread.start()
        seen.extend(queue.get() for _ in threads)
        for thread in threads:
            thread.join()
        seen.append(total[0])
        assert not concurrency.Event().wait(timeout=2.0)

    simulation.run(main)
    assert seen == ["done"] * 5 + [100]


def test_a_wait_without_end_is_stuck() -> None:
    with pytest.raises(Stuck, match="main"):
        Simulation().run(lambda: concurrency.Lock().acquire() and _wait_for_ever())


def _wait_for_ever() -> Any:
    return concurrency.Event().wait()


def test_a_run_beyond_its_limit_is_stuck() -> None:
    with pytest.raises(Stuck):
        Simulation(limit_s=10.0).run(lambda: concurrency.sleep(11.0))


COSTS = Costs(latency_s=0.001, jitter_s=0.0, bandwidth=1e6)


@pytest.mark.parametrize(
    ("messages", "arrive"),
    [
        ([("a", "b", 0)], [0.001]),
        ([("a", "b", 1000), ("a", "c", 1000)], [0.002, 0.003]),  # one link out
        ([("a", "c", 1000), ("b", "c", 1000)], [0.002, 0.003]),  # one link in
        ([("a", "b", 1000), ("c", "d", 1000)], [0.002, 0.002]),
        ([("a", "a", 1000)], [0.0]),
    ],
)
def test_what_messages_take(
    messages: list[tuple[str, str, float]], arrive: list[float]
) -> None:
    simulation, seen = Simulation(costs=COSTS), []

    def main() -> None:
        for source, target, size in messages:
            simulation.network.send(
                source, target, size, lambda: seen.append(simulation.now)
            )
        concurrency.sleep(1.0)

    simulation.run(main)
    assert seen == pytest.approx(arrive)


def test_a_cut_holds_messages_up() -> None:
    simulation, seen = Simulation(costs=COSTS), []

    def main() -> None:
        network = simulation.network
        network.cut("a", "b")
        network.send("a", "b", 0, lambda: seen.append(("b", simulation.now)))
        network.send("a", "c", 0, lambda: seen.append(("c", simulation.now)))
        concurrency.sleep(5.0)
        network.heal("a", "b")
        concurrency.sleep(5.0)

    simulation.run(main)
    assert seen[0] == ("c", pytest.approx(0.001))
    name, when = seen[1]
    assert name == "b"
    assert when > 5.0


def test_killed_processes_do_nothing_more_and_stopped_ones_go_on() -> None:
    simulation, seen = Simulation(), []

    def main() -> None:
        def count(name: str) -> None:
            for _ in range(10):
                concurrency.sleep(1.0)
                seen.append((name, round(simulation.now)))

        killed = simulation.start("killed", lambda: count("killed"))
        stopped = simulation.start("stopped", lambda: count("stopped"))
        concurrency.sleep(2.5)
        simulation.network.kill(killed)
        simulation.network.stop(stopped)
        concurrency.sleep(100.0)
        simulation.network.go_on(stopped)
        concurrency.sleep(100.0)

    simulation.run(main)
    assert [at for name, at in seen if name == "killed"] == [1, 2]
    stopped = [at for name, at in seen if name == "stopped"]
    assert stopped[:2] == [1, 2]
    assert stopped[2] >= 102
    assert len(stopped) == 10
