"""Who hears that the other side has hung up."""

from __future__ import annotations

import socket
import threading

from tensorloom.transport.peers.hangups import hangups


def test_who_does_not_read_hears_once() -> None:
    heard = threading.Semaphore(0)
    here, there = socket.socketpair()
    hangups.watch(here, heard.release)
    there.close()
    assert heard.acquire(timeout=60)
    assert not heard.acquire(timeout=0.1)
    hangups.forget(here)
    here.close()


def test_an_event_of_an_earlier_connection_is_not_heard() -> None:
    """Its number is another one's, which goes on and is watched as before."""
    heard = threading.Event()
    here, there = socket.socketpair()
    hangups.watch(here, heard.set)
    epoll = hangups._epoll
    assert epoll is not None
    assert hangups._take(here.fileno(), epoll) is None
    assert not heard.is_set()
    there.close()
    assert heard.wait(60)
    hangups.forget(here)
    assert hangups._take(here.fileno(), epoll) is None
    here.close()
