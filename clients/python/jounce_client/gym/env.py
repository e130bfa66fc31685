"""`JounceEnv`: observations and actions by signal names, reward and end by the user's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from jounce_client.gym.model import InProcess, Model, ModelFailed, Outputs, Remote, matching

Array = NDArray[np.float64]
#: Smallest and largest value.
Bounds = tuple[float, float]
LARGEST: Final = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Computed:
    """Observations that one function computes from the outputs, within bounds; values beyond them are clipped."""

    values: Callable[[Outputs], Sequence[float]]
    bounds: Sequence[Bounds]


def never(_: Outputs) -> bool:
    """The end of no episode."""
    return False


class JounceEnv(gymnasium.Env[Array, Array]):
    """A vehicle, in this process or in a session on a server.

    ``observations``: name of a scalar output -> its bounds, or a name of one's own -> `Computed`. ``actions``: name of
    an input, of a vector or a pattern such as ``wheel_*.drive_torque`` -> bounds, or None for those of the signal
    table; all inputs of one entry get one value, and an action from -1 to 1 goes from the lower to the upper bound.
    ``reward(outputs, action)`` and ``terminated(outputs)`` see the outputs named in ``wants`` and ``observations``,
    after the observation has been made. ``begin(random)`` is called at each reset, for tasks that draw something.

    ``period`` [ticks] is the length of a step. ``settle`` [s] passes before the start of all episodes; a reset goes
    back there by a snapshot. The length of an episode is Gymnasium's ``max_episode_steps``.

    A model that fails, for example because a tire is crushed, ends the episode: ``terminated``, with the reason in
    ``info["failure"]``, the last observation, and ``failure_reward``. An action that is not finite or outside -1 to 1
    raises ValueError and changes nothing.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self, vehicle: str = "hmmwv", *,
        observations: Mapping[str, Bounds | Computed], actions: Mapping[str, Bounds | None],
        reward: Callable[[Outputs, Array], float], terminated: Callable[[Outputs], bool] = never,
        begin: Callable[[np.random.Generator], None] | None = None, wants: Sequence[str] = (), period: int = 20,
        settle: float = 0.5, failure_reward: float = 0.0, parameters: Mapping[str, Any] | None = None,
        address: str | None = None, **connection: Any,
    ) -> None:  # fmt: skip
        """``address`` of a server, with ``connection`` for `Client.connect`; None runs the vehicle in this process."""
        self._reward, self._terminated, self._begin = reward, terminated, begin
        self._failure_reward = failure_reward
        named = [name for name, what in observations.items() if not isinstance(what, Computed)]
        wants = list(dict.fromkeys([*named, *wants]))
        if address is None:
            if connection:
                raise ValueError(f"{', '.join(connection)}: expected address= of a server with it")
            self._model: Model = InProcess(vehicle, parameters or {})
        else:
            self._model = Remote(address, vehicle, parameters or {}, **connection)
        try:
            self._spaces(observations, actions)
            self._outputs = self._model.begin(self._owns, wants, period, round(settle / 1e-3))
            self._observation = self._observe()
        except BaseException:
            self._model.close()
            raise
        self._over = True

    def _spaces(self, observations: Mapping[str, Bounds | Computed], actions: Mapping[str, Bounds | None]) -> None:
        table = self._model.bounds
        self._owns: list[str] = []
        takes: list[int] = []
        low, high = [], []
        for k, (pattern, given) in enumerate(actions.items()):
            inputs = matching(pattern, list(table))
            if twice := next((n for n in inputs if n in self._owns), None):
                raise ValueError(f"actions: {twice} is named twice; expected once")
            least, most = max(table[n][0] for n in inputs), min(table[n][1] for n in inputs)
            below, above = (least, most) if given is None else given
            if not (math.isfinite(below) and math.isfinite(above) and below < above):
                raise ValueError(f"actions: {pattern} from {below} to {above}: expected two finite bounds that rise")
            if below < least or above > most:
                raise ValueError(f"actions: {pattern} from {below} to {above}: expected within {least} to {most}")
            self._owns += inputs
            takes += [k] * len(inputs)
            low.append(below)
            high.append(above)
        if not low:
            raise ValueError("actions: expected at least one input")
        self.action_space = Box(-1.0, 1.0, (len(low),), dtype=np.float64)
        self._shape = (len(low),)
        middle, half = 0.5 * (np.array(high) + low), 0.5 * (np.array(high) - low)
        # Of each input the action that it takes, the middle of its bounds and half their distance.
        self._scales = [(k, float(middle[k]), float(half[k])) for k in takes]
        self._parts = [(name, what.values if isinstance(what, Computed) else None)
                       for name, what in observations.items()]  # fmt: skip
        bounds = [b for what in observations.values()
                  for b in (what.bounds if isinstance(what, Computed) else [what])]  # fmt: skip
        if not bounds or not all(b[0] < b[1] for b in bounds):
            raise ValueError("observations: expected at least one, each with two bounds that rise")
        limits = np.clip(np.array(bounds, dtype=np.float64), -LARGEST, LARGEST)
        self.observation_space = Box(limits[:, 0].copy(), limits[:, 1].copy(), dtype=np.float64)
        self._least, self._most = limits.T.copy()

    def _observe(self) -> Array:
        outputs, values = self._outputs, []
        for name, own in self._parts:
            if own is None:
                values.append(outputs[name])
            else:
                values += own(outputs)
        found: Array = np.array(values)
        np.maximum(found, self._least, out=found)
        np.minimum(found, self._most, out=found)
        return found

    @property
    def outputs(self) -> Outputs:
        """The wanted outputs at the present state, not clipped."""
        return self._outputs

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Goes back to the start by a snapshot; ``seed`` is for what the task draws. There are no options."""
        if options:
            raise ValueError(f"options {', '.join(map(str, options))}: expected none")
        super().reset(seed=seed)
        if self._begin is not None:
            self._begin(self.np_random)
        self._outputs = self._model.reset()
        self._over = False
        self._observation = self._observe()
        return self._observation.copy(), {}

    def step(self, action: Array) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """One period with the action held. Raises ValueError for an action outside -1 to 1."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or has not begun: expected reset()")
        given = np.asarray(action, dtype=np.float64)
        parts = given.tolist()
        if given.shape != self._shape or not all(-1.0 <= part <= 1.0 for part in parts):
            raise ValueError(f"action {action}: expected {self._shape[0]} numbers from -1 to 1")
        try:
            self._outputs = self._model.step([middle + parts[k] * half for k, middle, half in self._scales])
        except ModelFailed as failure:
            self._over = True
            return self._observation.copy(), self._failure_reward, True, False, {"failure": str(failure)}
        self._observation = self._observe()
        self._over = bool(self._terminated(self._outputs))
        return self._observation, float(self._reward(self._outputs, given)), self._over, False, {}

    def close(self) -> None:
        """Ends the vehicle."""
        self._model.close()
