"""The vehicle as an environment of Gymnasium: in process, at a server, and many at once."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import jounce  # noqa: E402
from jounce.axles import WHEELS  # noqa: E402
from jounce_client.errors import JounceError  # noqa: E402
from jounce_client.gym import Computed, JounceEnv, JounceVectorEnv, PathFollowing, pure_pursuit  # noqa: E402
from jounce_client.gym.vector import limited  # noqa: E402

Array = np.ndarray


@pytest.fixture
def env() -> Iterator[Any]:
    made = PathFollowing()
    yield made
    made.close()


def driven(env: Any, seed: int, steps: int = 60) -> list[Any]:
    """Observations and rewards of the baseline."""
    observation, _ = env.reset(seed=seed)
    rows = [observation.tolist()]
    for _ in range(steps):
        observation, reward, terminated, _, _ = env.step(pure_pursuit(observation))
        rows.append((observation.tolist(), reward, terminated))
    return rows


def test_gymnasium_s_own_check_finds_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("jounce_client.gym:jounce/PathFollowing-v0", render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


def test_a_reset_goes_back_to_the_same_bits_and_a_seed_draws_the_same_path(env: Any) -> None:
    first, other, again = driven(env, 3), driven(env, 4), driven(env, 3)
    assert first == again != other


def test_in_process_and_at_a_server_are_the_same_bits(env: Any, address: str) -> None:
    remote = PathFollowing(address=address)
    assert driven(remote, 5) == driven(env, 5)
    remote.close()


def test_its_numbers_are_those_of_the_signals(env: Any) -> None:
    """An action of 0.25 is 2 rad and 0.5 is 750 N.m at every wheel; settled for half a second before."""
    env.reset(seed=1)
    observation, *_ = env.step(np.array([0.25, 0.5]))
    torques = [f"wheel_{w}.drive_torque" for w in WHEELS]
    with jounce.join("hmmwv", owns=["steering_wheel_angle", *torques], wants=["speed", "ref_frame.pos.y"],
                     period=500, **{"init.speed": 12.0}) as pilot:  # fmt: skip
        pilot.step()
        pilot.period = 20
        state = pilot.step([2.0, *[750.0] * 4])
    assert observation[0] == state["speed"]
    x, y, yaw = (env.outputs[f"ref_frame.{n}"] for n in ("pos.x", "pos.y", "yaw"))
    assert y == state["ref_frame.pos.y"]
    wanted, slope = env.path.at(x)
    steeper = (env.path.at(x + 1e-5)[0] - env.path.at(x - 1e-5)[0]) / 2e-5
    assert slope == pytest.approx(steeper, abs=1e-8)
    assert observation[2] == pytest.approx((y - wanted) * math.cos(math.atan(slope)))
    assert observation[3] == pytest.approx(yaw - math.atan(slope))
    ahead = env.path.at(x + 10.0 * math.cos(yaw))[0]
    assert observation[5] == pytest.approx((ahead - y) * math.cos(yaw) - 10.0 * math.cos(yaw) * math.sin(yaw))


def test_the_baseline_follows_the_path_and_random_actions_do_not(env: Any) -> None:
    rewards = [r[1] for r in driven(env, 0, 400)[1:]]
    assert np.mean(rewards) > 0.95
    env.reset(seed=0)
    env.action_space.seed(0)
    terminated, total, steps = False, 0.0, 0
    while not terminated and steps < 1000:
        _, reward, terminated, _, _ = env.step(env.action_space.sample())
        total, steps = total + reward, steps + 1
    assert terminated and total / steps < 0.8


@pytest.mark.parametrize("action", [[0.0], [0.0, 0.0, 0.0], [math.nan, 0.0], [0.0, 1.5], [math.inf, 0.0]])
def test_a_wrong_action_is_refused_and_changes_nothing(env: Any, action: list[float]) -> None:
    observation, _ = env.reset(seed=2)
    with pytest.raises(ValueError, match="expected 2 numbers from -1 to 1"):
        env.step(np.array(action))
    first = env.step(np.zeros(2))[0]
    env.reset(seed=2)
    assert env.step(np.zeros(2))[0].tolist() == first.tolist()


def test_who_steps_before_a_reset_or_after_the_end_is_told(env: Any) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded, match="expected reset"):
        env.step(np.zeros(2))


#: A task that tips the vehicle over its front.
TIP: dict[str, Any] = {
    "observations": {"speed": (0.0, 60.0)}, "actions": {"chassis.ext_moment.y": None},
    "reward": lambda outputs, action: float(outputs["ref_frame.pos.z"]), "wants": ["ref_frame.pos.z"],
    "failure_reward": -7.0,
}  # fmt: skip


@pytest.mark.parametrize("remote", [False, True])
def test_a_model_that_fails_ends_the_episode_with_the_reason_and_a_reset_brings_it_back(remote: bool,
                                                                                        address: str) -> None:
    env = JounceEnv(**TIP, address=address if remote else None)
    start, _ = env.reset()
    for _ in range(60):
        _, reward, terminated, _, info = env.step(np.array([-1.0]))
        if terminated:
            break
    assert terminated and reward == -7.0 and "loop cannot close" in info["failure"]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(1))
    assert env.reset()[0].tolist() == start.tolist()
    assert not env.step(np.zeros(1))[2]
    env.close()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"actions": {"nowhere": None}}, "no input named 'nowhere'"),
        ({"actions": {"steering_wheel_angle": (-1.0, 1e9)}}, "expected within"),
        ({"actions": {"steering_wheel_angle": (1.0, 1.0)}}, "two finite bounds that rise"),
        ({"actions": {"wheel_*.drive_torque": (-1.0, 1.0), "wheel_FL.drive_torque": (-1.0, 1.0)}}, "named twice"),
        ({"actions": {}}, "at least one input"),
        ({"observations": {}}, "at least one"),
        ({"observations": {"speed": (1.0, 0.0)}}, "bounds that rise"),
        ({"observations": {"sped": (0.0, 1.0)}}, "no output named 'sped'"),
        ({"token": "x"}, "expected address="),
    ],
)
def test_a_task_that_cannot_be_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        JounceEnv(**{**TIP, **wrong})


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(JounceError, match="UNAVAILABLE"):
        PathFollowing(address="127.0.0.1:1", timeout=1.0)


def test_computed_observations_are_clipped_to_their_bounds() -> None:
    task = {**TIP, "observations": {"own": Computed(lambda o: [5.0, o["ref_frame.pos.z"]], [(0.0, 1.0), (-9, 9)])}}
    env = JounceEnv(**task)
    observation = env.reset()[0]
    assert observation[0] == 1.0 and env.observation_space.contains(observation)
    env.close()


#: Makes an environment whose episodes end soon.
short = partial(limited, 5, {})


def test_many_environments_give_the_bits_of_single_ones_and_begin_anew_at_the_step_after_an_end() -> None:
    actions = np.random.default_rng(0).uniform(-0.5, 0.5, (8, 3, 2))
    many = JounceVectorEnv([short] * 3, processes=2)
    found, _ = many.reset(seed=11)
    rows = [found.tolist()] + [[part.tolist() for part in many.step(a)[:4]] for a in actions]
    many.close()
    for k in range(3):
        one = short()
        assert one.reset(seed=11 + k)[0].tolist() == rows[0][k]
        over = False
        for a, row in zip(actions, rows[1:], strict=True):
            observation, reward, ended, cut, _ = (*one.reset(), 0.0, False, {})[:1] + (0.0, False, False, {}) \
                if over else one.step(a[k])  # fmt: skip
            assert [row[0][k], row[1][k], row[2][k], row[3][k]] == [observation.tolist(), reward, ended, cut]
            over = ended or cut
        one.close()


def test_an_error_in_a_process_reaches_the_caller() -> None:
    many = JounceVectorEnv([short], processes=1)
    with pytest.raises(ValueError, match="expected none"):
        many.reset(options={"unknown": 1})


def test_make_vec_gives_the_vector_environment() -> None:
    many = gymnasium.make_vec("jounce_client.gym:jounce/PathFollowing-v0", num_envs=2)
    assert isinstance(many.unwrapped, JounceVectorEnv)
    assert many.reset(seed=0)[0].shape == (2, 7)
    with pytest.raises(ValueError, match="actions of shape"):
        many.step(np.full((2, 2), 3.0))
    many.close()


def test_a_picture_shows_the_path_and_the_vehicle() -> None:
    env = PathFollowing(render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (300, 600, 3) and picture.dtype == np.uint8
    orange = np.abs(picture.astype(int) - (255, 127, 14)).sum(axis=2) < 10
    assert orange.sum() > 50
    env.close()


def test_without_gymnasium_the_package_is_named() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import jounce_client.gym"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "pip install 'jounce[gym]'" in run.stderr




def test_the_programs_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "bridges" / "gym.md").read_text()
    first, second = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(first, {})
    assert 0.95 < float(capsys.readouterr().out) <= 1.0
    made: dict[str, Any] = {}
    exec(second, made)
    made["env"].close()
