# SPDX-License-Identifier: Apache-2.0
"""Jobs on other processes and machines: any `concurrent.futures.Executor`, and Ray as one.

Results come in the order of the jobs and are the same numbers wherever they are computed: nothing in Farfield depends on the number of
threads, and a job knows its seed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from farfield._core import Model
from farfield.optional import needed

__all__ = ["RayExecutor", "in_order", "open_executor", "require_shared"]

Job, Result = TypeVar("Job"), TypeVar("Result")
AGAIN = 3  # times that a job is begun anew when its worker dies
LEAVE = 60.0  # s that workers have to write their checkpoints when they are asked to stop
OWN = ("farfield_task_", "farfield_method_")  # modules made of files that workers cannot import


class RayExecutor(Executor):
    """Ray's workers. A job whose worker is killed is done again, at most three times; functions and models are sent once.

    address: of a cluster, as ``ray.init`` takes it; None: that of RAY_ADDRESS or of this machine, and where there is none one is started
    and gone at the end. threads: of every job, and the processors that it is given. options: for ``ray.init``.
    """

    def __init__(self, address: str | None = None, *, threads: int = 1, **options: Any) -> None:
        self._ray = needed("ray", extra="ray")
        self._threads, self._going = threads, {}
        self._function: Any = (
            None  # the last one, and where it was sent; kept, so that nothing else takes its place in memory
        )
        self._sent: Any = None
        self._models: dict[int, tuple[Model, Any]] = {}
        self._ours = not self._ray.is_initialized()
        if self._ours:
            try:
                self._ray.init(address, log_to_driver=False, logging_level="error", **options)
            except ConnectionError as error:
                raise ValueError(f"--executor ray:{address}: no cluster answers ({error})") from None
        self._work = self._ray.remote(num_cpus=threads, max_retries=AGAIN)(_work)

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Sends a job."""
        if fn is not self._function:
            self._function, self._sent = fn, self._send(fn)
        reference = self._work.remote(self._threads, *self._sent, *args, **kwargs)
        future = reference.future()
        self._going[future] = reference
        future.add_done_callback(lambda done: self._going.pop(done, None))
        return future

    def _send(self, fn: Callable) -> tuple[Any, Any]:
        """Places of a function and of the model that it begins with, if any; a model is sent once for all functions."""
        for name in [name for name in sys.modules if name.startswith(OWN)]:
            self._ray.cloudpickle.register_pickle_by_value(sys.modules[name])
        if not (isinstance(fn, partial) and fn.args and isinstance(fn.args[0], Model)):
            return self._ray.put((fn, (), {})), None
        model, *others = fn.args
        if id(model) not in self._models:
            self._models[id(model)] = model, self._ray.put(model)
        return self._ray.put((fn.func, others, fn.keywords)), self._models[id(model)][1]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends; with cancel_futures jobs are asked to stop, as by Ctrl-C, and have a minute for it."""
        going = list(self._going.values())
        if cancel_futures:
            for reference in going:
                self._ray.cancel(reference)
        if wait and going:
            self._ray.wait(going, num_returns=len(going), timeout=LEAVE if cancel_futures else None)
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()


def _work(threads: int, sent: tuple, model: Model | None, *args: Any, **kwargs: Any) -> Any:
    os.environ["FARFIELD_THREADS"] = str(threads)
    function, others, keywords = sent
    first = () if model is None else (model,)
    return function(*first, *others, *args, **keywords, **kwargs)


@contextlib.contextmanager
def open_executor(text: str = "local") -> Iterator[Executor | None]:
    """What --executor names: "local" is None, one job after the other on all cores of this machine; "ray" and "ray:address" are Ray."""
    name, _, address = text.partition(":")
    if text == "local":
        yield None
        return
    if name != "ray":
        raise ValueError(f"--executor {text}: expected local, ray or ray:address")
    executor = RayExecutor(address or None)
    try:
        yield executor
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


def in_order(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    executor: Executor | None = None,
    *,
    told: Callable[[Result], None] | None = None,
) -> list[Result]:
    """function(job) of all jobs, in their order. told: called with every result as it comes.

    The first error ends it: jobs that have not begun are given up, and the error is raised.
    """
    if executor is None:
        results = []
        for job in jobs:
            results.append(function(job))
            if told is not None:
                told(results[-1])
        return results
    futures = [executor.submit(function, job) for job in jobs]
    try:
        for future in as_completed(futures):
            result = future.result()
            if told is not None:
                told(result)
    except BaseException as error:
        for future in futures:
            future.cancel()
        raise _own_error(error) from None
    return [future.result() for future in futures]


def _own_error(error: BaseException) -> BaseException:
    """What a job raised, as it raised it: Ray wraps it."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BaseException) else error


def require_shared(folder: Path) -> None:
    """A worker sees the folder that results go to."""
    if not folder.is_dir():
        raise ValueError(
            f"{folder}: not there on {socket.gethostname()}; --out must be a folder that all workers share"
        )
