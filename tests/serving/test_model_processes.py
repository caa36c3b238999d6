"""Models in processes of their own, which end in all ways."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorloom.protos.serving.predict_pb2 import PredictResponse
from tensorloom.serving.manager.model_states import State
from tests.serving import models
from tests.serving.servers import Served, rows_request, start, write_config

pytestmark = [pytest.mark.slow, pytest.mark.multiprocess]

BODY = {"inputs": [1.0]}
PREDICT = "/tensorflow.serving.PredictionService/Predict"
HALF = "/v1/models/half:predict"
StartServer = Callable[..., Served]


def _wait(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def _wait_state(served: Served, model: str, version: int, state: State) -> None:
    def is_there() -> bool:
        found = served.server.manager.states.versions(model).get(version)
        return found is not None and found.state is state

    _wait(is_there)


def _processes(served: Served, model: str, version: int) -> list[int]:
    """The processes of this server that have a version, or load it."""
    loader = served.server._processes
    found = [p.number for p in loader._loading if f"/{model}/{version}" in p.path]
    engine = loader._engines.get((model, version))
    return found if engine is None else [*found, engine._newest.number]


def _serve(
    start_server: StartServer, base: Path, *names: str, **options: Any
) -> Served:
    return start_server(
        model_config_file=write_config(base, *names),
        file_system_poll_wait_seconds=0.02,
        **{"model_processes": names[0], **options},
    )


def test_a_life(start_server: StartServer, tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    models.every_dtype(tmp_path / "dtypes")
    extra = tmp_path / "dtypes" / "1" / "assets.extra"
    extra.mkdir()
    (extra / "tensorloom_own_process").touch()
    served = _serve(start_server, tmp_path, "half", "dtypes")
    (first,) = _processes(served, "half", 1)
    assert first != os.getpid()
    assert _processes(served, "dtypes", 1)

    assert served.rest(HALF, BODY) == (200, {"outputs": [2.5]})
    path = "/v1/models/dtypes:predict"
    body = {"signature_name": "string", "inputs": {"x": ["ab", "c"]}}
    assert served.rest(path, body) == (200, {"outputs": [["ab", "c"], ["ab", "c"]]})
    body = {"signature_name": "bfloat16", "inputs": {"x": 1.5}}
    assert served.rest(path, body) == (200, {"outputs": [1.5, 1.5]})
    large = {"signature_name": "float64", "inputs": {"x": [0.5] * 100_000}}
    status, answer = served.rest(path, large)
    assert (status, sum(map(sum, answer["outputs"]))) == (200, 100_000.0)
    example = {"x": 4.0, "x2": 1.0}
    found = served.rest(
        "/v1/models/half:regress", {"signature_name": "regress", "examples": [example]}
    )
    assert found == (200, {"results": [5.0]})
    _, found = served.rest("/v1/models/half/metadata")
    assert "regress" in json.dumps(found)
    _, page = served.rest("/monitoring/prometheus/metrics")
    assert b'tensorloom_serving_process_bytes{model="half"} ' in page

    # The next version's process takes over; the last one's is gone.
    models.half_plus(tmp_path / "half", 2, 3.0)
    _wait(lambda: served.rest(HALF, BODY) == (200, {"outputs": [3.5]}))
    _wait_state(served, "half", 1, State.END)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`half` in the server; `moody`, `greedy` and `stuck` in processes."""
    base = tmp_path_factory.mktemp("processes")
    models.half_plus(base / "half", 1)
    models.moody(base / "moody")
    models.greedy(base / "greedy")
    models.stuck(base / "stuck")
    found = start(
        base,
        model_config_file=write_config(base, "half", "moody", "greedy", "stuck"),
        model_processes="moody,g*,stuck",
        num_load_threads=3,
        model_process_memory_mb=3000,
        rest_api_timeout_in_ms=3000,
        model_process_hang_seconds=8.0,
    )
    yield found
    found.server.stop()


def test_a_process_that_is_killed(served: Served) -> None:
    (first,) = _processes(served, "moody", 1)
    path = "/v1/models/moody:predict"
    answers: list[tuple[int, Any]] = []
    endless = {"signature_name": "rows", "inputs": [[-1.0, 1.0]]}
    caller = threading.Thread(target=lambda: answers.append(served.rest(path, endless)))
    caller.start()
    _wait(lambda: served.server.manager.available()["moody"][0].holders)
    os.kill(first, signal.SIGKILL)
    caller.join()
    status, answer = answers[0]
    assert (status, answer["error"]) == (
        503,
        "The process of model moody version 1 ended: SIGKILL",
    )
    # The other model does not notice, and this one comes back.
    assert served.rest(HALF, BODY) == (200, {"outputs": [2.5]})
    fine = {"signature_name": "rows", "inputs": [[1.0, 1.0]]}
    _wait(lambda: served.rest(path, fine) == (200, {"outputs": [2.0]}))
    assert _processes(served, "moody", 1) != [first]
    wrong = {"signature_name": "rows", "inputs": [[200.0, 1.0]]}
    status, answer = served.rest(path, wrong)
    assert (status, "too high" in answer["error"]) == (400, True)
    assert served.rest("/v2/models/moody/ready")[0] == 200
    _, page = served.rest("/monitoring/prometheus/metrics")
    assert b'tensorloom_serving_process_ends_total{model="moody"} 1.0' in page


