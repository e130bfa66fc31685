"use strict";
// Where the links of the suspension are: as links.py places them.

/** @typedef {{body: string, point: Vector, wheels: string[], arm: Vector[], kingpins: Vector[]}} End */
/** @typedef {{name: string, kind: string, ends: End[], slides: number}} Link */
/** @typedef {{at: Vector, axes: Rotation}} Pose */

/** Axes of an arm: along its joints, square to them towards its outer joint, and the third.
 * @param {Vector} front @param {Vector} back @param {Vector} outer */
function armFrame(front, back, outer) {
  const x = unit(add(front, back, -1)), to = add(outer, front, -1), y = unit(add(to, x, -dot(x, to)));
  return columns(x, y, cross(x, y));
}

/** @param {Vector[]} ends */
function middle(ends) {
  return ends.reduce((sum, q) => add(sum, q), [0, 0, 0]).map((v) => v / ends.length);
}

/** Axes of an axle by the ends of its kingpins, lower and upper of the left and of the right. @param {Vector[]} ends */
function pinFrame([lowLeft, upLeft, lowRight, upRight]) {
  const y = unit(add(add(lowLeft, upLeft), add(lowRight, upRight), -1));
  const x = unit(cross(y, add(add(upLeft, upRight), add(lowLeft, lowRight), -1)));
  return columns(x, y, cross(x, y));
}

/** @param {End} end @param {Pose} chassis @param {Record<string, Pose>} wheels @returns {Vector} */
function endPlace(end, chassis, wheels) {
  let point = end.point;
  if (end.body === "ground") return point;
  if (end.body === "wheel" || end.body === "body") {
    const wheel = wheels[end.wheels[0]];
    return add(wheel.at, turn(wheel.axes, point));
  }
  if (end.body === "axle") {
    const design = end.kingpins.slice(0, 4);
    const now = end.kingpins.slice(4).map((q, k) => {
      const wheel = wheels[end.wheels[k >> 1]];
      return add(wheel.at, turn(wheel.axes, q));
    });
    const turned = product(pinFrame(now), transposed(pinFrame(design)));
    return add(middle(now), turn(turned, add(point, middle(design), -1)));
  }
  if (end.body === "arm") {
    const [front, back, design, inWheel] = end.arm, wheel = wheels[end.wheels[0]];
    const now = turn(transposed(chassis.axes), add(add(wheel.at, turn(wheel.axes, inWheel)), chassis.at, -1));
    const turned = product(armFrame(front, back, now), transposed(armFrame(front, back, design)));
    point = add(front, turn(turned, add(point, front, -1)));
  }
  return add(chassis.at, turn(chassis.axes, point));
}

/** The two ends of a link in the world. @param {Link} link @param {Pose} chassis @param {Record<string, Pose>} wheels */
function linkPlace(link, chassis, wheels) {
  let [a, b] = link.ends.map((end) => endPlace(end, chassis, wheels));
  if (link.slides) {
    const along = column(chassis.axes, 1), to = add(b, a, -1), across = dot(to, along);
    const root = Math.sqrt(Math.max(across * across - dot(to, to) + link.slides * link.slides, 0));
    a = add(a, along, Math.abs(across - root) < Math.abs(across + root) ? across - root : across + root);
  }
  return [a, b];
}
