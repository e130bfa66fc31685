"use strict";
// Triangles and lines by WebGL 2. All places are relative to the point that the picture is about, so that float32 is enough.

const MESH = [`#version 300 es
  in vec3 position; in vec3 normal; in vec3 colour;
  uniform mat4 camera, body;
  out vec3 n, c, p;
  void main() {
    vec4 at = body * vec4(position, 1.0);
    p = at.xyz; n = mat3(body) * normal; c = colour; gl_Position = camera * at;
  }`, `#version 300 es
  precision highp float;
  in vec3 n, c, p;
  uniform float alpha, grid, far;
  uniform vec2 shift;
  uniform vec3 sky, line, tint;
  out vec4 shown;
  void main() {
    vec3 m = normalize(n);
    if (!gl_FrontFacing && grid == 0.0) m = -m;
    vec3 base = c * (0.58 + 0.42 * max(dot(m, normalize(vec3(-0.35, 0.45, 0.8))), 0.0));
    if (grid > 0.0) {
      base = tint * clamp(1.0 + 3.0 * (m.z - 1.0) + 1.2 * m.x, 0.3, 1.15);
      vec2 q = (p.xy + shift) / grid, w = fwidth(q);
      vec2 d = abs(fract(q - 0.5) - 0.5) / max(w, vec2(1e-6));
      float strong = (1.0 - min(min(d.x, d.y), 1.0)) * clamp(1.0 - max(w.x, w.y), 0.0, 1.0);
      base = mix(mix(base, line, 0.8 * strong), sky, smoothstep(0.3 * far, far, length(p.xy)));
    }
    shown = vec4(base, alpha);
  }`];
const LINES = [`#version 300 es
  in vec2 corner; in vec3 a; in vec3 b; in vec3 colour; in float width;
  uniform mat4 camera;
  uniform vec2 size;
  out vec3 c;
  void main() {
    vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0);
    const float near = 0.1;
    if (p.w < near && q.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (p.w < near) p = mix(q, p, (q.w - near) / (q.w - p.w));
    if (q.w < near) q = mix(p, q, (p.w - near) / (p.w - q.w));
    vec2 along = (q.xy / q.w - p.xy / p.w) * size;
    along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
    vec4 at = corner.x < 0.5 ? p : q;
    at.xy += vec2(-along.y, along.x) * corner.y * width / size * at.w;
    at.z -= 2e-3 * at.w / max(at.w, 1.0);
    c = colour; gl_Position = at;
  }`, `#version 300 es
  precision highp float;
  in vec3 c;
  out vec4 shown;
  void main() { shown = vec4(c, 1.0); }`];

/** @param {string} text "#rrggbb" @returns {Vector} */
function colourOf(text) {
  const n = parseInt(text.trim().slice(1), 16);
  return [(n >> 16) / 255, ((n >> 8) & 255) / 255, (n & 255) / 255];
}

/** A mesh is gathered as triangles with one colour and one normal each. */
class Mesh {
  constructor() {
    /** @type {number[]} */
    this.data = [];
  }
  /** @param {Vector[]} points of a convex polygon @param {Vector} colour */
  polygon(points, colour) {
    for (let i = 1; i + 1 < points.length; i++) {
      const [a, b, c] = [points[0], points[i], points[i + 1]], n = unit(cross(add(b, a, -1), add(c, a, -1)));
      for (const p of [a, b, c]) this.data.push(...p, ...n, ...colour);
    }
  }
}

