// What whole records have taught: each parameter, with its interval or why there is none.

import { Bars, MOST_ROWS } from './bars.js';
import { find, say, Table } from './elements.js';
import { count, decimal, NAMELESS, range, several, tick } from './words.js';

const points = new Bars(find('parameters'), { axis: tick, mark: 'point' });
const table = new Table(find('parameters-table'), 'All parameters', ['Parameter', 'Estimate', '95% interval']);

export function showParameters(parameters, doubts, influence) {
  const all = parameters ?? [];
  const certain = all.length > 0 && all.every(({ low, high }) => low !== null && high !== null);
  points.show(largest(all).map(({ name, estimate, low, high }) => {
    const row = { label: name, value: estimate, words: decimal(estimate) };
    return certain ? { ...row, low, high, range: range(low, high) } : row;
  }));
  say('parameters-note', all.length > MOST_ROWS ? `the ${MOST_ROWS} largest of ${count(all.length)}` : '');
  say('parameters-empty', all.length > 0 ? '' : 'No parameters yet.');
  find('parameters-whisker').hidden = !certain;
  const reasons = (doubts ?? []).join('; ');
  const none = reasons ? `No 95% interval: ${reasons}.` : 'No 95% interval yet.';
  const doubted = reasons ? `A doubt about the intervals: ${reasons}.` : '';
  say('parameters-doubts', certain ? doubted : none);
  find('parameters-doubts').hidden = all.length === 0 || (certain && !reasons);
  const movable = typeof influence?.point === 'number';
  find('parameters-influence').hidden = !movable;
  if (movable) {
    const fakes = several(influence.fakes, 'more fake report', 'more fake reports');
    say('parameters-influence', `${fakes} could move the point by at most ${decimal(influence.point)}.`);
  }
  table.show(all.map(({ name, estimate, low, high }) => [name || NAMELESS, decimal(estimate), certain ? range(low, high) : 'none']));
}

/** Those furthest from zero, in the order of the model. */
function largest(all) {
  if (all.length <= MOST_ROWS) return all;
  const kept = new Set([...all].sort((a, b) => Math.abs(b.estimate) - Math.abs(a.estimate)).slice(0, MOST_ROWS));
  return all.filter((parameter) => kept.has(parameter));
}
