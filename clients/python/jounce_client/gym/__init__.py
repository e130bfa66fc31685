"""The vehicle as an environment of Gymnasium: ``gymnasium.make("jounce_client.gym:jounce/PathFollowing-v0")``.

`JounceEnv` takes any signals and the user's reward; `PathFollowing` is one made of it; `JounceVectorEnv` runs many in
processes of their own.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError:
    raise ImportError("jounce_client.gym needs gymnasium: pip install 'jounce[gym]'") from None

from jounce_client.gym.env import Computed, JounceEnv
from jounce_client.gym.path import PathFollowing, pure_pursuit
from jounce_client.gym.vector import JounceVectorEnv

__all__ = ["Computed", "JounceEnv", "JounceVectorEnv", "PathFollowing", "pure_pursuit"]

gymnasium.register(
    "jounce/PathFollowing-v0",
    entry_point=PathFollowing,
    vector_entry_point="jounce_client.gym.vector:path_following",
    max_episode_steps=1000,
)
