"""Measures steps of 20 ms of the Gymnasium environment: alone, and many at once beside Gymnasium's AsyncVectorEnv.

Steps of 20 ms per second, of the best block; the vector environments with one process per core.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from timing import Samples, interleave, machine, table, versions

from jounce_client.gym import JounceVectorEnv, PathFollowing


def blocks(step: Callable[[], Any], reset: Callable[[], Any], envs: int, calls: int) -> Callable[[], Samples]:
    """Times of one environment's step [ns], a block per call."""

    def sample() -> Samples:
        reset()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            step()
        return Samples([(time.perf_counter_ns() - begin) / calls / envs])

    return sample


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=int, default=16, help="environments of a vector (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=100, help="steps in a block (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="blocks of each (default: %(default)s)")
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    action = np.array([0.01, 0.01])
    actions = np.tile(action, (options.envs, 1))
    alone = PathFollowing()
    made = [PathFollowing] * options.envs
    own, single = JounceVectorEnv(made, cores), JounceVectorEnv(made, 1)
    theirs = gymnasium.vector.AsyncVectorEnv(made, context="spawn")
    vectors = {"JounceVectorEnv": own, "JounceVectorEnv, one process": single, "AsyncVectorEnv": theirs}
    subjects = {"one environment": blocks(lambda: alone.step(action), lambda: alone.reset(seed=0), 1, options.calls)}
    for name, env in vectors.items():
        subjects[name] = blocks(lambda env=env: env.step(actions), lambda env=env: env.reset(seed=0), options.envs,
                                options.calls)  # fmt: skip
    print(machine())
    found = interleave(subjects, options.rounds)
    print(machine(), versions("gymnasium"), sep=", ", end="\n\n")
    rate = {name: 1e9 / s.best() for name, s in found.items()}
    rows = [[name, f"{r:.0f}", f"{1e9 / found[name].percentile(50):.0f}", f"{r / rate['one environment']:.2f}",
             f"{r / rate['AsyncVectorEnv']:.2f}"] for name, r in rate.items()]  # fmt: skip
    print(f"Steps of 20 ms per second, {options.envs} environments in a vector, {cores} cores:\n")
    print(table(["", "best block", "median", "to one environment", "to AsyncVectorEnv"], rows))
    for env in [alone, *vectors.values()]:
        env.close()


if __name__ == "__main__":
    main()
