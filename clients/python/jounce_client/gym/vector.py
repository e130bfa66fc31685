"""`JounceVectorEnv`: many environments in processes of their own, each with several, over memory that they share."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import CloudpickleWrapper, batch_space
from numpy.typing import NDArray

Array = NDArray[np.float64]
Make = Callable[[], gymnasium.Env[Array, Array]]


class JounceVectorEnv(VectorEnv[Array, Array, NDArray[Any]]):
    """Environments of one kind, divided among ``processes`` (default: one per core, at most one per environment).

    Observations, actions, rewards and ends are in shared memory; a step costs one message per process, not one per
    environment. An episode that has ended begins anew at the next step, whose action is not used and whose reward is 0
    (Gymnasium's NEXT_STEP). The arrays that are returned are copies.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, make: Sequence[Make], processes: int | None = None) -> None:
        """``make`` has one function per environment. Raises what they raise."""
        self.num_envs = len(make)
        if not make:
            raise ValueError("make is empty: expected a function per environment")
        processes = min(processes or os.cpu_count() or 1, len(make))
        if processes < 1:
            raise ValueError(f"processes = {processes}: expected at least 1")
        probe = make[0]()
        self.single_observation_space, self.single_action_space = probe.observation_space, probe.action_space
        self.spec = probe.spec
        probe.close()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        context = multiprocessing.get_context("spawn")
        observed, acts = (space.shape for space in (self.observation_space, self.action_space))
        assert observed is not None and acts is not None
        size = int(np.prod(observed)) + int(np.prod(acts)) + 3 * self.num_envs
        memory = context.RawArray(ctypes.c_double, size)
        self._shared = _Shared(memory, observed, acts)
        self._workers: list[tuple[Any, Connection, range]] = []
        for part in np.array_split(np.arange(self.num_envs), processes):
            places = range(int(part[0]), int(part[-1]) + 1)
            ours, theirs = context.Pipe()
            jobs = [CloudpickleWrapper(make[k]) for k in places]
            process = context.Process(target=_work, args=(theirs, memory, observed, acts, places, jobs), daemon=True)
            process.start()
            theirs.close()
            self._workers.append((process, ours, places))

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
              ) -> tuple[Array, dict[str, Any]]:  # fmt: skip
        """All back to the start; a single ``seed`` gives seed, seed + 1, and so on."""
        if seed is None or isinstance(seed, int):
            seeds: list[int | None] = [None if seed is None else seed + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds: expected {self.num_envs}")
        infos = self._all(lambda places: ([seeds[k] for k in places], options))
        return self._shared.observations.copy(), infos

    def step(self, actions: Array) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One period of all. Raises ValueError for actions outside their space."""
        given = np.asarray(actions, dtype=np.float64)
        if given.shape != self._shared.actions.shape or not self.action_space.contains(given):
            raise ValueError(f"actions of shape {given.shape}: expected {self.action_space}")
        self._shared.actions[:] = given
        infos = self._all(lambda _: None)
        shared = self._shared
        return (shared.observations.copy(), shared.rewards.copy(), shared.terminated > 0.0, shared.truncated > 0.0,
                infos)  # fmt: skip

    def _all(self, request: Callable[[range], Any]) -> dict[str, Any]:
        for _, line, places in self._workers:
            line.send(request(places))
        infos: dict[str, Any] = {}
        for _, line, places in self._workers:
            try:
                reply = line.recv()
            except (EOFError, OSError):
                reply = RuntimeError("a process of the vector environment ended: its error stands on standard error")
            if isinstance(reply, Exception):
                self.close()
                raise reply
            for k, info in reply.items():
                infos = self._add_info(infos, info, places[k])
        return infos

    def close_extras(self, **_: Any) -> None:
        """Ends the processes."""
        for process, line, _places in self._workers:
            line.close()
            process.join(5.0)
            if process.is_alive():
                process.kill()


class _Shared:
    """Arrays over one memory: observations, actions, rewards, terminated, truncated."""

    def __init__(self, memory: Any, observed: tuple[int, ...], acts: tuple[int, ...]) -> None:
        shapes = [observed, acts, *[(observed[0],)] * 3]
        ends = np.cumsum([int(np.prod(s)) for s in shapes])[:-1]
        parts = np.split(np.frombuffer(memory), ends)
        self.observations, self.actions, self.rewards, self.terminated, self.truncated = (
            part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
        )


def _work(line: Connection, memory: Any, observed: tuple[int, ...], acts: tuple[int, ...], places: range,
          jobs: Sequence[Any]) -> None:  # fmt: skip
    """A process: makes its environments, then answers resets and steps until the line ends."""
    shared = _Shared(memory, observed, acts)
    envs: list[Any] = []
    try:
        envs = [job.fn() for job in jobs]
        over = [True] * len(envs)
        while True:
            request = line.recv()
            if request is None:
                line.send(_steps(envs, shared, places, over))
            else:
                line.send(_resets(envs, shared, places, over, *request))
    except EOFError:
        pass
    except Exception as error:  # noqa: BLE001 - the other process raises it
        line.send(error)
        with suppress(EOFError, OSError):  # a line that is closed with requests unread would lose the error
            while True:
                line.recv()
    finally:
        for env in envs:
            env.close()


def _resets(envs: list[Any], shared: _Shared, places: range, over: list[bool], seeds: list[int | None],
            options: dict[str, Any] | None) -> dict[int, dict[str, Any]]:  # fmt: skip
    infos = {}
    for i, (env, k, seed) in enumerate(zip(envs, places, seeds, strict=True)):
        shared.observations[k], infos[i] = env.reset(seed=seed, options=options)
        over[i] = False
    return {i: info for i, info in infos.items() if info}


def _steps(envs: list[Any], shared: _Shared, places: range, over: list[bool]) -> dict[int, dict[str, Any]]:
    infos = {}
    for i, (env, k) in enumerate(zip(envs, places, strict=True)):
        if over[i]:
            shared.observations[k], info = env.reset()
            reward, terminated, truncated = 0.0, False, False
        else:
            shared.observations[k], reward, terminated, truncated, info = env.step(shared.actions[k])
        shared.rewards[k], shared.terminated[k], shared.truncated[k] = reward, terminated, truncated
        over[i] = terminated or truncated
        if info:
            infos[i] = info
    return infos


def path_following(num_envs: int = 1, processes: int | None = None, max_episode_steps: int = 1000,
                   **options: Any) -> JounceVectorEnv:  # fmt: skip
    """`gymnasium.make_vec` of ``jounce/PathFollowing-v0``; ``options`` are those of `PathFollowing`."""
    make = partial(limited, max_episode_steps, options)
    return JounceVectorEnv([make] * num_envs, processes)


def limited(max_episode_steps: int, options: Mapping[str, Any]) -> gymnasium.Env[Array, Array]:
    """A `PathFollowing` whose episodes end after ``max_episode_steps``; ``options`` are its own."""
    from gymnasium.wrappers import TimeLimit

    from jounce_client.gym.path import PathFollowing

    return TimeLimit(PathFollowing(**options), max_episode_steps)