def test_a_process_that_is_killed_while_it_loads_or_leaves(
    start_server: StartServer, tmp_path: Path
) -> None:
    models.half_plus(tmp_path / "half", 1)
    served = _serve(start_server, tmp_path, "half", enable_batching=True)
    stop, failed = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            found = served.rest(HALF, BODY)
            if found[0] != 200:
                failed.append(found)

    caller = threading.Thread(target=ask)
    caller.start()
    # It waits for somebody who writes.
    (tmp_path / "half" / "2").mkdir()
    os.mkfifo(tmp_path / "half" / "2" / "saved_model.pb")
    _wait(lambda: _processes(served, "half", 2))
    os.kill(_processes(served, "half", 2)[0], signal.SIGKILL)
    _wait_state(served, "half", 2, State.END)
    entry = served.server.manager.states.versions("half")[2]
    assert entry.error_message == (
        "The process of model half version 2 ended while it loaded: SIGKILL"
    )
    assert served.rest(HALF, BODY) == (200, {"outputs": [2.5]})

    (first,) = _processes(served, "half", 1)
    models.half_plus(tmp_path / "half", 3, 4.0)
    with served.server.manager.held("half", 1):
        _wait_state(served, "half", 1, State.UNLOADING)
        os.kill(first, signal.SIGKILL)
    _wait_state(served, "half", 1, State.END)
    assert served.rest(HALF, BODY) == (200, {"outputs": [4.5]})
    stop.set()
    caller.join()
    assert not failed


def test_a_request_that_ends_the_process_of_its_batch(
    start_server: StartServer, tmp_path: Path
) -> None:
    models.moody(tmp_path / "moody")
    parameters = tmp_path / "batches"
    parameters.write_text(
        "max_batch_size { value: 3 } batch_timeout_micros { value: 600000000 }"
    )
    served = _serve(
        start_server,
        tmp_path,
        "moody",
        enable_batching=True,
        batching_parameters_file=str(parameters),
        rest_api_timeout_in_ms=600_000,
    )
    path = "/v1/models/moody:predict"
    fine: list[tuple[int, Any]] = []
    ended: list[str] = []

    def ask(value: float) -> None:
        body = {"signature_name": "rows", "inputs": [[value, 1.0]]}
        fine.append(served.rest(path, body))

    def ask_endless() -> None:
        import grpc

        try:
            served.call(PREDICT, rows_request(-1.0), PredictResponse, timeout=12)
        except grpc.RpcError as error:
            ended.append(error.code().name)

    callers = [threading.Thread(target=ask, args=(float(v),)) for v in (1, 2)]
    callers.append(threading.Thread(target=ask_endless))
    servable = served.server.manager.available()["moody"][0]
    (first,) = _processes(served, "moody", 1)
    for caller in callers:
        caller.start()
    _wait(lambda: servable.holders == 3 and not servable.waiting())
    os.kill(first, signal.SIGKILL)
    # Now they run one by one; the endless one until its deadline.
    for caller in callers:
        caller.join()
    assert sorted(answer["outputs"] for _, answer in fine) == [[2.0], [3.0]]
    assert ended == ["DEADLINE_EXCEEDED"]


def test_more_memory_than_there_is(served: Served) -> None:
    path = "/v1/models/greedy:predict"
    assert served.rest(path, {"inputs": 2}) == (200, {"outputs": 2.0})
    status, _ = served.rest(path, {"inputs": 2_000_000_000})
    assert status in (429, 503)  # it was told so, or ended
    _wait(lambda: served.rest(path, {"inputs": 3}) == (200, {"outputs": 3.0}))


def test_a_deadline_ends_a_step(served: Served) -> None:
    before = _processes(served, "moody", 1)
    path = "/v1/models/moody:predict"
    endless = {"signature_name": "rows", "inputs": [[-1.0, 1.0]]}
    assert served.rest(path, endless)[0] == 504
    fine = {"signature_name": "rows", "inputs": [[1.0, 1.0]]}
    assert served.rest(path, fine) == (200, {"outputs": [2.0]})
    assert _processes(served, "moody", 1) == before


def test_a_step_that_cannot_be_ended(served: Served) -> None:
    (first,) = _processes(served, "stuck", 1)
    status, _ = served.rest("/v1/models/stuck:predict", {"inputs": 6000})
    assert status in (504, 503)
    _wait(lambda: _processes(served, "stuck", 1) not in ([], [first]))
    _, page = served.rest("/monitoring/prometheus/metrics")
    assert b'tensorloom_serving_process_ends_total{model="stuck"}' in page


def test_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    import subprocess
    import sys

    models.half_plus(tmp_path / "half", 1)
    code = (
        "import sys, time\n"
        "from tests.serving.servers import start\n"
        "from pathlib import Path\n"
        "s = start(Path('.'), model_name='half', model_base_path=sys.argv[1], "
        "model_processes='half')\n"
        "print(s.server._processes._engines['half', 1]._newest.number, flush=True)\n"
        "time.sleep(600)\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "half")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert server.stdout is not None
    with server.stdout:
        number = int(server.stdout.readline())
    assert Path(f"/proc/{number}").exists()
    server.kill()
    server.wait()
    _wait(lambda: _has_ended(number))


def _has_ended(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
