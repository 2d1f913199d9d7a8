// How well models predict, while they learn.

import { find, say, Table } from './elements.js';
import { LineChart } from './line_chart.js';
import { roundNumbers } from './scale.js';
import { axisCount, count, interval, percent, points, reports, several, wholePercent } from './words.js';

const chart = new LineChart(find('curve'), find('curve-readout'), 240);
const table = new Table(find('curve-table'), 'Accuracy by number of reports', ['Reports', 'Accuracy', 'Interval']);

export function showCurve(curve, influence) {
  const known = curve ?? [];
  say('curve-empty', known.length > 0 ? '' : 'No accuracy yet.');
  find('curve').hidden = known.length === 0;
  find('curve-note').hidden = known.length === 0;
  const moved = influence?.accuracy ?? null;
  find('curve-influence').hidden = moved === null;
  if (moved !== null) {
    const fakes = several(influence.fakes, 'fake report', 'fake reports');
    say('curve-influence', `${fakes} among those that judged it could move the last figure by at most ${points(100 * moved)} percentage points.`);
  }
  table.show(known.map(({ reports: number, accuracy, low, high }) => [count(number), percent(accuracy), interval(low, high)]));
  if (known.length === 0) {
    say('curve-readout', '');
    return;
  }
  const within = (value) => Math.min(1, Math.max(0, value));
  const [lowest, highest] = [Math.min(...known.map(({ low }) => within(low))), Math.max(...known.map(({ high }) => within(high)))];
  const { step } = roundNumbers(lowest, highest, 4);
  const { reports: number, accuracy, low, high } = known.at(-1);
  const words = (point) => `${percent(point.y)} (${interval(point.low, point.high)}) after ${reports(point.x)}`;
  chart.show({
    points: known.map((point) => ({ x: point.reports, y: point.accuracy, low: point.low, high: point.high })),
    from: within(Math.floor(lowest / step + 1e-9) * step),
    to: within(Math.ceil(highest / step - 1e-9) * step) || 1,
    xTicks: (from, to, wanted) => roundNumbers(from, to, wanted).at.map((at) => ({ at, words: axisCount(at, to) })),
    yWords: (at) => wholePercent(at),
    words,
    rest: `now ${percent(accuracy)} (${interval(low, high)})`,
    label: `Line: accuracy ${percent(accuracy)} after ${reports(number)}, interval ${interval(low, high)}`,
  });
}
