"use strict";
// The vehicle, the ground, the path and the forces at one time.

/** What does not change of a run; page.py packs it.
 * @typedef {{name: string, names: string[], units: string[], wheels: string[],
 *   carriers: Record<string, string>, body: Vector[][], colours: string[],
 *   radius: number, tire: Vector[][], plane: number[] | null, cameras: Record<string, [Vector, number]>, size: number,
 *   links: Link[], surface: Surface | null}} Look */
/** @typedef {{rows: number, columns: number, origin: Vector, points: string | Float32Array}} Surface */

const LINK_COLOURS = { rod: "#e0a030", spring: "#3ba55c", shock: "#7a5bd0" };
const PATH = "#c4461f", FORCE = "#2b8a3e", WANTED = "#4a78c8";
/** Length of an arrow per force [m/N], distance of the ground's lines [m], half of a plane's side [m]. */
const PER_NEWTON = 1.5e-4, GRID = 2, FAR = 160;
/** Most pieces of the path. */
const PIECES = 500;

/** @param {string} text base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

/** Shapes of one vehicle, and where they are at a frame. */
class Figure {
  /** @param {Painter} painter @param {Look} look */
  constructor(painter, look) {
    this.painter = painter;
    this.look = look;
    const body = new Mesh(), tire = new Mesh(), [outer, inner] = look.tire, n = outer.length;
    look.body.forEach((face, k) => body.polygon(face, colourOf(look.colours[k])));
    for (let i = 0; i < n; i++) {
      const j = (i + 1) % n;
      tire.polygon([outer[i], outer[j], inner[j], inner[i]], colourOf("#2b2b2b"));
    }
    for (const side of [outer, inner]) {
      const y = side[0][1];
      tire.polygon(side, colourOf("#4a4a4a"));
      const raised = side.map(([x, , z]) => [0.97 * x, y + 0.012 * Math.sign(y), 0.97 * z]);
      for (let i = 0; i < n; i += n / 4) {  // spokes, so that the spin is seen
        tire.polygon([[0, raised[0][1], 0], raised[i], raised[(i + 1) % n]], colourOf("#d9d9d9"));
      }
    }
    this.body = painter.made(body);
    this.tire = painter.made(tire);
  }

  /** @param {Series} series @param {number} k */
  poses(series, k) {
    const chassis = { at: series.vector(k, "ref_frame.pos"), axes: series.rotation(k, "ref_frame") };
    /** @type {Record<string, Pose>} */
    const wheels = {};
    for (const w of this.look.wheels) {
      wheels[w] = { at: series.vector(k, `wheel_${w}.pos`), axes: series.rotation(k, this.look.carriers[w]) };
    }
    return { chassis, wheels };
  }

  /** Draws body and wheels; returns the wheels' matrices. @param {Series} series @param {number} k @param {Vector} about
   * @param {{body: number, wheels: number}} alpha */
  show(series, k, about, alpha) {
    const { chassis, wheels } = this.poses(series, k);
    /** @type {Record<string, Float32Array>} */
    const drawn = {};
    for (const [w, wheel] of Object.entries(wheels)) {
      drawn[w] = pose(spun(wheel.axes, series.value(k, `wheel_${w}.angle`)), add(wheel.at, about, -1));
      this.painter.show(this.tire, drawn[w], { alpha: alpha.wheels });
    }
    return { wheels: drawn, finish: () => {
      if (alpha.body > 0) {
        this.painter.show(this.body, pose(chassis.axes, add(chassis.at, about, -1)), { alpha: alpha.body });
      }
    } };
  }

  /** Below the middle of the vehicle, on the ground. @param {Series} series @param {number} k @returns {Vector} */
  foot(series, k) {
    /** @type {Vector} */
    let sum = [0, 0, -0.97 * this.look.radius];
    for (const w of this.look.wheels) sum = add(sum, series.vector(k, `wheel_${w}.pos`), 1 / this.look.wheels.length);
    return sum;
  }
}

class Drawing {
  /** @param {HTMLCanvasElement} canvas @param {Look} look @param {Look | null} ghost */
  constructor(canvas, look, ghost) {
    this.painter = new Painter(canvas);
    this.look = look;
    this.figure = new Figure(this.painter, look);
    this.ghost = ghost && new Figure(this.painter, ghost);
    /** @type {{net: ReturnType<Painter["net"]>, origin: Vector} | null} */
    this.surface = null;
    this.plane = this.painter.net(new Float32Array([-1, -1, 0, -1, 1, 0, 1, -1, 0, 1, 1, 0]), 2, 2, [1, 1, 1]);
    /** What the person has turned the camera by: to the side, up and away. */
    this.turned = { side: 0, up: 0, away: 1 };
    if (look.surface) this.ground(look.surface);
  }

  /** A new piece of the ground. @param {Surface} surface */
  ground(surface) {
    const points = typeof surface.points === "string" ? new Float32Array(bytesOf(surface.points)) : surface.points;
    if (this.surface) { this.painter.gl.deleteBuffer(this.surface.net.buffer); }
    const net = this.painter.net(points, surface.rows, surface.columns, [1, 1, 1]);
    this.surface = { net, origin: surface.origin };
  }

