import { svg } from './elements.js';
import { roundNumbers } from './scale.js';

/** A line through points in order of x, perhaps within a band, with a cross under the pointer. */
export class LineChart {
  constructor(host, readout, height) {
    this.height = height;
    this.readout = readout;
    this.host = host;
    this.drawing = svg('svg', { role: 'img', height: String(height) });
    this.cross = svg('g', { 'aria-hidden': 'true' });
    host.append(this.drawing);
    this.pointer = null;
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener('pointermove', (event) => this.pick(event.clientX));
    host.addEventListener('pointerdown', (event) => this.pick(event.clientX));
    for (const end of ['pointerleave', 'pointercancel']) host.addEventListener(end, () => this.pick(null));
  }

  /** `data`: points {x, y, low?, high?}, `from`/`to` of y, `xTicks(low, high, wanted)`, `yWords`, `words(point)`, `label`. */
  show(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const width = Math.floor(this.host.clientWidth);
    if (!this.data || width === 0) return;
    const { points, from, to, xTicks, yWords, label } = this.data;
    const yTicks = roundNumbers(from, to, 4);
    const yLabels = yTicks.at.map((at) => yWords(at, yTicks.step));
    const left = 10 + 7.4 * Math.max(...yLabels.map((words) => words.length));
    const [right, top, bottom] = [width - 8, 8, this.height - 26];
    const [first, last] = [points[0].x, points.at(-1).x];
    this.x = (value) => left + ((right - left) * (value - first)) / (last - first || 1);
    this.y = (value) => bottom - ((bottom - top) * (Math.min(to, Math.max(from, value)) - from)) / (to - from || 1);
    this.frame = { left, right, top, bottom };

    const path = (list, value) => list.map((point) => `${this.x(point.x).toFixed(1)} ${this.y(value(point)).toFixed(1)}`).join('L');
    const line = path(points, (point) => point.y);
    const band = points[0].low === undefined
      ? `M${left} ${bottom}L${line}L${this.x(last).toFixed(1)} ${bottom}Z`
      : `M${path(points, (point) => point.high)}L${path([...points].reverse(), (point) => point.low)}Z`;
    this.drawing.setAttribute('viewBox', `0 0 ${width} ${this.height}`);
    this.drawing.setAttribute('aria-label', label);
    this.drawing.replaceChildren(
      ...yTicks.at.map((at) => svg('line', { class: at === 0 ? 'zero' : 'gridline', x1: left, x2: right, y1: this.y(at), y2: this.y(at) })),
      ...yTicks.at.map((at, index) => svg('text', { x: left - 8, y: this.y(at) + 4, 'text-anchor': 'end' }, yLabels[index])),
      ...xTicks(first, last, (right - left) / 70).map(({ at, words }) => {
        const half = 3.7 * words.length;
        const x = Math.max(half, Math.min(width - half, this.x(at)));
        return svg('text', { x, y: this.height - 6, 'text-anchor': 'middle' }, words);
      }),
      svg('path', { class: 'area', d: band }),
      svg('path', { class: 'line', d: `M${line}` }),
      svg('circle', { class: 'end', cx: this.x(last), cy: this.y(points.at(-1).y), r: 3.5 }),
      this.cross,
    );
    this.point();
  }

  pick(pointer) {
    this.pointer = pointer;
    this.point();
  }

  point() {
    if (!this.data) return;
    const { points, words, rest } = this.data;
    if (this.pointer === null) {
      this.cross.replaceChildren();
      this.readout.textContent = rest;
      return;
    }
    const wanted = this.pointer - this.host.getBoundingClientRect().left;
    const distance = (point) => Math.abs(this.x(point.x) - wanted);
    const nearest = points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
    const x = this.x(nearest.x);
    this.cross.replaceChildren(
      svg('line', { class: 'cross', x1: x, x2: x, y1: this.frame.top, y2: this.frame.bottom }),
      svg('circle', { class: 'picked', cx: x, cy: this.y(nearest.y), r: 4.5 }),
    );
    this.readout.textContent = words(nearest);
  }
}