class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL 2: this browser cannot draw the vehicle in 3-D; the table has the main values");
    this.gl = gl;
    this.canvas = canvas;
    this.mesh = this.program(MESH);
    this.lines = this.program(LINES);
    this.corners = this.buffer(new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]));
    this.segments = this.need(gl.createBuffer());
    this.camera = new Float32Array(16);
  }

  /** @template T @param {T | null} made @returns {T} */
  need(made) {
    if (made === null) throw new Error("WebGL 2: the context is lost");
    return made;
  }

  /** @param {string[]} sources */
  program(sources) {
    const gl = this.gl, program = this.need(gl.createProgram());
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, k) => {
      const shader = this.need(gl.createShader(kind));
      gl.shaderSource(shader, sources[k].trim()); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "shader");
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "program");
    return program;
  }

  /** @param {Float32Array} data */
  buffer(data) {
    const made = this.need(this.gl.createBuffer());
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, made);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
    return made;
  }

  /** @param {Mesh} mesh */
  made(mesh) { return { buffer: this.buffer(new Float32Array(mesh.data)), count: mesh.data.length / 9, indices: null }; }

  /** A net of points, with normals between its neighbours, (rows, columns, 3). @param {Float32Array} points
   * @param {number} rows @param {number} wide @param {Vector} colour */
  net(points, rows, wide, colour) {
    const data = new Float32Array(9 * rows * wide);
    /** @param {number} i @param {number} j @returns {Vector} */
    const at = (i, j) => {
      const k = 3 * (Math.min(Math.max(i, 0), rows - 1) * wide + Math.min(Math.max(j, 0), wide - 1));
      return [points[k], points[k + 1], points[k + 2]];
    };
    for (let i = 0, k = 0; i < rows; i++) {
      for (let j = 0; j < wide; j++, k += 9) {
        const n = unit(cross(add(at(i + 1, j), at(i - 1, j), -1), add(at(i, j + 1), at(i, j - 1), -1)));
        data.set([...at(i, j), ...(n[2] < 0 ? n.map((v) => -v) : n), ...colour], k);
      }
    }
    const indices = new Uint32Array(6 * (rows - 1) * (wide - 1));
    for (let i = 0, k = 0; i + 1 < rows; i++) {
      for (let j = 0; j + 1 < wide; j++, k += 6) {
        const a = i * wide + j;
        indices.set([a, a + wide, a + 1, a + 1, a + wide, a + wide + 1], k);
      }
    }
    const made = this.need(this.gl.createBuffer());
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, made);
    this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, indices, this.gl.STATIC_DRAW);
    return { buffer: this.buffer(data), count: indices.length, indices: made };
  }

  /** Begins a picture. @param {Vector} eye @param {Rotation} axes rows right, up and backward @param {number} lens
   * @param {Vector} sky */
  begin(eye, axes, lens, sky) {
    const gl = this.gl, { width, height } = this.canvas;
    gl.viewport(0, 0, width, height);
    gl.clearColor(sky[0], sky[1], sky[2], 1);
    gl.enable(gl.DEPTH_TEST); gl.disable(gl.BLEND); gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const near = 0.1, far = 1000, wide = width / Math.max(height, 1);
    const [x, y, z] = axes.map((row) => [...row, -dot(row, eye)]);
    for (let k = 0; k < 4; k++) {
      this.camera[4 * k] = lens / wide * x[k];
      this.camera[4 * k + 1] = lens * y[k];
      this.camera[4 * k + 2] = -(far + near) / (far - near) * z[k] - (k === 3 ? 2 * far * near / (far - near) : 0);
      this.camera[4 * k + 3] = -z[k];
    }
  }

  /** @param {{buffer: WebGLBuffer, count: number, indices: WebGLBuffer | null}} made @param {Float32Array} body its pose
   * @param {{alpha?: number, grid?: number, shift?: number[], sky?: Vector, line?: Vector, tint?: Vector,
   *   far?: number}} style */
  show(made, body, style = {}) {
    const gl = this.gl, program = this.mesh, alpha = style.alpha ?? 1;
    gl.useProgram(program);
    /** @param {string} name */
    const place = (name) => gl.getUniformLocation(program, name);
    gl.uniformMatrix4fv(place("camera"), false, this.camera);
    gl.uniformMatrix4fv(place("body"), false, body);
    gl.uniform1f(place("alpha"), alpha);
    gl.uniform1f(place("grid"), style.grid ?? 0);
    gl.uniform1f(place("far"), style.far ?? 1);
    gl.uniform2fv(place("shift"), style.shift ?? [0, 0]);
    gl.uniform3fv(place("sky"), style.sky ?? [0, 0, 0]);
    gl.uniform3fv(place("tint"), style.tint ?? [1, 1, 1]);
    gl.uniform3fv(place("line"), style.line ?? [0, 0, 0]);
    if (alpha < 1) { gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false); }
    else { gl.disable(gl.BLEND); gl.depthMask(true); }
    gl.bindBuffer(gl.ARRAY_BUFFER, made.buffer);
    ["position", "normal", "colour"].forEach((name, k) => this.attribute(program, name, 3, 36, 12 * k, 0));
    if (made.indices) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, made.indices);
      gl.drawElements(gl.TRIANGLES, made.count, gl.UNSIGNED_INT, 0);
    } else gl.drawArrays(gl.TRIANGLES, 0, made.count);
  }

  /** @param {WebGLProgram} program @param {string} name @param {number} size @param {number} stride
   * @param {number} offset @param {number} divisor */
  attribute(program, name, size, stride, offset, divisor) {
    const gl = this.gl, place = gl.getAttribLocation(program, name);
    if (place < 0) return;
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(place, divisor);
  }

  /** Lines of one picture, each a, b, colour, width in pixels: 10 numbers. @param {number[]} numbers
   * @param {boolean} over whether they are seen through everything */
  strokes(numbers, over = false) {
    const gl = this.gl, program = this.lines, ratio = this.canvas.width / Math.max(this.canvas.clientWidth, 1);
    gl.useProgram(program);
    gl.disable(gl.BLEND); gl.depthMask(true);
    if (over) gl.disable(gl.DEPTH_TEST); else gl.enable(gl.DEPTH_TEST);
    gl.uniformMatrix4fv(gl.getUniformLocation(program, "camera"), false, this.camera);
    gl.uniform2f(gl.getUniformLocation(program, "size"), this.canvas.width / ratio, this.canvas.height / ratio);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    this.attribute(program, "corner", 2, 8, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.segments);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STREAM_DRAW);
    this.attribute(program, "a", 3, 40, 0, 1);
    this.attribute(program, "b", 3, 40, 12, 1);
    this.attribute(program, "colour", 3, 40, 24, 1);
    this.attribute(program, "width", 1, 40, 36, 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, numbers.length / 10);
    gl.enable(gl.DEPTH_TEST);
  }
}
