"use strict";
// Draws one recorded run. `run` (name, times, names, units, columns, wheels, body, tire, plane) stands before this text.
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const times = floats(run.time), values = floats(run.values), wide = run.names.length;
const place = Object.fromEntries(run.names.map((name, k) => [name, k]));
const canvas = document.getElementById("scene"), ink = canvas.getContext("2d");
const plot = document.getElementById("plot"), pen = plot.getContext("2d");
const bar = document.getElementById("time"), button = document.getElementById("play");
const speeds = document.getElementById("speed"), signals = document.getElementById("signal");
const cameras = Object.keys(run.cameras);
let now = times[0], camera = 0, playing = false, before = 0;

// Vectors and rotations: rows of 3.
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const unit = (a) => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
const turn = (m, a) => [dot(m[0], a), dot(m[1], a), dot(m[2], a)];
function matrix([w, x, y, z]) {
  return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
          [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
          [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]];
}

// The frame at or before a time, as in the pictures of `jounce view --png`.
function frame(time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-6) low = middle; else high = middle - 1;
  }
  return low;
}
const value = (k, name) => values[k * wide + place[name]];
const vector = (k, name) => [value(k, name + ".x"), value(k, name + ".y"), value(k, name + ".z")];
const quaternion = (k, name) => [0, 1, 2, 3].map((i) => value(k, name + ".rot.e" + i));

function looking(k) {
  const [offset, lens] = run.cameras[cameras[camera]], yaw = value(k, "ref_frame.yaw");
  const at = vector(k, "ref_frame.pos"), c = Math.cos(yaw), s = Math.sin(yaw), z = run.size;
  const eye = add(at, [z * (c * offset[0] - s * offset[1]), z * (s * offset[0] + c * offset[1]), z * offset[2]]);
  const forward = unit(add(add(at, [0, 0, 0.3]), eye, -1)), right = unit(cross(forward, [0, 0, 1]));
  return { eye, lens, right, down: cross(forward, right), forward };
}
function project(view, point) {
  const away = add(point, view.eye, -1), depth = dot(away, view.forward), half = canvas.height / 2;
  const scale = view.lens / Math.max(depth, 0.3) * half;
  return [canvas.width / 2 + scale * dot(away, view.right), half + scale * dot(away, view.down), depth];
}
function line(view, a, b, colour, width) {
  const p = project(view, a), q = project(view, b);
  if (p[2] < 0.3 || q[2] < 0.3) return;
  ink.strokeStyle = colour; ink.lineWidth = width;
  ink.beginPath(); ink.moveTo(p[0], p[1]); ink.lineTo(q[0], q[1]); ink.stroke();
}

function draw() {
  const k = frame(now), view = looking(k), at = vector(k, "ref_frame.pos");
  const style = getComputedStyle(document.body);
  ink.fillStyle = style.getPropertyValue("--sky"); ink.fillRect(0, 0, canvas.width, canvas.height);
  if (run.plane) {
    const z = (x, y) => run.plane[0] + Math.tan(run.plane[1]) * x + Math.tan(run.plane[2]) * y;
    const x0 = Math.round(at[0] / 2) * 2, y0 = Math.round(at[1] / 2) * 2, grid = style.getPropertyValue("--grid");
    for (let a = -40; a <= 40; a += 2) for (let b = -40; b < 40; b += 2) {
      line(view, [x0 + a, y0 + b, z(x0 + a, y0 + b)], [x0 + a, y0 + b + 2, z(x0 + a, y0 + b + 2)], grid, 1);
      line(view, [x0 + b, y0 + a, z(x0 + b, y0 + a)], [x0 + b + 2, y0 + a, z(x0 + b + 2, y0 + a)], grid, 1);
    }
  }
  const foot = (i) => {
    let sum = [0, 0, 0];
    for (const w of run.wheels) sum = add(sum, vector(i, `wheel_${w}.pos`), 1 / run.wheels.length);
    return add(sum, [0, 0, -0.97 * run.radius]);
  };
  for (let i = 1; i < times.length; i++) line(view, foot(i - 1), foot(i), "#c4461f", 2);
  const faces = [], chassis = matrix(quaternion(k, "ref_frame"));
  run.body.forEach((face, i) => faces.push([face.map((p) => add(turn(chassis, p), at)), run.colours[i]]));
  for (const w of run.wheels) {
    const centre = vector(k, `wheel_${w}.pos`), axes = matrix(quaternion(k, `wheel_${w}`));
    const angle = value(k, `wheel_${w}.angle`), c = Math.cos(angle), s = Math.sin(angle);
    const spun = (p) => add(turn(axes, [c * p[0] + s * p[2], p[1], -s * p[0] + c * p[2]]), centre);
    const [outer, inner] = run.tire.map((circle) => circle.map(spun)), n = outer.length;
    for (let i = 0; i < n; i++) {
      const j = (i + n - 1) % n;
      faces.push([[outer[j], outer[i], inner[i], inner[j]], "#2b2b2b"]);
    }
    for (const side of [outer, inner]) {
      const middle = side.reduce((sum, p) => add(sum, p, 1 / n), [0, 0, 0]);
      const away = unit(add(middle, centre, -1)).map((v) => 0.01 * v);
      faces.push([side, "#4a4a4a"]);
      for (let i = 0; i < n; i += n / 4) faces.push([[middle, side[i], side[(i + 1) % n]].map((p) => add(p, away)), "#d9d9d9"]);
    }
  }
  const far = (face) => face[0].reduce((sum, p) => sum + project(view, p)[2], 0) / face[0].length;
  faces.map((face) => [far(face), face]).sort((a, b) => b[0] - a[0]).forEach(([, [points, colour]]) => {
    const shown = points.map((p) => project(view, p));
    if (shown.some((p) => p[2] < 0.3)) return;
    ink.fillStyle = colour; ink.strokeStyle = "#1b1e24"; ink.lineWidth = 0.7;
    ink.beginPath(); shown.forEach((p, i) => (i ? ink.lineTo(p[0], p[1]) : ink.moveTo(p[0], p[1])));
    ink.closePath(); ink.fill(); ink.stroke();
  });
  for (const w of run.wheels) {
    const left = turn(matrix(quaternion(k, `wheel_${w}`)), [0, 1, 0]), heading = unit([left[1], -left[0], 0]);
    const force = vector(k, `wheel_${w}.tire_force`), base = add(vector(k, `wheel_${w}.pos`), [0, 0, -0.97 * run.radius]);
    let tip = add(base, heading, 1.5e-4 * force[0]);
    tip = add(add(tip, cross([0, 0, 1], heading), 1.5e-4 * force[1]), [0, 0, 1], 1.5e-4 * force[2]);
    line(view, base, tip, "#2b8a3e", 3);
  }
  curve(k);
  say(k);
}

