"""A node of ROS 2 that drives a lane change by odometry alone, and prints what it saw as JSON.

``python ros2_follower.py STATES inputs|twist_stamped|twist``, with an interpreter that has rclpy.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

SPEED = 8.0  # [m/s]
INPUTS = ("steering_wheel_angle", "wheel_RL.drive_torque", "wheel_RR.drive_torque")


def path(x: float) -> float:
    """Lateral place [m] of a lane change of 3.5 m between 15 and 45 m."""
    s = min(max((x - 15.0) / 30.0, 0.0), 1.0)
    return 3.5 * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def curvature(x: float, y: float, w: float, z: float, qx: float, qy: float) -> float:
    """[1/m] of pure pursuit 8 m ahead, from place and orientation."""
    yaw = math.atan2(2 * (w * z + qx * qy), 1 - 2 * (qy * qy + z * z))
    across = path(x + 8.0) - y
    return 2.0 * (across * math.cos(yaw) - 8.0 * math.sin(yaw)) / 64.0


def command(bend: float, speed: float) -> list[float]:
    """Of `INPUTS`."""
    return [26.0 * math.atan(3.3 * bend), 300.0 * (SPEED - speed), 300.0 * (SPEED - speed)]


def main() -> None:
    """Answers every odometry message with a command of the same stamp."""
    import rclpy
    import rclpy.executors
    from geometry_msgs.msg import Twist, TwistStamped
    from nav_msgs.msg import Odometry
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import Imu, JointState

    states, kind = int(sys.argv[1]), sys.argv[2]
    rclpy.init()
    node = rclpy.create_node("follower")
    found: dict[str, list[Any]] = {"seen": [], "clocks": [], "felt": [], "spins": []}
    types = {"inputs": JointState, "twist": Twist, "twist_stamped": TwistStamped}
    out = node.create_publisher(types[kind], "inputs" if kind == "inputs" else "cmd_vel", 10)

    def take(said: Odometry) -> None:
        p, q, v = said.pose.pose.position, said.pose.pose.orientation, said.twist.twist
        row = [said.header.stamp.sec + 1e-9 * said.header.stamp.nanosec, p.x, p.y, v.linear.x, v.angular.z]
        if not found["seen"] or float.fromhex(found["seen"][-1][0]) != row[0]:
            found["seen"].append([value.hex() for value in row])
        bend = curvature(p.x, p.y, q.w, q.z, q.x, q.y)
        made = types[kind]()
        if kind == "inputs":
            made.name, made.position = list(INPUTS), command(bend, v.linear.x)
        else:
            twist = made if kind == "twist" else made.twist
            twist.linear.x, twist.angular.z = SPEED, SPEED * bend
        if kind != "twist":
            made.header.stamp = said.header.stamp
        out.publish(made)

    def clock(said: Clock) -> None:
        found["clocks"].append(said.clock.sec * 10**9 + said.clock.nanosec)

    node.create_subscription(Clock, "/clock", clock, 10)
    node.create_subscription(Imu, "imu", lambda m: found["felt"].append(m.linear_acceleration.z), 10)
    node.create_subscription(JointState, "joint_states", lambda m: found["spins"].append(m.velocity[0]), 10)
    node.create_subscription(Odometry, "odom", take, 10)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    end = time.monotonic() + 60.0
    while len(found["seen"]) < states and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    sys.stdout.write(json.dumps(found))
    rclpy.shutdown()


if __name__ == "__main__":
    main()
