"use strict";
// Chosen signals over time, one below the other, with the time of the picture as a line through all.

/** @param {number} x */
const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "–");

class Plots {
  /** @param {HTMLCanvasElement} canvas @param {Record<string, string>} units by signal */
  constructor(canvas, units) {
    this.canvas = canvas;
    this.units = units;
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("no canvas");
    this.pen = pen;
    this.left = 62;
    this.range = [0, 1];
  }

  /** @param {string[]} chosen @param {Series} series @param {Series | null} other @param {number} now
   * @param {[number, number]} range of time @param {CSSStyleDeclaration} style */
  draw(chosen, series, other, now, range, style) {
    const { pen, canvas, left } = this, ratio = Math.min(devicePixelRatio || 1, 2);
    const width = canvas.clientWidth, height = Math.max(chosen.length, 1) * 92 + 18;
    if (canvas.height !== Math.round(height * ratio) || canvas.width !== Math.round(width * ratio)) {
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    }
    this.range = range;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = style.getPropertyValue("--panel"); pen.fillRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    const span = Math.max(range[1] - range[0], 1e-9);
    /** @param {number} t */
    const x = (t) => left + (width - left - 8) * (t - range[0]) / span;
    chosen.forEach((name, row) => {
      const top = 20 + 92 * row, low = top + 66, sources = other ? [other, series] : [series];
      let least = Infinity, most = -Infinity;
      for (const s of sources) {
        const column = s.column(name);
        for (let i = s.frame(range[0]); i < s.count && s.times[i] <= range[1]; i++) {
          if (column[i] < least) least = column[i];
          if (column[i] > most) most = column[i];
        }
      }
      if (!(most - least > 1e-9)) { const middle = Number.isFinite(least) ? least : 0; least = middle - 0.5; most = middle + 0.5; }
      /** @param {number} v */
      const y = (v) => low - (low - top) * (v - least) / (most - least);
      pen.strokeStyle = style.getPropertyValue("--grid"); pen.lineWidth = 1;
      pen.strokeRect(left, top, width - left - 8, low - top);
      sources.forEach((s) => {
        pen.strokeStyle = s === series ? "#3f7fd0" : "#8893a5"; pen.lineWidth = 1.5;
        this.curve(s, s.column(name), range, x, y);
      });
      pen.fillStyle = style.color;
      pen.fillText(`${name} [${this.units[name] ?? ""}]  ${short(series.value(series.frame(now), name))}`, left, top - 6);
      pen.textAlign = "right";
      pen.fillText(short(most), left - 5, top + 10); pen.fillText(short(least), left - 5, low);
      pen.textAlign = "left";
    });
    pen.strokeStyle = "#c4461f"; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(x(now), 20); pen.lineTo(x(now), height - 16); pen.stroke();
    pen.fillStyle = style.color;
    pen.fillText(`${range[0].toFixed(2)} s`, left, height - 3);
    pen.textAlign = "right"; pen.fillText(`${range[1].toFixed(2)} s`, width - 8, height - 3); pen.textAlign = "left";
  }

  /** At most a few points for each pixel. @param {Series} series @param {Float32Array} column
   * @param {[number, number]} range @param {(t: number) => number} x @param {(v: number) => number} y */
  curve(series, column, range, x, y) {
    const pen = this.pen, begin = series.frame(range[0]), end = Math.min(series.frame(range[1]) + 1, series.count);
    const step = Math.max(1, Math.floor((end - begin) / 2000));
    let down = false;
    pen.beginPath();
    for (let i = begin; i < end; i += step) {
      const v = column[i];
      if (!Number.isFinite(v)) { down = false; continue; }
      if (down) pen.lineTo(x(series.times[i]), y(v)); else pen.moveTo(x(series.times[i]), y(v));
      down = true;
    }
    pen.stroke();
  }

  /** The time below a place on the canvas. @param {number} x [pixels] */
  time(x) {
    const share = (x - this.left) / Math.max(this.canvas.clientWidth - this.left - 8, 1);
    return this.range[0] + Math.min(Math.max(share, 0), 1) * (this.range[1] - this.range[0]);
  }
}
