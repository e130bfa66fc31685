"use strict";
// The page: controls, keys, the table of main values.

/** What a person has set, kept from visit to visit where the browser allows it. */
const memory = {
  /** @returns {Record<string, any>} */
  read() { try { return JSON.parse(localStorage.getItem("jounce-view") ?? "{}"); } catch { return {}; } },
  /** @param {Record<string, any>} what */
  write(what) { try { localStorage.setItem("jounce-view", JSON.stringify(what)); } catch { /* a page without storage */ } },
};

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`no element ${id}`);
  return found;
}

/** Times shown below a live session [s], and frames that are kept of it (a minute and a half at 60 Hz). */
const WINDOW = 20, KEPT = 5400;
const CHECKS = ["body", "links", "forces", "path"];

class Page {
  /** @param {Look} look @param {Series} series @param {{look: Look, series: Series} | null} other
   * @param {{chosen: (names: string[]) => void, ask: (what: string) => void} | null} live */
  constructor(look, series, other, live) {
    this.look = look; this.series = series; this.other = other; this.live = live;
    this.units = Object.fromEntries(look.names.map((name, k) => [name, look.units[k]]));
    this.cameras = Object.keys(look.cameras);
    this.now = series.count ? series.first : 0;
    /** Pixels of the canvas for each of the page's, and how long pictures lately waited for their turn [ms]. */
    this.scale = 1; this.waited = 0; this.since = 0;
    this.playing = false; this.following = live !== null; this.asked = false; this.before = 0;
    /** @type {Record<string, string>} */
    this.facts = {};
    /** What the picture last showed, which tests read. @type {{time: number, wheels: Record<string, Float32Array>, lines: number}} */
    this.drawn = { time: NaN, wheels: {}, lines: 0 };
    this.frames = 0;
    this.canvas = element("scene", HTMLCanvasElement);
    this.bar = element("time", HTMLInputElement);
    this.button = element("play", HTMLButtonElement);
    this.speeds = element("speed", HTMLSelectElement);
    this.table = element("values", HTMLTableElement);
    const kept = memory.read();
    this.camera = Math.max(0, this.cameras.indexOf(kept.camera));
    /** @type {string[]} */
    this.chosen = (kept.chosen ?? ["speed", "com.lin_acc.y"]).filter((/** @type {string} */ n) => n in this.units);
    for (const id of CHECKS) {
      const check = element(id, HTMLInputElement);
      check.checked = kept[id] ?? check.checked;
      check.addEventListener("change", () => this.keep());
    }
    this.plots = new Plots(element("plot", HTMLCanvasElement), this.units);
    /** @type {Drawing | null} */
    this.drawing = null;
    try { this.drawing = new Drawing(this.canvas, look, other && other.look); }
    catch (error) { this.say(error instanceof Error ? error.message : String(error)); }
    this.listen();
    this.signals();
  }

  /** A line that everybody sees, also a screen reader. @param {string} text */
  say(text) { const said = element("said", HTMLElement); said.textContent = text; said.hidden = !text; }

  keep() {
    const checks = Object.fromEntries(CHECKS.map((id) => [id, element(id, HTMLInputElement).checked]));
    memory.write({ camera: this.cameras[this.camera], chosen: this.chosen, ...checks });
    this.request();
  }

