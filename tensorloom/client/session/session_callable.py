"""`Session.make_callable`: a run whose fetches and feeds are fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan, make_run_function
from tensorloom.framework.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession
    from tensorloom.framework.graph.graph import Tensor


def make_callable(
    session: BaseSession, fetches: Any, feed_list: Any, accept_options: bool
) -> Callable[..., Any]:
    """See `BaseSession.make_callable`.

    Raises:
      TypeError: `feed_list` is no list or tuple.
    """
    if feed_list is not None and not isinstance(feed_list, (list, tuple)):
        raise TypeError("`feed_list` must be a list or tuple.")
    FetchPlan(session.graph, fetches)  # errors of the fetches come here, not later
    if not feed_list:
        return _without_feeds(session, fetches, accept_options)
    return _with_feeds(session, fetches, list(feed_list))


def _without_feeds(
    session: BaseSession, fetches: Any, accept_options: bool
) -> Callable[..., Any]:
    run = session.run
    if accept_options:

        def run_with_options(options: Any = None, run_metadata: Any = None) -> Any:
            return run(fetches, None, options, run_metadata)

        return run_with_options
    return lambda: run(fetches)


def _with_feeds(
    session: BaseSession, fetches: Any, feed_list: list[Any]
) -> Callable[..., Any]:
    run_any = session.run
    direct: list[Callable[..., Any]] = []  # made by the first plain call

    def run(*values: Any, **options: Any) -> Any:
        if options or len(values) != len(feed_list):
            # Fewer values than feeds: TensorFlow feeds those that there are.
            feeds = zip(feed_list, values, strict=False)
            return run_any(fetches, dict(feeds), **options)
        if direct and not (session._closed or session._was_reset):
            return direct[0](*values)
        result = run_any(fetches, dict(zip(feed_list, values, strict=True)))
        found = _direct(session, fetches, feed_list)
        if found is not None:
            direct.append(found)
        return result

    return run


def _direct(
    session: BaseSession, fetches: Any, feed_list: Sequence[Any]
) -> Callable[..., Any] | None:
    """A function of the values without a feed_dict; None where a call needs more."""
    if session._default_options is not None or not session._callables_skip_run:
        return None
    feeds = FeedPlan(session.graph, dict.fromkeys(feed_list))
    if not feeds.is_simple or len(feeds.tensors) != len(feed_list):
        return None
    run = make_run_function(FetchPlan(session.graph, fetches), feeds, session._prepare)
    keys = tuple(feed_list)
    guarded = session._guarded
    if len(keys) == 1:
        (key,) = keys
        return lambda value: guarded(run, {key: value})
    return lambda *values: guarded(run, dict(zip(keys, values, strict=True)))


def make_options_callable(
    session: BaseSession, callable_options: Any
) -> Callable[..., list[Any]]:
    """See `BaseSession._make_callable_from_options`.

    Feeds, fetches and targets are names; feeds that stay on a device are taken as any
    other.
    """
    callable_options.SerializeToString()  # another type: AttributeError, as TensorFlow
    graph = session.graph
    feeds: list[Tensor] = [graph.get_tensor_by_name(n) for n in callable_options.feed]
    fetches = [graph.get_tensor_by_name(n) for n in callable_options.fetch]
    targets = [graph.get_operation_by_name(n) for n in callable_options.target]
    options = callable_options.run_options
    has_options = options.ByteSize() > 0

    def run(*values: Any, run_metadata: Any = None) -> list[Any]:
        if len(values) != len(feeds):
            raise InvalidArgumentError(
                None,
                None,
                f"Expected {len(feeds)} feed tensors, but got {len(values)}",
            )
        results: list[Any] = session.run(
            fetches + targets,
            dict(zip(feeds, values, strict=True)),
            options=options if has_options else None,
            run_metadata=run_metadata,
        )
        return results[: len(fetches)]

    return run
