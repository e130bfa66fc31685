"use strict";
// Vectors are [x, y, z]; rotations have three rows. Lengths in m, angles in rad, axes after ISO 8855.

/** @typedef {number[]} Vector */
/** @typedef {number[][]} Rotation */

/** @param {Vector} a @param {Vector} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @param {Vector} a @param {Vector} b @returns {Vector} */
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** a + s b @param {Vector} a @param {Vector} b @returns {Vector} */
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
/** @param {Vector} a @returns {Vector} */
const unit = (a) => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
/** @param {Rotation} m @param {Vector} a @returns {Vector} */
const turn = (m, a) => [dot(m[0], a), dot(m[1], a), dot(m[2], a)];
/** @param {Rotation} m @param {number} k @returns {Vector} */
const column = (m, k) => [m[0][k], m[1][k], m[2][k]];
/** @param {Vector} x @param {Vector} y @param {Vector} z @returns {Rotation} with these columns */
const columns = (x, y, z) => [0, 1, 2].map((k) => [x[k], y[k], z[k]]);
/** @param {Rotation} m @returns {Rotation} */
const transposed = (m) => columns(m[0], m[1], m[2]);
/** @param {Rotation} a @param {Rotation} b @returns {Rotation} */
const product = (a, b) => a.map((row) => [0, 1, 2].map((k) => dot(row, column(b, k))));

/** @param {number[]} q scalar first @returns {Rotation} */
function rotation([w, x, y, z]) {
  return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
          [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
          [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]];
}

/** A wheel's axes with its spin about y, forward positive. @param {Rotation} m @param {number} angle */
function spun(m, angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return product(m, [[c, 0, s], [0, 1, 0], [-s, 0, c]]);
}

/** The 4 x 4 matrix of a pose, by columns. @param {Rotation} m @param {Vector} t */
const pose = (m, t) => new Float32Array([m[0][0], m[1][0], m[2][0], 0, m[0][1], m[1][1], m[2][1], 0,
                                         m[0][2], m[1][2], m[2][2], 0, t[0], t[1], t[2], 1]);