  listen() {
    const { canvas, bar } = this;
    element("names", HTMLDataListElement).replaceChildren(...this.look.names.map((name) => new Option(`${name} [${this.units[name]}]`, name)));
    const search = element("search", HTMLInputElement);
    const choose = () => {
      const name = search.value.trim();
      if (!(name in this.units)) return;
      search.value = "";
      if (!this.chosen.includes(name)) this.chosen.push(name);
      this.signals();
    };
    search.addEventListener("input", (event) => { if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") choose(); });
    search.addEventListener("change", choose);
    element("csv", HTMLButtonElement).addEventListener("click", () => this.csv());
    bar.addEventListener("input", () => this.go(Number(bar.value)));
    this.button.addEventListener("click", () => this.play());
    element("camera", HTMLButtonElement).addEventListener("click", () => this.nextCamera());
    element("keys", HTMLButtonElement).addEventListener("click", () => this.help());
    for (const what of ["pause", "step"]) {
      element(what, HTMLButtonElement).addEventListener("click", () => this.live?.ask(what === "pause" && this.facts.session === "paused" ? "resume" : what));
    }
    const plot = element("plot", HTMLCanvasElement);
    plot.addEventListener("pointerdown", (event) => this.go(this.plots.time(event.offsetX)));
    plot.addEventListener("pointermove", (event) => { if (event.buttons) this.go(this.plots.time(event.offsetX)); });
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons || !this.drawing) return;
      this.drawing.turned.side -= 0.006 * event.movementX; this.drawing.turned.up += 0.005 * event.movementY;
      this.request();
    });
    canvas.addEventListener("wheel", (event) => {
      if (!this.drawing) return;
      event.preventDefault();
      this.drawing.turned.away = Math.min(Math.max(this.drawing.turned.away * Math.exp(0.001 * event.deltaY), 0.2), 20);
      this.request();
    }, { passive: false });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.fit());
    window.addEventListener("hashchange", () => this.hash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.request());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement && event.target.type !== "range"
        && event.target.type !== "checkbox" || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = this.series.count > 1 ? (this.series.last - this.series.first) / (this.series.count - 1) : 0;
    const toggles = { b: "body", l: "links", f: "forces", p: "path" };
    if (event.key === " ") { event.preventDefault(); this.play(); }
    else if (event.key === "ArrowRight") { event.preventDefault(); this.go(this.now + step); }
    else if (event.key === "ArrowLeft") { event.preventDefault(); this.go(this.now - step); }
    else if (event.key === "c") this.nextCamera();
    else if (event.key === "?") this.help();
    else if (event.key in toggles) {
      const check = element(toggles[/** @type {"b"} */ (event.key)], HTMLInputElement);
      check.checked = !check.checked; this.keep();
    }
  }

  help() { const dialog = element("help", HTMLDialogElement); if (dialog.open) dialog.close(); else dialog.showModal(); }
  nextCamera() {
    this.camera = (this.camera + 1) % this.cameras.length;
    if (this.drawing) this.drawing.turned = { side: 0, up: 0, away: 1 };
    this.keep();
  }

  /** The list of chosen signals, each with a button that takes it away. */
  signals() {
    element("chosen", HTMLElement).replaceChildren(...this.chosen.map((name) => {
      const button = document.createElement("button");
      button.textContent = `${name} ×`;
      button.title = `take ${name} away`;
      button.addEventListener("click", () => { this.chosen = this.chosen.filter((n) => n !== name); this.signals(); });
      return button;
    }));
    this.live?.chosen(this.main());
    this.keep();
  }

  /** Signals of the table. */
  main() {
    return [...new Set(["speed", "ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.yaw", "ref_frame.roll",
                        ...this.look.wheels.map((w) => `wheel_${w}.angle`), ...this.chosen])].filter((n) => n in this.units);
  }

  csv() {
    const names = this.chosen, s = this.series, rows = [["time [s]", ...names.map((n) => `${n} [${this.units[n]}]`)].join(",")];
    for (let i = 0; i < s.count; i++) rows.push([s.times[i], ...names.map((n) => s.value(i, n))].join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
    link.download = `${this.look.name}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /** Shows a time. @param {number} time */
  go(time) {
    if (!this.series.count) return;
    this.playing = false; this.following = false;
    this.now = Math.min(Math.max(time, this.series.first), this.series.last);
    this.request();
  }

  play() {
    if (this.live) {
      this.following = !this.following;
    } else {
      if (!this.playing && this.now >= this.series.last) this.now = this.series.first;
      this.playing = !this.playing; this.before = performance.now();
    }
    this.request();
  }

  request() {
    if (this.asked) return;
    this.asked = true; this.since = performance.now();
    requestAnimationFrame((stamp) => { this.asked = false; this.ease(performance.now() - this.since); this.show(stamp); });
  }

  /** Without a graphics processor pictures take long: then they get fewer pixels. @param {number} wait [ms] */
  ease(wait) {
    this.waited += 0.1 * (Math.min(wait, 200) - this.waited);
    if (this.waited < 45 || this.scale < 0.5) return;
    this.scale *= 0.75; this.waited = 0;
    this.fit();
  }

  /** @param {number} stamp [ms] */
  show(stamp) {
    const s = this.series;
    if (!s.count) return;
    if (this.playing) {
      this.now += Math.max(stamp - this.before, 0) / 1000 * Number(this.speeds.value); this.before = stamp;
      if (this.now >= s.last) { this.now = s.last; this.playing = false; }
    }
    if (this.following) this.now = s.last;
    this.now = Math.min(Math.max(this.now, s.first), s.last);
    this.button.textContent = this.live ? (this.following ? "Hold" : "Follow") : (this.playing ? "Pause" : "Play");
    const k = s.frame(this.now), style = getComputedStyle(document.body);
    if (this.drawing) {
      const [body, links, forces, path] = CHECKS.map((id) => element(id, HTMLInputElement).checked);
      const what = { camera: this.cameras[this.camera], body, links, forces, path, other: this.other && this.other.series };
      this.drawn = { time: s.times[k], ...this.drawing.draw(s, k, what, style) };
    }
    this.bar.min = String(s.first); this.bar.max = String(s.last); this.bar.value = String(this.now);
    /** @type {[number, number]} */
    const range = [this.live && this.following ? Math.max(s.first, s.last - WINDOW) : s.first, s.last];
    this.plots.draw(this.chosen, s, this.other && this.other.series, this.now, range, style);
    this.values(k);
    this.frames += 1;
    if (this.playing) this.request();
  }

  /** The main values as a table, which screen readers and tests read. @param {number} k */
  values(k) {
    /** @type {[string, string | number, string][]} */
    const rows = [["time", this.series.times[k], "s"], ["camera", this.cameras[this.camera], ""],
                  ["playing", this.playing || this.following ? "yes" : "no", ""]];
    for (const [name, text] of Object.entries(this.facts)) rows.push([name, text, ""]);
    for (const name of this.main()) rows.push([name, this.series.value(k, name), this.units[name]]);
    while (this.table.rows.length > rows.length) this.table.deleteRow(-1);
    rows.forEach(([name, value, sign], i) => {
      const row = this.table.rows[i] ?? this.table.insertRow();
      while (row.cells.length < 3) row.insertCell();
      [name, typeof value === "number" ? (Number.isFinite(value) ? value.toPrecision(6) : "–") : value, sign].forEach((text, j) => {
        if (row.cells[j].textContent !== text) row.cells[j].textContent = text;
      });
    });
  }

  fit() {
    const ratio = this.scale * Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    this.request();
  }

  /** `#t=2.6&camera=top` shows that time with that camera. */
  hash() {
    const time = /t=([\d.]+)/.exec(location.hash), camera = /camera=(\w+)/.exec(location.hash);
    if (camera && this.cameras.includes(camera[1])) this.camera = this.cameras.indexOf(camera[1]);
    for (const id of CHECKS) {
      const set = new RegExp(`${id}=([01])`).exec(location.hash);
      if (set) element(id, HTMLInputElement).checked = set[1] === "1";
    }
    if (time) this.go(Number(time[1])); else this.request();
  }

  start() { this.fit(); this.hash(); return this; }
}
