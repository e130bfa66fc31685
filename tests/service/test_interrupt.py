"""Ctrl-C as a flag of commands: the first press sets it, the second ends the command, or the first where asked."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from jounce_tools.interrupt import asked_to_stop


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    # Where the suite runs in the background, SIGINT is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_press_is_a_flag_and_the_second_ends_the_command() -> None:
    with asked_to_stop() as stop:
        assert not stop()
        press()
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_at_once_every_press_ends_it_and_the_flag_tells_it_from_another_failure() -> None:
    with asked_to_stop(at_once=True) as stop:
        assert not stop()
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                press()
            assert stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_it_goes_on_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asked_to_stop(at_once=True) as stop:
        press()
        assert not stop()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_thread_other_than_the_main_one_leaves_signals_alone() -> None:
    told = []

    def other() -> None:
        with asked_to_stop() as stop:
            told.append((stop(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert told == [(False, signal.default_int_handler)]