function curve(k) {
  const column = signals.selectedIndex, width = plot.width, height = plot.height;
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < times.length; i++) {
    least = Math.min(least, values[i * wide + column]); most = Math.max(most, values[i * wide + column]);
  }
  if (most - least < 1e-9) { most += 0.5; least -= 0.5; }
  const x = (i) => 60 + (width - 70) * (times[i] - times[0]) / (times[times.length - 1] - times[0]);
  const y = (v) => height - 20 - (height - 30) * (v - least) / (most - least);
  const style = getComputedStyle(document.body);
  pen.fillStyle = style.getPropertyValue("--sky"); pen.fillRect(0, 0, width, height);
  pen.strokeStyle = "#1f5fa8"; pen.lineWidth = 1.5; pen.beginPath();
  for (let i = 0; i < times.length; i++) pen.lineTo(x(i), y(values[i * wide + column]));
  pen.stroke();
  pen.strokeStyle = "#c4461f"; pen.beginPath(); pen.moveTo(x(k), 8); pen.lineTo(x(k), height - 18); pen.stroke();
  pen.fillStyle = style.color; pen.font = "12px sans-serif";
  pen.fillText(most.toPrecision(4), 4, 16); pen.fillText(least.toPrecision(4), 4, height - 22);
  pen.fillText(times[0].toFixed(1) + " s", 60, height - 4);
  pen.fillText(times[times.length - 1].toFixed(1) + " s", width - 50, height - 4);
}

// The main values as a table, which screen readers and tests read.
function say(k) {
  const rows = [["time", times[k], "s"], ["camera", cameras[camera], ""], ["playing", playing ? "yes" : "no", ""]];
  const main = ["speed", "ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.yaw", "ref_frame.roll",
                ...run.wheels.map((w) => `wheel_${w}.angle`), signals.value];
  for (const name of main) rows.push([name, value(k, name), run.units[place[name]]]);
  const table = document.getElementById("values");
  table.replaceChildren(...rows.map(([name, number, sign]) => {
    const row = document.createElement("tr");
    for (const text of [name, typeof number === "number" ? number.toPrecision(6) : number, sign]) {
      row.appendChild(document.createElement("td")).textContent = text;
    }
    return row;
  }));
  bar.value = now;
}

function go(time) { now = Math.min(Math.max(time, times[0]), times[times.length - 1]); draw(); }
function play(on) {
  if (on && now >= times[times.length - 1]) now = times[0];
  playing = on; button.textContent = on ? "Pause" : "Play"; before = performance.now();
  if (on) requestAnimationFrame(tick); else draw();
}
function tick(stamp) {
  if (!playing) return;
  now += Math.max(stamp - before, 0) / 1000 * Number(speeds.value); before = stamp;
  if (now >= times[times.length - 1]) { now = times[times.length - 1]; play(false); return; }
  draw(); requestAnimationFrame(tick);
}
function fit() {
  canvas.width = canvas.clientWidth; canvas.height = canvas.clientHeight;
  plot.width = plot.clientWidth; plot.height = plot.clientHeight; draw();
}

run.names.forEach((name, k) => signals.add(new Option(`${name} [${run.units[k]}]`, name)));
signals.value = "speed"; bar.min = times[0]; bar.max = times[times.length - 1];
bar.addEventListener("input", () => { playing = false; button.textContent = "Play"; go(Number(bar.value)); });
button.addEventListener("click", () => play(!playing));
signals.addEventListener("change", draw);
document.getElementById("camera").addEventListener("click", () => { camera = (camera + 1) % cameras.length; draw(); });
document.addEventListener("keydown", (key) => {
  if (key.target.tagName === "SELECT") return;
  const step = (times[times.length - 1] - times[0]) / (times.length - 1);
  if (key.key === " ") { key.preventDefault(); play(!playing); }
  else if (key.key === "ArrowRight") { key.preventDefault(); go(now + step); }
  else if (key.key === "ArrowLeft") { key.preventDefault(); go(now - step); }
  else if (key.key === "c") { camera = (camera + 1) % cameras.length; draw(); }
});
function hash() {
  const found = /t=([\d.]+)/.exec(location.hash), wanted = /camera=(\w+)/.exec(location.hash);
  if (wanted && cameras.includes(wanted[1])) camera = cameras.indexOf(wanted[1]);
  go(found ? Number(found[1]) : now);
}
window.addEventListener("hashchange", hash); window.addEventListener("resize", fit);
fit(); hash();
