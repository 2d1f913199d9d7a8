// How many people have each label.

import { Bars, MOST_ROWS } from './bars.js';
import { find, say, Table } from './elements.js';
import { count, interval, NAMELESS, percent, points, several, wholePercent } from './words.js';

const ROWS_BESIDE = 8; // labels beyond this number take the whole width, in two columns

const columns = [find('shares'), find('more-shares')].map((list) => new Bars(list, { axis: wholePercent }));
const table = new Table(find('shares-table'), 'All label shares', ['Label', 'Noise removed', 'Interval', 'As reported']);

export function showShares(shares, influence) {
  const all = shares ?? [];
  const largest = all.length > MOST_ROWS ? [...all].sort((a, b) => b.estimate - a.estimate).slice(0, MOST_ROWS) : all;
  const rows = largest.map(({ class: label, noisy, estimate, low, high }) =>
    ({ label, value: estimate, low, high, noisy, words: percent(estimate), range: interval(low, high) }));
  const broad = rows.length > ROWS_BESIDE;
  const half = broad ? Math.ceil(rows.length / 2) : rows.length;
  find('cards').classList.toggle('broad', broad);
  columns[0].show(rows.slice(0, half), rows);
  columns[1].show(rows.slice(half), rows);
  say('shares-note', all.length > MOST_ROWS ? `the ${MOST_ROWS} largest of ${count(all.length)}` : '');
  say('shares-empty', all.length > 0 ? '' : 'No shares yet.');
  table.show(all.map(({ class: label, noisy, estimate, low, high }) =>
    [label || NAMELESS, percent(estimate), interval(low, high), percent(noisy)]));
  const movable = typeof influence?.share === 'number';
  find('influence').hidden = !movable;
  if (movable) {
    const fakes = several(influence.fakes, 'fake report', 'fake reports');
    say('influence', `${fakes} could move a share by at most ${points(100 * influence.share)} percentage points.`);
  }
}
