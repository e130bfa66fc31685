"""ROS 2: the vehicle as a node (rclpy of the user's own installation).

Publishes /clock, odometry, IMU, joint states and tf where tf2_msgs is there; takes Twist, TwistStamped,
AckermannDriveStamped, or inputs of the vehicle by name in a JointState. Axes are REP 103 and 105, which are ISO 8855's:
x forward, y left, z up; ``map`` is the world, ``base_link`` the chassis. Stamps are simulated time.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np

from jounce_client import JounceError, State
from jounce_client.bridges.frames import into_body
from jounce_client.bridges.session import (
    WHEELS,
    BridgeError,
    Counters,
    Status,
    add_arguments,
    joined,
    number,
    opened,
    program,
    stepped,
)

NAME: Final = "ros2"
TORQUES: Final = tuple(f"wheel_{w}.{n}" for w in WHEELS for n in ("drive_torque", "brake_torque"))
WANTS: Final = ("ref_frame.pos", "ref_frame.rot", "ref_frame.lin_vel", "ref_frame.ang_vel", "imu.specific_force",
                "imu.ang_vel", *(f"wheel_{w}.{n}" for w in WHEELS for n in ("angle", "omega", "steer")))  # fmt: skip
#: Command -> message type as package/Type, its default topic, whether it has a stamp.
COMMANDS: Final = {
    "twist": ("geometry_msgs/Twist", "cmd_vel", False),
    "twist_stamped": ("geometry_msgs/TwistStamped", "cmd_vel", True),
    "ackermann": ("ackermann_msgs/AckermannDriveStamped", "ackermann_cmd", True),
    "inputs": ("sensor_msgs/JointState", "inputs", True),
}


def message(name: str) -> Any:
    """A message class, by package/Type. Raises BridgeError."""
    package, _, kind = name.partition("/")
    try:
        return getattr(import_module(f"{package}.msg"), kind)
    except ImportError:
        raise BridgeError(f"{package} is not installed: expected a ROS 2 installation that has it, sourced") from None


@dataclass(frozen=True)
class Law:
    """Speed and road-wheel angle to inputs: the only control in the bridge, without memory."""

    steering_ratio: float
    """Steering wheel to road wheel."""
    wheelbase: float
    """[m]"""
    speed_gain: float
    """Torque of each wheel for an error of speed [N.m per m/s]."""
    drive_torque: float
    brake_torque: float
    """Largest of each wheel [N.m]."""

    def inputs(self, speed: float, steer: float, actual: float) -> list[float]:
        """Steering-wheel angle and torques in the order of `TORQUES`."""
        torque = self.speed_gain * (speed - actual)
        if speed == 0.0:
            drive, brake = 0.0, self.brake_torque
        elif torque * speed >= 0.0 or abs(actual) < 0.5:
            drive, brake = max(-self.drive_torque, min(torque, self.drive_torque)), 0.0
        else:
            drive, brake = 0.0, min(abs(torque), self.brake_torque)
        return [self.steering_ratio * steer, *[drive, brake] * len(WHEELS)]

    def of_twist(self, speed: float, yaw_rate: float, actual: float) -> list[float]:
        """The same for a yaw rate: steer = atan(wheelbase * yaw rate / speed), the kinematic bicycle."""
        steer = 0.0 if abs(speed) < 1e-3 else math.atan(self.wheelbase * yaw_rate / speed)
        return self.inputs(speed, steer, actual)


class Node:
    """Publishers, the subscription, and the last command."""

    def __init__(self, rclpy: Any, given: argparse.Namespace) -> None:
        """Makes the node. Raises BridgeError for packages that are missing."""
        kind, topic, self.stamped = COMMANDS[given.kind]
        command_type = message(kind)
        clock, odometry, imu, joints = (message(n) for n in ("rosgraph_msgs/Clock", "nav_msgs/Odometry",
                                                             "sensor_msgs/Imu", "sensor_msgs/JointState"))  # fmt: skip
        self._types = (clock, odometry, imu, joints)
        self._node = rclpy.create_node("jounce", namespace=given.namespace)
        self._clock = self._node.create_publisher(clock, "/clock", 10)
        self._odometry = self._node.create_publisher(odometry, "odom", 10)
        self._imu = self._node.create_publisher(imu, "imu", 10)
        self._joints = self._node.create_publisher(joints, "joint_states", 10)
        try:
            self._tf_message, self._transform = message("tf2_msgs/TFMessage"), message("geometry_msgs/TransformStamped")
            self._tf = self._node.create_publisher(self._tf_message, "/tf", 10)
        except BridgeError as error:
            sys.stderr.write(f"{NAME}: no tf: {error}\n")
            self._tf = None
        self._node.create_subscription(command_type, given.topic or topic, self._take, 10)
        self._executor = rclpy.executors.SingleThreadedExecutor()
        self._executor.add_node(self._node)
        #: The last command, and the simulated time [ns] at which it came.
        self.command: Any | None = None
        self.came = 0
        #: Of the last command [ns]; -1 without one.
        self.stamp = -1
        #: Simulated time of the last state [ns].
        self.now = 0

    def _take(self, command: Any) -> None:
        stamp = self.now
        if self.stamped:
            stamp = int(command.header.stamp.sec) * 10**9 + int(command.header.stamp.nanosec)
        if stamp >= self.stamp:  # the answer to a state that was published twice may come late
            self.command, self.came, self.stamp = command, self.now, stamp

    def spin(self, seconds: float) -> None:
        """Takes what has arrived, or waits for something."""
        self._executor.spin_once(timeout_sec=seconds)

    def publish(self, state: State) -> None:
        """The state on all topics."""
        clock, odometry, imu, joints = self._types
        before, self.now = self.now, round(state.time * 1e9)
        if self.now < before:  # a reset: commands of the time before are not for this one
            self.command, self.stamp = None, -1
        rotation, place = np.asarray(state["ref_frame.rot"]), np.asarray(state["ref_frame.pos"])
        said = odometry(child_frame_id="base_link")
        self._head(said.header, "map")
        _xyz(said.pose.pose.position, place)
        _wxyz(said.pose.pose.orientation, rotation)
        _xyz(said.twist.twist.linear, into_body(rotation, np.asarray(state["ref_frame.lin_vel"])))
        _xyz(said.twist.twist.angular, state["ref_frame.ang_vel"])
        felt = imu()
        self._head(felt.header, "base_link")
        _wxyz(felt.orientation, rotation)
        _xyz(felt.angular_velocity, state["imu.ang_vel"])
        _xyz(felt.linear_acceleration, state["imu.specific_force"])
        turned = joints()
        self._head(turned.header, "")
        turned.name = [f"{what}_{wheel}" for wheel in WHEELS for what in ("wheel", "steer")]
        turned.position = [float(state[f"wheel_{w}.{what}"]) for w in WHEELS for what in ("angle", "steer")]
        turned.velocity = [v for w in WHEELS for v in (float(state[f"wheel_{w}.omega"]), math.nan)]
        if self._tf is not None:
            transform = self._transform(child_frame_id="base_link")
            self._head(transform.header, "map")
            _xyz(transform.transform.translation, place)
            _wxyz(transform.transform.rotation, rotation)
            self._tf.publish(self._tf_message(transforms=[transform]))
        time_ = clock()
        time_.clock.sec, time_.clock.nanosec = divmod(self.now, 10**9)
        self._clock.publish(time_)
        self._joints.publish(turned)
        self._imu.publish(felt)
        self._odometry.publish(said)  # last: who steers by it finds the others there

    def _head(self, header: Any, frame: str) -> None:
        header.stamp.sec, header.stamp.nanosec = divmod(self.now, 10**9)
        header.frame_id = frame

    def close(self) -> None:
        """Ends the node."""
        self._executor.shutdown()
        self._node.destroy_node()


def _xyz(target: Any, values: Any) -> None:
    target.x, target.y, target.z = (float(v) for v in values)


def _wxyz(target: Any, values: Any) -> None:
    target.w, target.x, target.y, target.z = (float(v) for v in values)


def chosen(command: str, names: Sequence[str], law: Law) -> Callable[[Any, State, Sequence[float]], list[float]]:
    """(message, state, inputs before) to inputs in the order of ``names``. Raises BridgeError for a wrong message."""

    def actual(state: State) -> float:
        rotation = np.asarray(state["ref_frame.rot"])
        return float(into_body(rotation, np.asarray(state["ref_frame.lin_vel"]))[0])

    def by_name(said: Any, _: State, before: Sequence[float]) -> list[float]:
        values = dict(zip(names, before, strict=True))
        if len(said.name) != len(said.position):
            raise BridgeError(f"{len(said.name)} names and {len(said.position)} positions: expected as many")
        for name, value in zip(said.name, said.position, strict=True):
            if name not in values:
                raise BridgeError(f"{name}: expected one of {', '.join(names)}")
            values[name] = float(value)
        return [values[n] for n in names]

    if command == "inputs":
        return by_name
    if command == "ackermann":
        return lambda said, state, _: law.inputs(said.drive.speed, said.drive.steering_angle, actual(state))
    if command == "twist":
        return lambda said, state, _: law.of_twist(said.linear.x, said.angular.z, actual(state))
    return lambda said, state, _: law.of_twist(said.twist.linear.x, said.twist.angular.z, actual(state))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.set_defaults(pace="realtime")
    parser.add_argument("--namespace", default="", help="of the node (default: none)")
    parser.add_argument("--command", dest="kind", choices=tuple(COMMANDS), default="twist", help="what drives; inputs: "
                        "a JointState with names and positions of inputs (default: %(default)s)")  # fmt: skip
    parser.add_argument("--topic", help="of the command (default: cmd_vel, ackermann_cmd or inputs)")
    parser.add_argument("--receive", default="steering_wheel_angle", metavar="NAME,...",
                        help="inputs that --command inputs may set (default: %(default)s)")  # fmt: skip
    parser.add_argument("--period", type=int, default=10, metavar="TICKS", help="ticks between two states "
                        "(default: %(default)s, 100 Hz)")  # fmt: skip
    parser.add_argument("--wait", action="store_true", help="before each step wait for a command with the stamp of the "
                        "last state or a later one: lockstep")  # fmt: skip
    parser.add_argument("--max-age", default="0.5", metavar="S", help="simulated time after which a command is too "
                        "old: no drive, brakes on (default: %(default)s s)")  # fmt: skip
    for name, value, text in (
        ("steering-ratio", "26", "steering wheel to road wheel"), ("wheelbase", "3.302", "in m"),
        ("speed-gain", "600", "N.m of each wheel per m/s of speed error"),
        ("drive-torque", "1500", "largest of each wheel in N.m"),
        ("brake-torque", "3000", "largest of each wheel in N.m"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", default=value, help=f"{text} (default: %(default)s)")


def run(given: argparse.Namespace) -> int:
    """Spins until Ctrl-C."""
    try:
        import rclpy
        import rclpy.executors
    except ImportError:
        raise BridgeError("rclpy is not installed: expected a ROS 2 installation, sourced; or the wheels ros-rclpy, "
                          "ros-rmw-fastrtps-cpp, ros-nav-msgs, ros-sensor-msgs") from None
    if given.period < 1:
        raise BridgeError(f"--period {given.period}: expected 1 or more ticks")
    if given.wait and not COMMANDS[given.kind][2]:
        raise BridgeError(f"--wait: expected a command with a stamp, not {given.kind}")
    age = number(given.max_age)
    law = Law(*(number(getattr(given, n)) for n in ("steering_ratio", "wheelbase", "speed_gain", "drive_torque",
                                                    "brake_torque")))  # fmt: skip
    if given.kind == "inputs":
        owns = [n.strip() for n in given.receive.split(",") if n.strip()]
    else:
        owns = ["steering_wheel_angle", *TORQUES]
    rclpy.init()
    try:
        node = Node(rclpy, given)
        try:
            with opened(given, NAME) as (client, session):
                start = {s.name + part: value for s in client.describe(session.model or given.vehicle).signals
                         for part, value in zip(s.components, s.start, strict=False)}  # fmt: skip
                safe = law.inputs(0.0, 0.0, 0.0) if given.kind != "inputs" else [start.get(n, 0.0) for n in owns]
                late = None if given.wait else safe  # in lockstep the session waits for the command
                with joined(client, session, NAME, owns=owns, wants=WANTS, period=given.period, safe=late) as member:
                    _spin(given, node, member, chosen(given.kind, member.inputs, law), safe, age)
        finally:
            node.close()
    finally:
        rclpy.shutdown()
    return 0


def _spin(given: argparse.Namespace, node: Node, member: Any, law: Callable[..., list[float]], safe: list[float],
          age: float) -> None:  # fmt: skip
    status, counters, state, inputs = Status(NAME, given.log), Counters(), member.start, safe
    node.publish(state)
    while not given.frames or counters.steps < given.frames:
        if given.wait:
            again = time.monotonic() + 1.0
            while node.stamp < node.now:
                node.spin(0.1)
                if time.monotonic() > again:  # a subscriber may have come after the state was published
                    again = time.monotonic() + 1.0
                    node.publish(state)
                status.told(counters, state.time, waiting="a command")
        else:
            node.spin(0.0)
        if node.command is None or not given.wait and node.now - node.came > 1e9 * age:
            wanted = safe
        else:
            try:
                wanted = law(node.command, state, inputs)
            except BridgeError as error:
                wanted = inputs
                _refuse(counters, error)
        try:
            state = stepped(member, wanted)
            inputs = wanted
        except JounceError as error:
            if error.reason not in ("INPUT_OUT_OF_RANGE", "NOT_FINITE", "NOT_A_WHOLE_NUMBER"):
                raise
            _refuse(counters, error)
            state = stepped(member, inputs)
        counters.steps += 1
        node.publish(state)
        status.told(counters, state.time)


def _refuse(counters: Counters, error: Exception) -> None:
    counters.refused += 1
    if counters.refused == 1:
        sys.stderr.write(f"{NAME}: a command is left out, the one before stays: {error}\n")


if __name__ == "__main__":
    program(NAME, "Makes the vehicle a node of ROS 2.", add_options, run)
