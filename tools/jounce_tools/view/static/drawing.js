"use strict";
// The vehicle, the ground, the path and the forces at one time.

/** What does not change of a run; page.py packs it.
 * @typedef {{name: string, names: string[], units: string[], wheels: string[],
 *   carriers: Record<string, string>, bodies: string[], parts: Part[], tires: Record<string, Tires>,
 *   plane: number[] | null, cameras: Record<string, [Vector, number]>, size: number,
 *   links: Link[], surface: Surface | null, wanted: Vector[]}} Look */
/** @typedef {{body: string, faces: Vector[][], colours: string[]}} Part faces that one body carries */
/** @typedef {{radius: number, rings: Vector[][][]}} Tires of one wheel: left and right circle of each */
/** @typedef {{rows: number, columns: number, origin: Vector, points: string | Float32Array}} Surface */

const LINK_COLOURS = { rod: "#e0a030", spring: "#3ba55c", shock: "#7a5bd0" };
const PATH = "#c4461f", FORCE = "#2b8a3e", OTHER = "#4a78c8", WANTED = "#1a94a5";
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
    this.parts = look.parts.map(({ body, faces, colours }) => {
      const mesh = new Mesh();
      faces.forEach((face, k) => mesh.polygon(face, colourOf(colours[k])));
      return { body, made: painter.made(mesh) };
    });
    this.tires = Object.fromEntries(Object.entries(look.tires).map(([w, { rings }]) => {
      const mesh = new Mesh();
      rings.forEach((ring) => Figure.tire(mesh, ring));
      return [w, painter.made(mesh)];
    }));
    const radii = Object.values(look.tires).map((t) => t.radius);
    /** Of the wheels, the mean [m]. */
    this.radius = radii.reduce((sum, r) => sum + r, 0) / Math.max(radii.length, 1);
  }

  /** Adds a tire with spokes. @param {Mesh} tire @param {Vector[][]} circles */
  static tire(tire, [outer, inner]) {
    const n = outer.length;
    for (let i = 0; i < n; i++) {
      const j = (i + 1) % n;
      tire.polygon([outer[i], outer[j], inner[j], inner[i]], colourOf("#2b2b2b"));
    }
    for (const side of [outer, inner]) {
      const y = side[0][1] + (side === outer ? 0.012 : -0.012);
      tire.polygon(side, colourOf("#4a4a4a"));
      const raised = side.map(([x, , z]) => [0.97 * x, y, 0.97 * z]);
      for (let i = 0; i < n; i += n / 4) {  // spokes, so that the spin is seen
        tire.polygon([[0, raised[0][1], 0], raised[i], raised[(i + 1) % n]], colourOf("#d9d9d9"));
      }
    }
  }

  /** @param {Series} series @param {number} k */
  poses(series, k) {
    const wheels = /** @type {Record<string, Pose>} */ ({});
    /** @type {Record<string, Pose>} */
    const bodies = { ground: { at: [0, 0, 0], axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]] } };
    for (const b of this.look.bodies) bodies[b] = { at: series.vector(k, `${b}.pos`), axes: series.rotation(k, b) };
    for (const w of this.look.wheels) {
      wheels[w] = { at: series.vector(k, `wheel_${w}.pos`), axes: series.rotation(k, this.look.carriers[w]) };
    }
    return { chassis: bodies.ref_frame, wheels, bodies: { ...wheels, ...bodies } };
  }

  /** Draws body and wheels; returns the wheels' matrices. @param {Series} series @param {number} k @param {Vector} about
   * @param {{body: number, wheels: number}} alpha */
  show(series, k, about, alpha) {
    const { wheels, bodies } = this.poses(series, k);
    /** @type {Record<string, Float32Array>} */
    const drawn = {};
    for (const [w, wheel] of Object.entries(wheels)) {
      drawn[w] = pose(spun(wheel.axes, series.value(k, `wheel_${w}.angle`)), add(wheel.at, about, -1));
      this.painter.show(this.tires[w], drawn[w], { alpha: alpha.wheels });
    }
    return { wheels: drawn, finish: () => {
      for (const { body, made } of alpha.body > 0 ? this.parts : []) {
        this.painter.show(made, pose(bodies[body].axes, add(bodies[body].at, about, -1)), { alpha: alpha.body });
      }
    } };
  }

  /** Below the middle of the vehicle, on the ground. @param {Series} series @param {number} k @returns {Vector} */
  foot(series, k) {
    /** @type {Vector} */
    let sum = [0, 0, -0.97 * this.radius];
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
    const { chassis, wheels, bodies } = this.figure.poses(series, k);
    if (what.path) {
      this.look.wanted.forEach((b, i, all) => { if (i) line(all[i - 1], b, WANTED, 2.5); });
      this.path(series, this.figure, (a, b) => line(a, b, PATH, 2.5));
      if (this.ghost && what.other) this.path(what.other, this.ghost, (a, b) => line(a, b, OTHER, 2.5));
    }
    if (what.links) {
      for (const link of this.look.links) {
        const [a, b] = linkPlace(link, chassis, bodies);
        line(a, b, LINK_COLOURS[/** @type {"rod"} */ (link.kind)], link.kind === "rod" ? 3 : 6);
      }
    }
    if (what.forces) {
      for (const [w, wheel] of Object.entries(wheels)) {
        const left = column(wheel.axes, 1), heading = unit([left[1], -left[0], 0]), force = series.vector(k, `wheel_${w}.tire_force`);
        const base = add(wheel.at, [0, 0, -0.97 * this.look.tires[w].radius]);
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
