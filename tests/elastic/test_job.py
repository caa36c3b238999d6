"""What the processes of an elastic job know of each other."""

from __future__ import annotations

from pathlib import Path

from tensorloom.coordination import open_coordinator
from tensorloom.elastic import job as jobs
from tensorloom.elastic.job import Job


def test_a_record_whose_lease_only_seems_to_have_ended(tmp_path: Path) -> None:
    """The answer came late: the service has the record still, and it is renewed."""
    with open_coordinator(f"file://{tmp_path}", 60.0) as coordinator:
        job = Job(coordinator)
        presence = job.presence(jobs.WORKERS, "one", {"task": "/job:worker/task:3"})
        assert presence.take()
        first = presence.held
        assert first is not None
        first.ends = 0.0
        assert presence.take()
        assert presence.lasts
        assert job.worker_numbers() == {4}
        # A step that began under the first one is to find out what has changed.
        assert not first.lasts
        presence.give_back()
        assert not job.workers()