  /** Eye and axes of a camera, relative to the vehicle. @param {Series} series @param {number} k @param {string} name */
  looking(series, k, name) {
    const [offset, lens] = this.look.cameras[name], size = name === "wheel" ? 1 : this.look.size;
    const yaw = name === "free" ? 0 : series.value(k, "ref_frame.yaw"), at = series.vector(k, "ref_frame.pos");
    const wheel = this.look.wheels[0], about = name === "wheel" && wheel ? series.vector(k, `wheel_${wheel}.pos`) : at;
    const target = add(add(about, at, -1), name === "wheel" ? [0, 0, 0] : [0, 0, 0.3]);
    const flat = Math.hypot(offset[0], offset[1]), away = this.turned.away * size * Math.hypot(...offset);
    const side = Math.atan2(offset[1], offset[0]) + yaw + this.turned.side;
    const up = Math.min(Math.max(Math.atan2(offset[2], flat) + this.turned.up, -0.05), 1.5707);
    const back = [Math.cos(up) * Math.cos(side), Math.cos(up) * Math.sin(side), Math.sin(up)];
    const right = unit(cross([0, 0, 1], [Math.cos(side), Math.sin(side), 0])).map((v) => v);
    return { eye: add(target, back, away), axes: [right, cross(back, right), back], lens };
  }

  /** @param {Series} series @param {number} k @param {{camera: string, body: boolean, links: boolean, forces: boolean,
   *   path: boolean, other: Series | null}} what @param {CSSStyleDeclaration} style */
  draw(series, k, what, style) {
    const about = series.vector(k, "ref_frame.pos"), sky = colourOf(style.getPropertyValue("--sky"));
    const view = this.looking(series, k, what.camera);
    this.painter.begin(view.eye, view.axes, view.lens, sky);
    this.showGround(about, sky, colourOf(style.getPropertyValue("--ground")), colourOf(style.getPropertyValue("--grid")));
    const alpha = { body: what.body ? 1 : 0.25, wheels: 1 }, { lines, forces } = this.lines(series, k, about, what);
    const shown = this.figure.show(series, k, about, alpha);
    if (what.body) shown.finish();
    this.painter.strokes(lines);
    if (!what.body) shown.finish();
    if (this.ghost && what.other) {
      const j = what.other.frame(series.times[k]);
      this.ghost.show(what.other, j, about, { body: 0.3, wheels: 0.4 }).finish();
    }
    this.painter.strokes(forces, true);
    return { wheels: shown.wheels, lines: (lines.length + forces.length) / 10 };
  }

  /** @param {Vector} about @param {Vector} sky @param {Vector} colour @param {Vector} line */
  showGround(about, sky, colour, line) {
    const style = { grid: GRID, sky, line, tint: colour, far: FAR, shift: [0, 1].map((k) => about[k] % GRID) };
    if (this.surface) {
      const { net, origin } = this.surface;
      this.painter.show(net, pose([[1, 0, 0], [0, 1, 0], [0, 0, 1]], add(origin, about, -1)), style);
    } else if (this.look.plane) {
      const [height, slope, bank] = this.look.plane, x = Math.tan(slope), y = Math.tan(bank);
      const z = height + x * about[0] + y * about[1] - about[2];
      this.painter.show(this.plane, pose([[FAR, 0, 0], [0, FAR, 0], [x * FAR, y * FAR, 1]], [0, 0, z]), style);
    }
  }

  /** @param {Series} series @param {number} k @param {Vector} about @param {{links: boolean, forces: boolean,
   *   path: boolean, other: Series | null}} what */
  lines(series, k, about, what) {
    /** @type {number[]} */
    const lines = [], forces = /** @type {number[]} */ ([]);
    /** @param {Vector} a @param {Vector} b @param {string} colour @param {number} width @param {number[]} into */
    const line = (a, b, colour, width, into = lines) => {
      const ends = [...add(a, about, -1), ...add(b, about, -1)];
      if (ends.every(Number.isFinite)) into.push(...ends, ...colourOf(colour), width);
    };
    const { chassis, wheels } = this.figure.poses(series, k);
    if (what.path) {
      this.path(series, this.figure, (a, b) => line(a, b, PATH, 2.5));
      if (this.ghost && what.other) this.path(what.other, this.ghost, (a, b) => line(a, b, WANTED, 2.5));
    }
    if (what.links) {
      for (const link of this.look.links) {
        const [a, b] = linkPlace(link, chassis, wheels);
        line(a, b, LINK_COLOURS[/** @type {"rod"} */ (link.kind)], link.kind === "rod" ? 3 : 6);
      }
    }
    if (what.forces) {
      for (const [w, wheel] of Object.entries(wheels)) {
        const left = column(wheel.axes, 1), heading = unit([left[1], -left[0], 0]), force = series.vector(k, `wheel_${w}.tire_force`);
        const base = add(wheel.at, [0, 0, -0.97 * this.look.radius]);
        const along = add(add(heading.map((v) => force[0] * v), cross([0, 0, 1], heading), force[1]), [0, 0, force[2]]);
        const tip = add(base, along, PER_NEWTON);
        line(base, tip, FORCE, 4, forces);
        const back = unit(add(base, tip, -1)), side = unit(cross(back, [left[0], left[1], 0]));
        for (const s of [1, -1]) line(tip, add(add(tip, back, 0.12), side, 0.06 * s), FORCE, 4, forces);
      }
    }
    return { lines, forces };
  }

  /** @param {Series} series @param {Figure} figure @param {(a: Vector, b: Vector) => void} line */
  path(series, figure, line) {
    const step = Math.max(1, Math.ceil(series.count / PIECES));
    let before = figure.foot(series, 0);
    for (let i = step; i < series.count + step - 1; i += step) {
      const at = figure.foot(series, Math.min(i, series.count - 1));
      line(before, at);
      before = at;
    }
  }
}
