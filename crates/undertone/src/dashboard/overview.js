// What is asked, under which promise, and how far it has come.

import { find, html, say, set } from './elements.js';
import {
  anyOf, capitalized, count, lossAtLeast, lossAtMost, moment, plain, rate, reports, several, smallPercent, span, wholePercent,
} from './words.js';

const VERDICTS = {
  kept: ['kept', 'Kept', 'The mechanism that runs on the devices keeps its promise.'],
  broken: ['broken', 'Broken', 'The mechanism gives away more than it promises. Nobody should be asked with it.'],
  'not-refuted': ['none', 'Not refuted', 'Nothing speaks against the promise, but too little was tried to be sure of it.'],
  'simulation-only': ['none', 'Simulation only', 'The mechanism is fit for simulations, not for what people keep to themselves.'],
};

export function showTask({ name, task_id, label, classes, secret, promise, mechanism, tiers, currency }) {
  say('name', name);
  const among = classes?.length > 0 ? `, one of ${several(classes.length, 'label', 'labels')}` : '';
  say('asked', `Learns “${label}”${among}${secret === 'record' ? ', from whole records' : ''}`);
  find('asked').hidden = !label;
  say('promise', promise);
  const losses = (tiers ?? []).map(lossAtMost);
  const tier = losses.length > 0 ? `, ${currency} = ${anyOf.format(losses)}` : '';
  say('mechanism', `Mechanism: ${plain(mechanism)}${tier}${losses.length > 1 ? ' as each person chooses' : ''}`);
  say('task-id', task_id);
}

export function showAudit(audit, currency) {
  const unheard = ['none', audit ? capitalized(plain(audit.verdict)) : 'Not audited', ''];
  const [colour, word, note] = Object.hasOwn(VERDICTS, audit?.verdict) ? VERDICTS[audit.verdict] : unheard;
  find('verdict').dataset.verdict = colour;
  say('verdict-word', word);
  say('verdict-note', note);
  const pairs = [];
  if (audit) {
    pairs.push(['Promised', `${currency} = ${lossAtMost(audit.claimed)}`]);
    if (audit.exact != null) pairs.push(['Worked out exactly', `${currency} = ${lossAtMost(audit.exact)}`]);
    if (audit.lower_bound != null) {
      pairs.push([`Seen in trials, ${wholePercent(audit.confidence)} sure`, `${currency} ≥ ${lossAtLeast(audit.lower_bound)}`]);
    }
  }
  find('audit').replaceChildren(...pairs.flatMap(([term, value]) => [html('dt', {}, term), html('dd', {}, value)]));
}

export function showKeyFigures({ reports: total, per_second, over_time, refusals, model, parameters, shown, minimum }) {
  say('reports', count(total));
  say('rate', per_second > 0 ? `${rate(per_second)} per second` : 'none arriving now');
  const refused = refusals.reduce((sum, { count: number }) => sum + number, 0);
  say('refused', count(refused));
  const good = total > 0 ? 'all that came in was good' : '';
  say('refused-share', refused > 0 ? `${smallPercent(refused / (refused + total))} of all that came in` : good);
  const [is, note] = describeModel(model, parameters, total) ?? ['None yet', shown ? '' : `from ${reports(minimum)} on`];
  say('model', is);
  say('model-note', note);
  // Arrivals are counted once a second, and what was learnt is shown a little later: less than that is no delay.
  const behind = (over_time.at(-1)?.[1] ?? 0) - total;
  find('behind').hidden = behind <= per_second;
  say('behind', behind > per_second ? `${reports(behind)} behind` : '');
}

function describeModel(model, parameters, total) {
  if (model) return [`Version ${count(model.version)}`, `${plain(model.learner)}, from ${reports(model.reports)}`];
  if (parameters) return [several(parameters.length, 'parameter', 'parameters'), `from ${reports(total)}`];
  return null;
}

/** Says what is missing until anything may be shown. */
export function showWaiting({ reports: total, minimum, shown, secret }) {
  find('waiting').hidden = shown;
  if (shown) return;
  const missing = Math.max(0, minimum - total);
  say('waiting-title', missing > 0 ? 'Not enough reports yet' : 'Enough reports');
  say('waiting-count', total === 0 ? `No report yet, ${count(minimum)} needed` : `${count(total)} of ${reports(minimum)}`);
  set(find('waiting-progress'), { value: String(Math.min(total, minimum)), max: String(Math.max(1, minimum)) });
  const kept = secret === 'record' ? 'no parameter' : 'no share, model or accuracy';
  say('waiting-note', missing > 0
    ? `${count(missing)} more ${missing === 1 ? 'is' : 'are'} needed. Below the minimum of the task, ${kept} is shown.`
    : 'The first figures are being worked out.');
}

/** `closes` and `now` by the clock of the collector. */
export function showClosing(closes, now) {
  const left = closes - now;
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
