// The dashboard: shows the status of one collector, live.
//
// Everything that comes from the collector is put in place as text, never as markup.

const RETRY = 2_000; // ms between two questions while polling or while the collector is away
const SILENCE = 10_000; // ms without an event after which the collector is asked whether it is still there
const WITHOUT_STREAM = 30_000; // ms of polling before a stream that could not be opened is tried again
const ROWS_BESIDE = 8; // labels beyond this number take the whole width, in two columns
const MOST_ROWS = 20; // labels beyond this number are in the table only
const NAMELESS = '(no name)';
const TOKEN = 'undertone-read-token';

const find = (id) => document.getElementById(id);
const write = (element, words) => {
  if (element.textContent !== words) element.textContent = words;
};
const say = (id, words) => write(find(id), words);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// ---------------------------------------------------------------------------------------------------------- in words

// The page speaks English, and so do its numbers: a German decimal comma in an English sentence would mislead.
const LANGUAGE = 'en-GB';
const numbers = (options, language = LANGUAGE) => {
  const format = new Intl.NumberFormat(language, options);
  return (value) => format.format(value).replace('-', '−');
};
const count = numbers({ maximumFractionDigits: 0 });
const compact = numbers({ notation: 'compact', maximumFractionDigits: 1 }, 'en-US'); // 2M, where en-GB has 2m
const rate = numbers({ maximumSignificantDigits: 3 });
// Privacy losses are rounded up, what was proved of them is rounded down: neither is ever flattered.
const lossAtMost = numbers({ maximumFractionDigits: 4, roundingMode: 'ceil' });
const lossAtLeast = numbers({ maximumFractionDigits: 4, roundingMode: 'floor' });
const percent = numbers({ style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
const wholePercent = numbers({ style: 'percent', maximumFractionDigits: 1 });
const points = numbers({ maximumFractionDigits: 2 });
const tenths = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const times = (options) => {
  const format = new Intl.DateTimeFormat(LANGUAGE, { hourCycle: 'h23', ...options });
  return (seconds) => format.format(new Date(seconds * 1000));
};
const clock = times({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minute = times({ hour: '2-digit', minute: '2-digit' });
const day = times({ day: 'numeric', month: 'short' });
const moment = times({ dateStyle: 'medium', timeStyle: 'short' });
const exactMoment = times({ dateStyle: 'medium', timeStyle: 'medium' });
const anyOf = new Intl.ListFormat(LANGUAGE, { type: 'disjunction' });

const several = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
const reports = (number) => several(number, 'report', 'reports');
const plain = (slug) => String(slug).replace(/[-_]+/g, ' ');
const capitalized = (words) => words.charAt(0).toUpperCase() + words.slice(1);
const interval = (low, high) => `${tenths(100 * low)} – ${percent(high)}`;

const smallPercent = (value) => (value > 0 && value < 0.001 ? `less than ${wholePercent(0.001)}` : wholePercent(value));

const UNITS = [['day', 'days', 86_400], ['h', 'h', 3_600], ['min', 'min', 60], ['s', 's', 1]];

/** A span of time in two units, such as "3 days 4 h" or "25 h 10 min". */
function span(seconds) {
  const rest = Math.max(0, Math.floor(seconds));
  // A single day is told in hours: "1 day" would hide up to a day more.
  const [large, small] = rest >= 172_800 ? [0, 1] : rest >= 3_600 ? [1, 2] : [2, 3];
  const words = ([one, many, length], within) => {
    const whole = Math.floor(within / length);
    return whole > 0 ? [several(whole, one, many)] : [];
  };
  const found = [...words(UNITS[large], rest), ...words(UNITS[small], rest % UNITS[large][2])];
  return found.length > 0 ? found.join(' ') : several(0, 's', 's');
}

// -------------------------------------------------------------------------------------------------------- elements

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(element, attributes);
  element.append(...children);
  return element;
}

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

/** Makes `parent` hold exactly `length` children, of which new ones come from `create`. */
function resize(parent, length, create) {
  while (parent.children.length > length) parent.lastChild.remove();
  while (parent.children.length < length) parent.append(create());
  return [...parent.children];
}

// ----------------------------------------------------------------------------------------------------------- scales

/** Round numbers from `low` to `high`, about `wanted` of them, 1, 2 or 5 times a power of ten apart. */
function roundNumbers(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) return { step: 1, at: [low] };
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  return { step, at: multiples(low, high, step) };
}

function multiples(low, high, step, offset = 0) {
  const found = [];
  for (let index = Math.ceil((low - offset) / step - 1e-9); index * step + offset <= high + step * 1e-9; index += 1) {
    found.push(index * step + offset);
  }
  return found;
}

const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 259_200, 432_000,
  604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000,
];

/** Round moments of the local clock from `low` to `high`, each with how it is called. */
function roundMoments(low, high, wanted) {
  const step = STEPS.find((length) => length >= (high - low) / Math.max(1, wanted)) ?? STEPS.at(-1);
  const midnight = new Date(low * 1000).setHours(0, 0, 0, 0) / 1000;
  const call = (at) => {
    if (step < 60) return clock(at);
    return step >= 86_400 || new Date(at * 1000).getHours() + new Date(at * 1000).getMinutes() === 0 ? day(at) : minute(at);
  };
  return multiples(low, high, step, midnight).map((at) => ({ at, words: call(at) }));
}

// ------------------------------------------------------------------------------------------------------ rows of bars

/**
 * One row each: a label, a bar from zero, perhaps a whisker and a hollow point, and the number in words. Rows are kept
 * and changed in place, so that bars glide and a screen reader does not lose its place.
 */
class Bars {
  constructor(list, { axis }) {
    this.list = list;
    this.axis = axis;
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
    const text = range ? [words, html('span', { class: 'range quiet' }, range)] : [words];
    if (number.textContent !== words + (range ?? '')) number.replaceChildren(...text);
    resize(grid, lines.length, () => svg('line', { y1: '0', y2: '100%' })).forEach((line, index) => {
      set(line, { x1: place(lines[index]), x2: place(lines[index]), class: lines[index] === 0 ? 'zero' : 'gridline' });
    });
    const drawn = [['rect', { class: 'bar', y: '50%', height: '10', rx: '2', transform: 'translate(0 -5)', ...across(place, 0, value) }]];
    if (noisy !== undefined) drawn.push(['circle', { class: 'noisy', cx: place(noisy), cy: '50%', r: '4' }]);
    if (low !== undefined) {
      drawn.push(
        ['rect', { class: 'whisker', y: '50%', height: '1.5', transform: 'translate(0 -.75)', ...across(place, low, high) }],
        ['rect', { class: 'whisker', y: '50%', height: '9', width: '1.5', transform: 'translate(-.75 -4.5)', x: place(low) }],
        ['rect', { class: 'whisker', y: '50%', height: '9', width: '1.5', transform: 'translate(-.75 -4.5)', x: place(high) }],
      );
    }
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
      text.textContent = wholePercent(lines[index]);
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

// ------------------------------------------------------------------------------------------------------- line charts

/** A line through points in order of x, perhaps within a band, with a cross under the pointer. */
class LineChart {
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
        const x = this.x(at);
        return svg('text', { x, y: this.height - 6, 'text-anchor': anchor(x, left, right) }, words);
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

function anchor(x, left, right) {
  if (x > right - 24) return 'end';
  return x < left + 4 ? 'start' : 'middle';
}

// ------------------------------------------------------------------------------------------------------------ tables

/** A table that exists only while its fold is open: what nobody reads costs nothing. */
class Table {
  constructor(details, caption, head) {
    this.details = details;
    this.body = html('tbody');
    this.table = html('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption },
      html('table', {},
        html('thead', {}, html('tr', {}, ...head.map((words) => html('th', { scope: 'col' }, words)))),
        this.body));
    this.rows = [];
    details.addEventListener('toggle', () => this.draw());
  }

  show(rows) {
    this.rows = rows;
    this.details.hidden = rows.length === 0;
    this.draw();
  }

  draw() {
    if (!this.details.open) {
      this.body.replaceChildren();
      this.table.remove();
      return;
    }
    const lines = resize(this.body, this.rows.length, () => html('tr', {}, html('th', { scope: 'row' })));
    this.rows.forEach((cells, index) => {
      resize(lines[index], cells.length, () => html('td')).forEach((cell, place) => write(cell, cells[place]));
    });
    if (!this.table.isConnected) this.details.append(this.table);
  }
}

// ---------------------------------------------------------------------------------------------------------- the page

const shareBars = [find('shares'), find('more-shares')].map((list) => new Bars(list, { axis: true }));
const refusalBars = new Bars(find('refusals'), { axis: false });
const timeChart = new LineChart(find('time'), find('time-readout'), 240);
const curveChart = new LineChart(find('curve'), find('curve-readout'), 240);
const shareTable = new Table(find('shares-table'), 'All label shares', ['Label', 'Noise removed', 'Interval', 'As reported']);
const curveTable = new Table(find('curve-table'), 'Accuracy by number of reports', ['Reports', 'Accuracy', 'Interval']);
const timeTable = new Table(find('time-table'), 'Reports by time', ['Time', 'Reports']);
const refusalTable = new Table(find('refusals-table'), 'Refusals by reason', ['Reason', 'Refused']);

const drawn = new Map();
/** Runs `draw` unless `part` of the page already shows `value`. */
function when(part, value, draw) {
  const text = JSON.stringify(value);
  if (drawn.get(part) === text) return;
  drawn.set(part, text);
  draw();
}

const VERDICTS = {
  kept: ['kept', 'Kept', 'The mechanism that runs on the devices keeps its promise.'],
  broken: ['broken', 'Broken', 'The mechanism gives away more than it promises. Nobody should be asked with it.'],
  'not-refuted': ['none', 'Not refuted', 'Nothing speaks against the promise, but too little was tried to be sure of it.'],
  'simulation-only': ['none', 'Simulation only', 'The mechanism is fit for simulations, not for what people keep to themselves.'],
};

function showTask({ name, task_id, label, classes, promise, mechanism, tiers }) {
  say('name', name);
  const asked = classes?.length > 0 ? `Learns “${label}”, one of ${several(classes.length, 'label', 'labels')}` : `Learns “${label}”`;
  say('asked', asked);
  find('asked').hidden = !label;
  say('promise', promise);
  const losses = (tiers ?? []).map(lossAtMost);
  const tier = losses.length > 1 ? `, ε = ${anyOf.format(losses)} as each person chooses` : losses.map((loss) => `, ε = ${loss}`).join('');
  say('mechanism', `Mechanism: ${plain(mechanism)}${tier}`);
  say('task-id', task_id);
}

function showAudit(audit) {
  const unheard = ['none', audit ? capitalized(plain(audit.verdict)) : 'Not audited', ''];
  const [colour, word, note] = Object.hasOwn(VERDICTS, audit?.verdict) ? VERDICTS[audit.verdict] : unheard;
  find('verdict').dataset.verdict = colour;
  say('verdict-word', word);
  say('verdict-note', note);
  const pairs = [];
  if (audit) {
    pairs.push(['Promised', `ε = ${lossAtMost(audit.claimed)}`]);
    if (audit.exact != null) pairs.push(['Worked out exactly', `ε = ${lossAtMost(audit.exact)}`]);
    if (audit.lower_bound != null) {
      pairs.push([`Seen in trials, ${wholePercent(audit.confidence)} sure`, `ε ≥ ${lossAtLeast(audit.lower_bound)}`]);
    }
  }
  find('audit').replaceChildren(...pairs.flatMap(([term, value]) => [html('dt', {}, term), html('dd', {}, value)]));
}

function showKeyFigures(status) {
  const { reports: total, per_second, refusals, model, shown, minimum } = status;
  say('reports', count(total));
  say('rate', per_second > 0 ? `${rate(per_second)} per second` : 'none arriving now');
  const refused = refusals.reduce((sum, { count: number }) => sum + number, 0);
  say('refused', count(refused));
  const good = total > 0 ? 'all that came in was good' : '';
  say('refused-share', refused > 0 ? `${smallPercent(refused / (refused + total))} of all that came in` : good);
  say('model', model ? `Version ${count(model.version)}` : 'None yet');
  const note = shown ? '' : `from ${reports(minimum)} on`;
  say('model-note', model ? `${plain(model.learner)}, from ${reports(model.reports)}` : note);
}

function showWaiting({ reports: total, minimum, shown }) {
  find('waiting').hidden = shown;
  find('shares-card').hidden = !shown;
  find('curve-card').hidden = !shown;
  if (shown) return;
  const missing = Math.max(0, minimum - total);
  say('waiting-title', missing > 0 ? 'Not enough reports yet' : 'Enough reports');
  say('waiting-count', total === 0 ? `No report yet, ${count(minimum)} needed` : `${count(total)} of ${reports(minimum)}`);
  set(find('waiting-progress'), { value: String(Math.min(total, minimum)), max: String(Math.max(1, minimum)) });
  say('waiting-note', missing > 0
    ? `${count(missing)} more ${missing === 1 ? 'is' : 'are'} needed. Below the minimum of the task, no share, model or accuracy is shown.`
    : 'The first figures are being worked out.');
}

function showShares(shares, influence) {
  const all = shares ?? [];
  const largest = all.length > MOST_ROWS ? [...all].sort((a, b) => b.estimate - a.estimate).slice(0, MOST_ROWS) : all;
  const rows = largest.map(({ class: label, noisy, estimate, low, high }) =>
    ({ label, value: estimate, low, high, noisy, words: percent(estimate), range: interval(low, high) }));
  const broad = rows.length > ROWS_BESIDE;
  const half = broad ? Math.ceil(rows.length / 2) : rows.length;
  find('cards').classList.toggle('broad', broad);
  shareBars[0].show(rows.slice(0, half), rows);
  shareBars[1].show(rows.slice(half), rows);
  say('shares-note', all.length > MOST_ROWS ? `the ${MOST_ROWS} largest of ${count(all.length)}` : '');
  say('shares-empty', all.length > 0 ? '' : 'No shares yet.');
  shareTable.show(all.map(({ class: label, noisy, estimate, low, high }) =>
    [label || NAMELESS, percent(estimate), interval(low, high), percent(noisy)]));
  find('influence').hidden = !influence;
  if (influence) {
    const fakes = several(influence.fakes, 'fake report', 'fake reports');
    say('influence', `${fakes} could move a share by at most ${points(100 * influence.share)} percentage points.`);
  }
}

function showCurve(curve, influence) {
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
  curveTable.show(known.map(({ reports: number, accuracy, low, high }) => [count(number), percent(accuracy), interval(low, high)]));
  if (known.length === 0) {
    say('curve-readout', '');
    return;
  }
  const within = (value) => Math.min(1, Math.max(0, value));
  const [lowest, highest] = [Math.min(...known.map(({ low }) => within(low))), Math.max(...known.map(({ high }) => within(high)))];
  const { step } = roundNumbers(lowest, highest, 4);
  const { reports: number, accuracy, low, high } = known.at(-1);
  const words = (point) => `${percent(point.y)} (${interval(point.low, point.high)}) after ${reports(point.x)}`;
  curveChart.show({
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

function showTime({ over_time, now, reports: total, per_second }) {
  const known = over_time.map(([x, y]) => ({ x, y }));
  if (known.length > 0 && now > known.at(-1).x) known.push({ x: now, y: total });
  say('time-empty', known.length > 0 ? '' : 'No report yet.');
  find('time').hidden = known.length === 0;
  timeTable.show(known.map(({ x, y }) => [exactMoment(x), count(y)]));
  if (known.length === 0) return;
  const highest = Math.max(1, ...known.map(({ y }) => y));
  const { step } = roundNumbers(0, highest, 4);
  timeChart.show({
    points: known,
    from: 0,
    to: Math.ceil(highest / Math.max(1, step) - 1e-9) * Math.max(1, step),
    xTicks: roundMoments,
    yWords: (at) => (Number.isInteger(at) ? axisCount(at, highest) : ''),
    words: ({ x, y }) => `${exactMoment(x)}: ${reports(y)}`,
    rest: total > 0 && per_second > 0 ? `${rate(per_second)} per second` : '\u00a0',
    label: `Line: ${reports(total)} in all, from ${exactMoment(known[0].x)} to ${exactMoment(known.at(-1).x)}`,
  });
}

const axisCount = (value, highest) => (highest >= 100_000 ? compact(value) : count(value));

function showRefusals(refusals) {
  const rows = refusals.filter(({ count: number }) => number > 0).sort((a, b) => b.count - a.count);
  refusalBars.show(rows.map(({ reason, count: number }) => ({ label: plain(reason), value: number, words: count(number) })));
  say('refusals-empty', rows.length > 0 ? '' : 'Nothing was refused.');
  refusalTable.show(rows.map(({ reason, count: number }) => [plain(reason), count(number)]));
}

let latest = null; // the status, and when it came by the clock of this page
function showClosing() {
  if (!latest) return;
  const { closes, now } = latest.status;
  const left = closes - now - (performance.now() - latest.came) / 1000;
  if (closes == null) {
    say('closes-word', 'Closes');
    say('closes', 'Open end');
    say('closes-note', '');
  } else {
    say('closes-word', left > 0 ? 'Closes in' : 'Closed');
    say('closes', left > 0 ? span(left) : `${span(-left)} ago`);
    say('closes-note', moment(closes));
  }
}

function showFigures() {
  const { status } = latest;
  const { name, reports: total, per_second, shares, influence, curve, refusals, over_time, now, audit } = status;
  find('locked').hidden = true;
  find('figures').hidden = false;
  const title = `${name} · ${reports(total)}`;
  if (document.title !== title) document.title = title;
  showTask(status);
  when('audit', audit, () => showAudit(audit));
  showKeyFigures(status);
  showWaiting(status);
  when('shares', [shares, influence], () => showShares(shares, influence));
  when('curve', [curve, influence], () => showCurve(curve, influence));
  when('time', [over_time, now, total, per_second], () => showTime(status));
  when('refusals', refusals, () => showRefusals(refusals));
  showClosing();
  say('as-of', `Figures of ${clock(now)}`);
  find('forget').hidden = sessionStorage.getItem(TOKEN) === null;
}

let awaited = false;
/** Shows a status with the next frame; of several that come within one frame, the last. */
function show(status) {
  const { name, reports: total, refusals, over_time } = status ?? {};
  if (typeof name !== 'string' || typeof total !== 'number' || !Array.isArray(refusals) || !Array.isArray(over_time)) {
    throw new Error('its answer is not a status');
  }
  latest = { status, came: performance.now() };
  if (awaited) return;
  awaited = true;
  requestAnimationFrame(() => {
    awaited = false;
    if (latest) showFigures();
  });
}

// --------------------------------------------------------------------------------------------------- the connection

class Locked extends Error {}

const CONNECTIONS = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Live, every 2 seconds',
  locked: 'Locked',
  lost: 'Connection lost, trying again',
};

function connection(state, trouble) {
  find('connection').dataset.state = state;
  say('connection-words', CONNECTIONS[state]);
  find('notice').hidden = state !== 'lost';
  const age = latest ? ` These are the figures of ${clock(latest.status.now)}.` : '';
  say('notice', state === 'lost' ? `Connection lost, trying again: ${trouble}.${age}` : '');
}

async function ask() {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  let answer;
  try {
    answer = await fetch('v1/status', { headers, cache: 'no-store', signal: AbortSignal.timeout(SILENCE) });
  } catch {
    throw new Error('the collector does not answer');
  }
  if (answer.status === 401 || answer.status === 403) throw new Locked();
  if (!answer.ok) throw new Error(`the collector answers with error ${answer.status}`);
  try {
    return await answer.json();
  } catch {
    throw new Error('its answer is not a status');
  }
}

let streamAgain = 0;
/** Listens to events until there are none any more. The browser cannot send a token with them. */
function listen() {
  return new Promise((resolve) => {
    const stream = new EventSource('v1/events');
    let opened = false;
    let silence;
    const end = () => {
      clearTimeout(silence);
      stream.close();
      if (!opened) streamAgain = performance.now() + WITHOUT_STREAM;
      resolve();
    };
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(() => ask().then(show).then(wait, end), SILENCE);
    };
    stream.addEventListener('open', () => {
      opened = true;
      connection('live');
    });
    stream.addEventListener('status', (event) => {
      try {
        show(JSON.parse(event.data));
        wait();
      } catch {
        end();
      }
    });
    stream.addEventListener('error', end);
    wait();
  });
}

async function watch() {
  for (;;) {
    const began = performance.now();
    try {
      show(await ask());
      if (sessionStorage.getItem(TOKEN) === null && performance.now() >= streamAgain) {
        connection('live');
        await listen();
      } else {
        connection('polling');
      }
    } catch (trouble) {
      if (trouble instanceof Locked) await unlock();
      else connection('lost', trouble.message);
    }
    const rest = RETRY - (performance.now() - began);
    if (rest > 0) await sleep(rest);
  }
}

/** Asks for the token. The figures of before are hidden: whoever may not read them now shall not go on reading. */
async function unlock() {
  connection('locked');
  const refused = sessionStorage.getItem(TOKEN) !== null;
  sessionStorage.removeItem(TOKEN);
  latest = null;
  say('token-error', refused ? 'The collector did not accept this token.' : '');
  find('figures').hidden = true;
  find('locked').hidden = false;
  say('name', 'Collector');
  find('asked').hidden = true;
  document.title = 'Undertone';
  find('token').value = '';
  find('token').focus();
  await new Promise((resolve) => {
    unlocked = resolve;
  });
}

let unlocked = () => {};
find('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const token = find('token').value.trim();
  if (/^[\x21-\x7e]+$/.test(token)) {
    sessionStorage.setItem(TOKEN, token);
    unlocked();
  } else {
    say('token-error', 'A token consists of letters, digits and signs, without spaces.');
  }
});
find('forget').addEventListener('click', () => {
  sessionStorage.removeItem(TOKEN);
  location.reload();
});
setInterval(showClosing, 1_000);
watch();
