"""`PathFollowing`: steer and drive along a path of lane changes, and a controller of a few lines as its baseline."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jounce_client.gym.env import Computed, JounceEnv
from jounce_client.gym.model import Outputs

Array = NDArray[np.float64]

SPEED: Final = 12.0  # [m/s]: start and goal
AHEAD: Final = (5.0, 10.0, 20.0)  # [m], where the path is seen
STEER: Final = 8.0  # [rad] at the steering wheel
TORQUE: Final = 1500.0  # [N.m] per wheel
WIDTH: Final = 4.0  # [m]: beyond this distance from the path the episode ends


class Path:
    """Two waves y(x) = sum a sin(k x + p), with a rise from 0 over the first 30 m, drawn anew for every episode."""

    def __init__(self) -> None:
        """A straight line until the first draw."""
        self._waves: list[tuple[float, float, float]] = []

    def draw(self, random: np.random.Generator) -> None:
        """Amplitudes to 2 m at wavelengths of 80 to 200 m: lateral acceleration up to about 0.4 g at 12 m/s."""
        self._waves = [
            (random.uniform(0.5, 2.0), 2 * math.pi / random.uniform(80.0, 200.0), random.uniform(0.0, 2 * math.pi))
            for _ in range(2)
        ]

    def at(self, x: float) -> tuple[float, float]:
        """y [m] and slope dy/dx [1] at x [m]."""
        y = slope = 0.0
        for a, k, p in self._waves:
            y += a * math.sin(k * x + p)
            slope += a * k * math.cos(k * x + p)
        if x >= 30.0:
            return y, slope
        s = max(x / 30.0, 0.0)
        rise, rate = s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / 30.0
        return rise * y, rise * slope + rate * y


class PathFollowing(JounceEnv):
    """Observation: speed [m/s], yaw rate [rad/s], lateral error [m], heading error [rad], and the path's lateral
    position 5, 10 and 20 m ahead in the vehicle's axes [m].

    Action, each from -1 to 1: steering-wheel angle to 8 rad, left positive, and drive torque of every wheel to
    1500 N.m. Reward per step of 20 ms: 1, less by the errors of place, heading and speed. The episode ends 4 m from
    the path, or where the vehicle lies on its side.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, vehicle: str = "hmmwv", render_mode: str | None = None, **options: Any) -> None:
        """``options`` are those of `JounceEnv`: period, settle, address, parameters and others."""
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode {render_mode!r}: expected None or 'rgb_array'")
        self.render_mode, self.path = render_mode, Path()
        parameters = {"init.speed": SPEED, **options.pop("parameters", {})}
        self._error = self._heading = 0.0
        super().__init__(
            vehicle, parameters=parameters, begin=self.path.draw,
            wants=("ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.yaw", "rolled_over"),
            observations={
                "speed": (0.0, 60.0), "ref_frame.ang_vel.z": (-5.0, 5.0),
                "path": Computed(self._seen, [(-10.0, 10.0), (-math.pi, math.pi), *[(-30.0, 30.0)] * len(AHEAD)]),
            },
            actions={"steering_wheel_angle": (-STEER, STEER), "wheel_*.drive_torque": (-TORQUE, TORQUE)},
            reward=self._reward_of, terminated=self._ended, **options,
        )  # fmt: skip

    def _seen(self, o: Outputs) -> list[float]:
        """Lateral error [m], heading error [rad], and the path's lateral position ahead in the vehicle's axes [m]."""
        x, y, yaw = float(o["ref_frame.pos.x"]), float(o["ref_frame.pos.y"]), float(o["ref_frame.yaw"])
        cos, sin = math.cos(yaw), math.sin(yaw)
        here, slope = self.path.at(x)
        heading = math.atan(slope)
        self._error = (y - here) * math.cos(heading)
        self._heading = math.remainder(yaw - heading, 2.0 * math.pi)
        ahead = [(self.path.at(x + d * cos)[0] - y) * cos - d * cos * sin for d in AHEAD]
        return [self._error, self._heading, *ahead]

    def render(self) -> Any:
        """(300, 600, 3) picture of the path and the vehicle from above, 60 m long. Raises ImportError without
        matplotlib."""
        if self.render_mode is None:
            raise ValueError("render() needs gymnasium.make(..., render_mode='rgb_array')")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Polygon

        o = self.outputs
        x, y, yaw = o["ref_frame.pos.x"], o["ref_frame.pos.y"], o["ref_frame.yaw"]
        canvas = FigureCanvasAgg(Figure((6.0, 3.0), dpi=100, layout="constrained"))
        axes = canvas.figure.subplots()
        along = np.linspace(x - 20.0, x + 40.0, 200)
        axes.plot(along, [self.path.at(a)[0] for a in along], label="path")
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        corners = np.array([[0.5, 1.1], [0.5, -1.1], [-4.0, -1.1], [-4.0, 1.1]])  # [m], from the front axle
        axes.add_patch(Polygon(corners @ turn.T + (x, y), color="tab:orange", label="vehicle"))
        axes.set(xlim=(x - 20.0, x + 40.0), ylim=(y - 15.0, y + 15.0), aspect="equal", xlabel="x [m]", ylabel="y [m]",
                 title=f"{o['speed']:.1f} m/s, {self._error:+.2f} m from the path")  # fmt: skip
        axes.legend(loc="upper right")
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()  # type: ignore[no-untyped-call]

    def _reward_of(self, o: Outputs, _: Array) -> float:
        return 1.0 - (self._error / 2.0) ** 2 - self._heading**2 - ((float(o["speed"]) - SPEED) / 5.0) ** 2

    def _ended(self, o: Outputs) -> bool:
        return abs(self._error) > WIDTH or bool(o["rolled_over"])


def pure_pursuit(observation: Array, wheelbase: float = 3.302, ratio: float = 26.0) -> Array:
    """Steers to the point 10 m ahead and holds the speed: the baseline. (7,) -> (2,).

    Source of the steering: Coulter, Implementation of the pure pursuit path tracking algorithm, CMU-RI-TR-92-01, 1992:
    curvature 2 y / d^2.
    """
    speed, across = observation[0], observation[5]
    distance = math.hypot(AHEAD[1], across)
    steer = ratio * math.atan(wheelbase * 2.0 * across / distance**2)
    torque = 600.0 * (SPEED - speed)
    action: Array = np.clip([steer / STEER, torque / TORQUE], -1.0, 1.0)
    return action
