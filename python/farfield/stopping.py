# SPDX-License-Identifier: Apache-2.0
"""Requests to stop: Ctrl-C, and what closes a terminal or ends a job. The first one asks, the second one interrupts at once."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def _handled(handler: Callable) -> Iterator[None]:
    """The handler for all of `SIGNALS` that are not ignored, as hang-ups are under nohup."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    chosen = [each for each in SIGNALS if each == signal.SIGINT or signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in chosen}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextlib.contextmanager
def stop_requests(what: str) -> Iterator[Callable[[], bool]]:
    """Gives a function that says whether a stop was asked for. ``what``: the work that is still done, "this iteration"."""
    asked = threading.Event()

    def ask(_number: int, _frame) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        print(f"\nstopping after {what}", file=sys.stderr)

    with _handled(ask):
        yield asked.is_set


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """All of `SIGNALS` end what is going on as Ctrl-C does."""

    def interrupt(_number: int, _frame) -> None:
        raise KeyboardInterrupt

    with _handled(interrupt):
        yield


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Puts requests to stop off until something that would be lost is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
