// The dashboard: shows the status of one collector, live.
//
// Everything that comes from the collector is put in place as text, never as markup.

import { showArrivals, showRefusals } from './arrivals.js';
import { Connection, token } from './connection.js';
import { showCurve } from './curve.js';
import { find, say } from './elements.js';
import { showAudit, showClosing, showKeyFigures, showTask, showWaiting } from './overview.js';
import { showParameters } from './parameters.js';
import { showShares } from './shares.js';
import { clock, reports } from './words.js';

let latest = null; // the status, and when it came by the clock of this page

const drawn = new Map();
/** Runs `draw` unless `part` of the page already shows `value`. */
function when(part, value, draw) {
  const text = JSON.stringify(value);
  if (drawn.get(part) === text) return;
  drawn.set(part, text);
  draw();
}

function showFigures() {
  const { status } = latest;
  const { name, reports: total, per_second, shares, influence, curve, parameters, doubts, refusals, over_time, now, audit, currency } = status;
  find('locked').hidden = true;
  find('figures').hidden = false;
  const title = `${name} · ${reports(total)}`;
  if (document.title !== title) document.title = title;
  showTask(status);
  when('audit', [audit, currency], () => showAudit(audit, currency));
  showKeyFigures(status);
  showWaiting(status);
  chooseCards(status);
  when('shares', [shares, influence], () => showShares(shares, influence));
  when('curve', [curve, influence], () => showCurve(curve, influence));
  when('parameters', [parameters, doubts, influence], () => showParameters(parameters, doubts, influence));
  when('arrivals', [over_time, now, total, per_second], () => showArrivals(status));
  when('refusals', refusals, () => showRefusals(refusals));
  countDown();
  say('as-of', `Figures of ${clock(now)}`);
  find('forget').hidden = token.held() === null;
}

/** Labels have shares and a curve, whole records have parameters; nothing is shown of either below the minimum. */
function chooseCards({ shown, secret }) {
  const records = secret === 'record';
  find('shares-card').hidden = !shown || records;
  find('curve-card').hidden = !shown || records;
  find('parameters-card').hidden = !shown || !records;
}

function countDown() {
  if (!latest) return;
  const { closes, now } = latest.status;
  showClosing(closes, now + (performance.now() - latest.came) / 1000);
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

let unlocked = () => {};
/** Asks for the token. The figures of before are hidden: whoever may not read them now shall not go on reading. */
async function unlock() {
  const refused = token.held() !== null;
  token.forget();
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

find('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const words = find('token').value.trim();
  if (/^[\x21-\x7e]+$/.test(words)) {
    token.keep(words);
    unlocked();
  } else {
    say('token-error', 'A token consists of letters, digits and signs, without spaces.');
  }
});
find('forget').addEventListener('click', () => {
  token.forget();
  location.reload();
});
setInterval(countDown, 1_000);
new Connection({ show, shown: () => latest?.status.now ?? null, unlock }).watch();
