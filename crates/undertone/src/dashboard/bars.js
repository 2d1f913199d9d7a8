// Rows with a mark each.

import { html, resize, set, svg } from './elements.js';
import { roundNumbers } from './scale.js';
import { NAMELESS } from './words.js';

export const MOST_ROWS = 20; // rows beyond this number are in the table only

/**
 * One row each: a label, a bar from zero or a point, perhaps a whisker and a hollow point, and the number in words. Rows
 * are kept and changed in place, so that bars glide and a screen reader does not lose its place.
 */
export class Bars {
  /** `axis`: what a tick is called, if there is an axis; `mark`: bar or point. */
  constructor(list, { axis = null, mark = 'bar' } = {}) {
    this.list = list;
    this.axis = axis;
    this.mark = mark;
  }

  /** Shows `rows` on the scale that all of `together` need. */
  show(rows, together = rows) {
    const values = together.flatMap(({ value, low = value, high = value, noisy = value }) => [value, low, high, noisy]);
    let [from, to] = [Math.min(0, ...values), Math.max(0, ...values)];
    const ticks = roundNumbers(from, to, 4);
    if (this.axis) to = Math.max(to, ticks.at.at(-1));
    if (to <= from) to = from + 1;
    const place = (value) => `${(100 * (value - from)) / (to - from)}%`;
    const lines = this.axis ? ticks.at : [];
    resize(this.list, rows.length + (this.axis && rows.length > 0 ? 1 : 0), () => this.row()).forEach((row, index) => {
      if (index < rows.length) this.fill(row, rows[index], place, lines);
      else this.scale(row, place, lines);
    });
  }

  row() {
    return html('li', {},
      html('span', { class: 'label' }),
      html('span', { class: 'plot' }, svg('svg', { 'aria-hidden': 'true' }, svg('g'), svg('g'))),
      html('span', { class: 'value' }));
  }

  fill(row, { label, value, low, high, noisy, words, range }, place, lines) {
    const [name, plot, number] = row.children;
    const [grid, marks] = plot.firstChild.children;
    if (row.className !== '') this.clear(row);
    if (name.textContent !== (label || NAMELESS)) {
      name.textContent = label || NAMELESS;
      name.title = label;
    }
    const text = range ? [`${words} `, html('span', { class: 'range quiet' }, range)] : [words];
    if (number.textContent !== (range ? `${words} ${range}` : words)) number.replaceChildren(...text);
    resize(grid, lines.length, () => svg('line', { y1: '0', y2: '100%' })).forEach((line, index) => {
      set(line, { x1: place(lines[index]), x2: place(lines[index]), class: lines[index] === 0 ? 'zero' : 'gridline' });
    });
    const drawn = [];
    if (this.mark === 'bar') {
      drawn.push(['rect', { class: 'bar', y: '50%', height: '10', rx: '2', transform: 'translate(0 -5)', ...across(place, 0, value) }]);
    }
    if (noisy !== undefined) drawn.push(['circle', { class: 'noisy', cx: place(noisy), cy: '50%', r: '4' }]);
    if (low !== undefined) {
      drawn.push(
        ['rect', { class: 'whisker', y: '50%', height: '1.5', transform: 'translate(0 -.75)', ...across(place, low, high) }],
        ['rect', { class: 'whisker', y: '50%', height: '9', width: '1.5', transform: 'translate(-.75 -4.5)', x: place(low) }],
        ['rect', { class: 'whisker', y: '50%', height: '9', width: '1.5', transform: 'translate(-.75 -4.5)', x: place(high) }],
      );
    }
    if (this.mark === 'point') drawn.push(['circle', { class: 'point', cx: place(value), cy: '50%', r: '5' }]);
    if (marks.children.length !== drawn.length) marks.replaceChildren(...drawn.map(([mark]) => svg(mark)));
    drawn.forEach(([, attributes], index) => set(marks.children[index], attributes));
  }

  scale(row, place, lines) {
    const [name, plot, number] = row.children;
    const [grid, marks] = plot.firstChild.children;
    if (row.className !== 'axis') {
      this.clear(row);
      set(row, { class: 'axis', 'aria-hidden': 'true' });
    }
    name.textContent = '';
    number.textContent = '';
    grid.replaceChildren();
    resize(marks, lines.length, () => svg('text', { y: '16', 'text-anchor': 'middle' })).forEach((text, index) => {
      set(text, { x: place(lines[index]) });
      text.textContent = this.axis(lines[index]);
    });
  }

  clear(row) {
    row.removeAttribute('class');
    row.removeAttribute('aria-hidden');
    for (const group of row.children[1].firstChild.children) group.replaceChildren();
  }
}

function across(place, from, to) {
  const [left, right] = [parseFloat(place(Math.min(from, to))), parseFloat(place(Math.max(from, to)))];
  return { x: `${left}%`, width: `${right - left}%` };
}
