// What came in when, and what was refused.

import { Bars } from './bars.js';
import { find, say, Table } from './elements.js';
import { LineChart } from './line_chart.js';
import { roundMoments, roundNumbers } from './scale.js';
import { axisCount, count, exactMoment, plain, rate, reports } from './words.js';

const chart = new LineChart(find('time'), find('time-readout'), 240);
const arrivalTable = new Table(find('time-table'), 'Reports by time', ['Time', 'Reports']);
const refusalBars = new Bars(find('refusals'));
const refusalTable = new Table(find('refusals-table'), 'Refusals by reason', ['Reason', 'Refused']);

export function showArrivals({ over_time, now, reports: total, per_second }) {
  const known = over_time.map(([x, y]) => ({ x, y }));
  const stored = Math.max(total, known.at(-1)?.y ?? 0);
  if (known.length > 0 && now > known.at(-1).x) known.push({ x: now, y: stored });
  say('time-empty', known.length > 0 ? '' : 'No report yet.');
  find('time').hidden = known.length === 0;
  arrivalTable.show(known.map(({ x, y }) => [exactMoment(x), count(y)]));
  if (known.length === 0) return;
  const highest = Math.max(1, ...known.map(({ y }) => y));
  const { step } = roundNumbers(0, highest, 4);
  chart.show({
    points: known,
    from: 0,
    to: Math.ceil(highest / Math.max(1, step) - 1e-9) * Math.max(1, step),
    xTicks: roundMoments,
    yWords: (at) => (Number.isInteger(at) ? axisCount(at, highest) : ''),
    words: ({ x, y }) => `${exactMoment(x)}: ${reports(y)}`,
    rest: stored > 0 && per_second > 0 ? `${rate(per_second)} per second` : '\u00a0',
    label: `Line: ${reports(stored)} in all, from ${exactMoment(known[0].x)} to ${exactMoment(known.at(-1).x)}`,
  });
}

export function showRefusals(refusals) {
  const rows = refusals.filter(({ count: number }) => number > 0).sort((a, b) => b.count - a.count);
  refusalBars.show(rows.map(({ reason, count: number }) => ({ label: plain(reason), value: number, words: count(number) })));
  say('refusals-empty', rows.length > 0 ? '' : 'Nothing was refused.');
  refusalTable.show(rows.map(({ reason, count: number }) => [plain(reason), count(number)]));
}
