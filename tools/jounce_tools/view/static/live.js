"use strict";
// A running session: frames come over a WebSocket, from the same place as the page.

/** Bytes before the values of a frame: time as float64, then layout, epoch, left out and 0 as uint32. */
const HEADER = 24;
/** The ground is fetched anew when the vehicle is that far from the middle of the piece that is there [m]. */
const AWAY = 30;
const WAITING = "Waiting for the session.";

class Live {
  /** @param {Look & {file: boolean}} look */
  constructor(look) {
    this.look = look;
    this.series = new Series(KEPT);
    /** @type {string[]} */
    this.names = [];
    this.layout = -1; this.epoch = -1; this.received = 0; this.over = false; this.fetching = false;
    /** @type {Vector | null} */
    this.middle = null;
    this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/frames`);
    this.socket.binaryType = "arraybuffer";
    this.page = new Page(look, this.series, null, {
      chosen: (names) => this.send({ signals: names }),
      ask: (what) => this.send({ ask: what }),
    });
    this.socket.addEventListener("open", () => this.send({ signals: this.page.main() }));
    this.socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") this.told(JSON.parse(event.data)); else this.frame(event.data);
    });
    this.socket.addEventListener("close", (event) => {
      if (!this.over) this.page.say(event.reason || "The viewer is gone: its program has ended, or the network is down.");
      this.over = true;
    });
    this.rate = { begin: performance.now(), count: 0 };
    this.page.say(WAITING);
    element("rate", HTMLElement).hidden = true;
    this.page.start();
  }

  /** @param {object} what */
  send(what) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(what)); }

  /** @param {Record<string, any>} what */
  told(what) {
    if (what.names) { this.names = what.names; this.layout = what.layout; }
    if (what.said !== undefined) this.page.say(what.said || (this.received ? "" : WAITING));
    if (what.ended) this.over = true;
    if (what.facts) {
      Object.assign(this.page.facts, what.facts);
      for (const id of ["pause", "step"]) element(id, HTMLButtonElement).hidden = !what.control;
      element("pause", HTMLButtonElement).textContent = what.facts.session === "paused" ? "Resume session" : "Pause session";
      this.page.request();
    }
  }

  /** @param {ArrayBuffer} data */
  frame(data) {
    const head = new DataView(data), time = head.getFloat64(0, true), epoch = head.getUint32(12, true);
    if (head.getUint32(8, true) !== this.layout) return;
    if (epoch !== this.epoch || this.series.count && time < this.series.last) this.series.clear();
    this.epoch = epoch;
    this.series.push(time, this.names, new Float32Array(data, HEADER));
    if (!this.received && element("said", HTMLElement).textContent === WAITING) this.page.say("");
    this.received += 1; this.rate.count += 1;
    const now = performance.now();
    if (now - this.rate.begin > 1000) {
      this.page.facts["frames a second"] = (1000 * this.rate.count / (now - this.rate.begin)).toFixed(0);
      this.page.facts["frames left out"] = String(head.getUint32(16, true));
      this.rate = { begin: now, count: 0 };
    }
    if (this.look.file) this.ground();
    this.page.request();
  }

  async ground() {
    const at = this.series.vector(this.series.count - 1, "ref_frame.pos");
    if (this.fetching || this.middle && Math.hypot(at[0] - this.middle[0], at[1] - this.middle[1]) < AWAY) return;
    this.fetching = true;
    try {
      const reply = await fetch(`ground?x=${at[0].toFixed(1)}&y=${at[1].toFixed(1)}`);
      const data = await reply.arrayBuffer(), head = new DataView(data);
      if (reply.ok && this.page.drawing) {
        const origin = [8, 16, 24].map((k) => head.getFloat64(k, true));
        this.page.drawing.ground({ rows: head.getUint32(0, true), columns: head.getUint32(4, true), origin, points: new Float32Array(data, 32) });
        this.middle = at;
      }
    } catch { /* the socket says that the viewer is gone */ } finally { this.fetching = false; }
  }
}

(async () => {
  const reply = await fetch("look.json");
  Object.assign(window, { live: new Live(await reply.json()) });
})();
