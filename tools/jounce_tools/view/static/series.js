"use strict";
// Signals over time: the whole run of a recording, or the last minutes of a live session.

class Series {
  /** @param {number} most frames that are kept */
  constructor(most) {
    this.most = most;
    /** @type {Float64Array} */
    this.times = new Float64Array(2 * most);
    /** @type {Map<string, Float32Array>} */
    this.columns = new Map();
    this.count = 0;
  }

  /** A recorded run. @param {string[]} names @param {Float64Array} times @param {Float32Array} rows */
  static of(names, times, rows) {
    const made = new Series(1);
    made.times = times;
    made.count = times.length;
    names.forEach((name, k) => {
      const column = new Float32Array(times.length);
      for (let i = 0; i < times.length; i++) column[i] = rows[i * names.length + k];
      made.columns.set(name, column);
    });
    return made;
  }

  clear() { this.count = 0; }

  /** Adds a frame; a signal that it does not have is NaN there. @param {number} time @param {string[]} names
   * @param {Float32Array} values */
  push(time, names, values) {
    if (this.count === this.times.length) {
      const from = this.count - this.most;
      for (const column of [this.times, ...this.columns.values()]) column.copyWithin(0, from, this.count);
      this.count = this.most;
    }
    for (const name of names) {
      if (!this.columns.has(name)) this.columns.set(name, new Float32Array(this.times.length).fill(NaN));
    }
    for (const column of this.columns.values()) column[this.count] = NaN;
    this.times[this.count] = time;
    names.forEach((name, k) => { this.column(name)[this.count] = values[k]; });
    this.count += 1;
  }

  get first() { return this.times[0]; }
  get last() { return this.times[this.count - 1]; }

  /** The frame at or before a time, as in the pictures of `jounce view --png`. @param {number} time */
  frame(time) {
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** @param {string} name @returns {Float32Array} */
  column(name) { return this.columns.get(name) ?? new Float32Array(0); }
  /** @param {number} k @param {string} name */
  value(k, name) { return this.columns.get(name)?.[k] ?? NaN; }
  /** @param {number} k @param {string} name @returns {Vector} */
  vector(k, name) { return [this.value(k, name + ".x"), this.value(k, name + ".y"), this.value(k, name + ".z")]; }
  /** @param {number} k @param {string} name */
  rotation(k, name) { return rotation([0, 1, 2, 3].map((i) => this.value(k, name + ".rot.e" + i))); }
}
