"use strict";
// A recorded run: `runs` stands before this text, one look with its values, and a second one for a comparison.

/** @typedef {Look & {time: string, values: string}} Run */
/** @param {Run} run */
function recorded(run) {
  const times = new Float64Array(bytesOf(run.time)), rows = new Float32Array(bytesOf(run.values));
  return { look: run, series: Series.of(run.names, times, rows) };
}

/** @param {Run[]} given */
function showRecorded(given) {
  const [one, other] = given.map(recorded);
  element("course", HTMLElement).hidden = one.look.wanted.length === 0;
  if (other) element("compared", HTMLElement).hidden = false;
  return new Page(one.look, one.series, other ?? null, null).start();
}

Object.assign(window, { view: showRecorded(/** @type {any} */ (globalThis).runs) });
