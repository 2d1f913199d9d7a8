// The dashboard in a real Chromium, against a collector that says what it is told; with UNDERTONE_URL set, against the
// collector there (and with the read token UNDERTONE_TOKEN, if it needs one).

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { assertContrast, assertNothingSticksOut, assertQuiet, assertSound, open, openTables, shows, text } from './checks.mjs';
import { Collector } from './collector.mjs';
import * as samples from './samples.mjs';

const { UNDERTONE_URL, UNDERTONE_TOKEN, CHROMIUM = '/usr/bin/chromium' } = process.env;
const PHONE = { width: 360, height: 740 };
const pictures = mkdtempSync(join(tmpdir(), 'undertone-dashboard-'));
console.log(`screenshots in ${pictures}`);

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--enable-precise-memory-info'] });
});
after(() => browser?.close());

const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });

/** Runs `story` with a page on a collector that says `status`, and closes both. */
async function visit(status, story, { prepare = () => {}, ...options } = {}) {
  const collector = new Collector(status);
  prepare(collector);
  await collector.start();
  const page = await open(browser, collector.url, options);
  try {
    await story(page, collector);
  } finally {
    await page.context().close();
    await collector.stop();
  }
}

describe('any collector', { skip: !UNDERTONE_URL && 'UNDERTONE_URL is not set' }, () => {
  for (const scheme of ['light', 'dark']) {
    for (const [device, size] of [['desktop', {}], ['phone', PHONE]]) {
      test(`is shown on a ${device} in the ${scheme}`, async () => {
        const headers = UNDERTONE_TOKEN ? { authorization: `Bearer ${UNDERTONE_TOKEN}` } : {};
        const page = await open(browser, UNDERTONE_URL, { scheme, ...size });
        if (UNDERTONE_TOKEN) {
          await page.fill('#token', UNDERTONE_TOKEN);
          await page.keyboard.press('Enter');
        }
        const answer = await fetch(new URL('v1/status', page.url()), { headers });
        assert.equal(answer.status, 200);
        const status = await answer.json();
        await page.waitForSelector('#figures:not([hidden])');
        assert.equal(await text(page, '#name'), status.name);
        assert.equal((await text(page, '#promise')).replace(/\s+/g, ' '), status.promise.replace(/\s+/g, ' '));
        assert.equal(await text(page, '#task-id'), status.task_id);
        assert.match(await text(page, '#verdict-word'), new RegExp(status.audit.verdict.replace('-', ' '), 'i'));
        const reports = Number((await text(page, '#reports')).replaceAll(',', ''));
        assert.ok(Number.isInteger(reports), 'the number of reports is a number');
        // Reports may have come in the meantime: only what cannot have changed is compared.
        if (status.shown) {
          assert.ok(reports >= status.minimum);
          const rows = (card) => page.locator(`${card} .rows > li:not(.axis)`).count();
          assert.equal(await rows('#shares-card'), Math.min(20, status.shares?.length ?? 0));
          assert.equal(await rows('#parameters-card'), Math.min(20, status.parameters?.length ?? 0));
        } else if (await page.locator('#waiting').isVisible()) {
          for (const card of ['#shares-card', '#parameters-card']) assert.ok(!(await page.locator(card).isVisible()), `${card} below the minimum`);
        }
        await picture(page, `collector-${device}-${scheme}`);
        await assertSound(page, { network: Boolean(UNDERTONE_TOKEN) });
        await page.context().close();
      });
    }
  }
});

describe('the page', { skip: UNDERTONE_URL && 'UNDERTONE_URL is set' }, () => {
  test('shows everything that a full status has', () => visit(samples.full, async (page) => {
    await shows(page, '#reports', '15,321');
    const expected = {
      '#name': 'Nursery admissions', '#asked': 'Learns “class”, one of 5 labels', '#rate': '813 per second', '#refused': '57',
      '#refused-share': '0.4% of all that came in', '#model': 'Version 12', '#model-note': 'softmax, from 15,000 reports',
      '#closes-word': 'Closes in', '#promise': samples.full.promise, '#mechanism': 'Mechanism: subset, ε = 1',
      '#verdict-word': 'Kept', '#influence': '100 fake reports could move a share by at most 2.13 percentage points.',
      '#curve-influence': '100 fake reports among those that judged it could move the last figure by at most 8.71 percentage points.',
      '#task-id': samples.full.task_id, '#connection': 'Live', '#shares-note': '',
    };
    for (const [selector, words] of Object.entries(expected)) assert.equal(await text(page, selector), words, selector);
    assert.match(await text(page, '#closes'), /^24 h 58 min$/);
    assert.equal(await page.title(), 'Nursery admissions · 15,321 reports');
    assert.match(await text(page, '#audit'), /Promised\s+ε = 1\s+Worked out exactly\s+ε = 1\s+Seen in trials, 99% sure\s+ε ≥ 0.9712/);
    assert.ok(!(await page.locator('#waiting').isVisible()));
    const rows = await page.locator('#shares > li:not(.axis)').allInnerTexts();
    assert.equal(rows.length, 5);
    assert.match(rows[0], /^not_recom\s+33\.3%\s*31\.4 – 35\.2%$/);
    assert.match(rows[4], /^recommend\s+0\.2%\s*−1\.7 – 2\.0%$/, 'an unbiased share may be below zero, and is shown so');
    const refusals = await page.locator('#refusals > li').allInnerTexts();
    assert.deepEqual(refusals.map((row) => row.replace(/\s+/g, ' ')), ['too old 31', 'duplicate 12', 'malformed 9', 'admission spent 4', 'wrong task 1']);
    assertQuiet(page);
  }));

  test('draws bars, whiskers and points where the numbers are', () => visit(samples.full, async (page) => {
    await shows(page, '#reports', '15,321');
    const drawn = await page.evaluate(() => {
      const part = (element, name) => parseFloat(element.getAttribute(name)) / 100;
      return [...document.querySelectorAll('#shares > li:not(.axis)')].map((row) => {
        const [bar, noisy, whisker] = ['.bar', '.noisy', '.whisker'].map((mark) => row.querySelector(mark));
        return {
          zero: part(row.querySelector('.zero'), 'x1'), from: part(bar, 'x'), to: part(bar, 'x') + part(bar, 'width'),
          noisy: part(noisy, 'cx'), low: part(whisker, 'x'), high: part(whisker, 'x') + part(whisker, 'width'),
        };
      });
    });
    const { shares } = samples.full;
    const least = Math.min(...shares.map(({ low }) => low));
    const scale = (drawn[0].to - drawn[0].zero) / shares[0].estimate;
    drawn.forEach((row, index) => {
      const { estimate, noisy, low, high } = shares[index];
      assert.ok(Math.abs(row.zero + least * scale) < 1e-6, 'the lowest whisker is at the left edge');
      for (const [place, value] of [[row.from, Math.min(0, estimate)], [row.to, Math.max(0, estimate)], [row.noisy, noisy], [row.low, low], [row.high, high]]) {
        assert.ok(Math.abs(place - (row.zero + scale * value)) < 1e-6, `${value} of row ${index} is at ${place}`);
      }
    });
    const curve = await page.locator('#curve .line').getAttribute('d');
    const heights = curve.slice(1).split('L').map((point) => Number(point.split(' ')[1]));
    assert.equal(heights.length, samples.full.curve.length);
    assert.ok(heights[0] > heights.at(-1), 'a rising accuracy rises on the screen');
    assert.match(await page.locator('#curve svg').getAttribute('aria-label'), /^Line: accuracy 83\.1% after 15,000 reports/);
    assert.match(await page.locator('#time svg').getAttribute('aria-label'), /^Line: 15,321 reports in all/);
    // The pointer reads the curve; without it, the newest value is read.
    assert.match(await text(page, '#curve-readout'), /^now 83\.1%/);
    const box = await page.locator('#curve svg').boundingBox();
    await page.mouse.move(box.x + box.width - 9, box.y + 50);
    assert.match(await text(page, '#curve-readout'), /after 15,000 reports$/);
    await page.mouse.move(0, 0);
    assert.match(await text(page, '#curve-readout'), /^now/);
  }));

  test('shows nothing of the answers below the minimum, but how many reports are missing', () => visit(samples.below, async (page) => {
    await shows(page, '#waiting-count', '380 of 1,000 reports');
    assert.match(await text(page, '#waiting-note'), /^620 more are needed/);
    assert.equal(await page.locator('#waiting-progress').evaluate(({ position }) => position), 0.38);
    for (const hidden of ['#shares-card', '#curve-card', '#influence', '#parameters-card']) assert.ok(!(await page.locator(hidden).isVisible()), hidden);
    assert.equal(await text(page, '#model'), 'None yet');
    assertQuiet(page);
  }));

  test('takes answers away again when a status has none', () => visit(samples.full, async (page, collector) => {
    await shows(page, '#reports', '15,321');
    await page.waitForFunction(() => document.querySelector('#connection').dataset.state === 'live');
    while (collector.listeners === 0) await page.waitForTimeout(20);
    collector.say(samples.below);
    await shows(page, '#waiting-count', '380 of');
    assert.equal(await page.locator('#shares > li').count() + await page.locator('#curve-table td').count(), 0);
    assert.ok(!(await page.locator('#curve').isVisible()));
  }));

  test('of whole records shows each parameter with its interval, and neither shares nor a curve', () => visit(samples.records, async (page) => {
    await shows(page, '#reports', '151,200');
    for (const hidden of ['#shares-card', '#curve-card', '#waiting', '#parameters-doubts']) assert.ok(!(await page.locator(hidden).isVisible()), hidden);
    assert.equal(await text(page, '#asked'), 'Learns “charges”, from whole records');
    assert.equal(await text(page, '#promise'), samples.records.promise);
    assert.equal(await text(page, '#mechanism'), 'Mechanism: gdp, μ = 1');
    assert.deepEqual(await page.locator('#audit dd').allInnerTexts(), ['μ = 1', 'μ ≥ 0.9617'], 'a μ is not called ε');
    assert.deepEqual([await text(page, '#model'), await text(page, '#model-note')], ['5 parameters', 'from 151,200 reports']);
    const rows = page.locator('#parameters > li:not(.axis)');
    assert.deepEqual(await rows.locator('.label').allInnerTexts(), ['constant', 'age', 'bmi', 'smoker = yes', 'scale of errors']);
    assert.equal((await rows.nth(2).locator('.value').innerText()).replace(/\s+/g, ' '), '−0.198 −0.236 to −0.160');
    // All of them on one scale: a value is where zero and the scale, which any two others tell, say that it is.
    const places = await rows.evaluateAll((found) => found.map((row) => {
      const place = (selector, name = 'x') => parseFloat(row.querySelector(selector).getAttribute(name));
      const [, low, high] = [...row.querySelectorAll('.whisker')].map((whisker) => parseFloat(whisker.getAttribute('x')));
      return { zero: place('.zero', 'x1'), point: place('.point', 'cx'), low, high };
    }));
    const [first, last] = [places[0], places.at(-1)];
    const parameters = samples.records.parameters;
    const scale = (last.high - first.low) / (parameters.at(-1).high - parameters[0].low);
    places.forEach((row, index) => {
      const { estimate, low, high } = parameters[index];
      for (const [place, value] of [[row.point, estimate], [row.low, low], [row.high, high]]) {
        assert.ok(Math.abs(place - (row.zero + scale * value)) < 1e-6, `${value} of row ${index} is at ${place}`);
      }
    });
    await page.locator('#parameters-table summary').click();
    await page.waitForSelector('#parameters-table tbody tr');
    assert.deepEqual(await page.locator('#parameters-table tbody tr').nth(1).locator('th, td').allInnerTexts(), ['age', '0.502', '0.466 to 0.538']);
    assertQuiet(page);
  }));

  test('of whole records says why there is no interval, until there is one', () => visit(samples.silentRecords, async (page, collector) => {
    await shows(page, '#waiting-note', 'no parameter is shown');
    for (const hidden of ['#parameters-card', '#shares-card', '#curve-card']) assert.ok(!(await page.locator(hidden).isVisible()), hidden);
    while (collector.listeners === 0) await page.waitForTimeout(20);
    collector.say(samples.youngRecords);
    await shows(page, '#parameters-doubts', 'No 95% interval: 0.2 % of the steps ended on the border');
    assert.ok(await page.locator('#parameters-doubts').isVisible());
    assert.equal(await page.locator('#parameters .point').count(), 5);
    assert.equal(await page.locator('#parameters .whisker, #parameters .range').count(), 0);
    assert.ok(!(await page.locator('#parameters-whisker').isVisible()), 'nothing to explain');
    collector.say(samples.records);
    await shows(page, '#parameters .range', '−0.285 to −0.203');
    assert.equal(await page.locator('#parameters .range').count(), 5);
    assert.ok(!(await page.locator('#parameters-doubts').isVisible()));
    collector.say(samples.silentRecords);
    await page.waitForSelector('#waiting:not([hidden])');
    assert.equal(await page.locator('#parameters > li').count(), 0, 'taken away again');
    assertQuiet(page);
  }));

  test('of many parameters shows those furthest from zero in the order of the model, and how far the learner is behind', () => visit(samples.manyRecords, async (page) => {
    await shows(page, '#parameters-note', 'the 20 largest of 60');
    const all = samples.manyRecords.parameters;
    const least = all.map(({ estimate }) => Math.abs(estimate)).sort((a, b) => b - a)[19];
    const wanted = all.filter(({ estimate }) => Math.abs(estimate) >= least).map(({ name }) => name);
    assert.deepEqual(await page.locator('#parameters > li:not(.axis) .label').allInnerTexts(), wanted);
    assert.match(await text(page, '#parameters-doubts'), /^A doubt about the intervals: the least curvature/);
    assert.equal(await text(page, '#asked'), 'Learns “state of health”, one of 3 labels, from whole records');
    assert.equal(await text(page, '#behind'), '71,200 reports behind');
    assert.match(await page.locator('#time svg').getAttribute('aria-label'), /^Line: 151,200 reports in all/);
    const heights = (await page.locator('#time .line').getAttribute('d')).slice(1).split('L').map((point) => Number(point.split(' ')[1]));
    assert.ok(heights.every((height, index) => index === 0 || height <= heights[index - 1]), 'reports do not become fewer');
    assertQuiet(page);
  }));

  test('is calm about a collection that has not begun', () => visit(samples.empty, async (page) => {
    await shows(page, '#waiting-count', 'No report yet, 1,000 needed');
    assert.equal(await text(page, '#time-empty'), 'No report yet.');
    assert.equal(await text(page, '#refusals-empty'), 'Nothing was refused.');
    assertQuiet(page);
  }));

  test('of 150 labels shows the largest, and all of them in a table that opens from the keyboard', () => visit(samples.many, async (page) => {
    await shows(page, '#shares-note', 'the 20 largest of 150');
    const labels = await page.locator('#shares-card .rows > li:not(.axis) .label').allInnerTexts();
    const largest = [...samples.many.shares].sort((a, b) => b.estimate - a.estimate).slice(0, 20).map((share) => share.class);
    assert.deepEqual(labels, largest);
    assert.equal(await page.locator('table').count(), 0, 'a closed table costs nothing');
    await page.locator('#shares-table summary').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('#shares-table tbody tr');
    assert.equal(await page.locator('#shares-table tbody tr').count(), 150);
    assert.equal(await page.locator('#shares-table tbody tr').last().locator('th').innerText(), 'Product group 150');
    assert.equal(await text(page, '#closes'), 'Open end');
    assert.equal(await text(page, '#mechanism'), 'Mechanism: subset, ε = 0.5, 1 or 2 as each person chooses');
    assertQuiet(page);
  }));

  test('tells verdicts by word and by colour', async () => {
    const colours = new Set();
    for (const [verdict, word] of [['kept', 'Kept'], ['broken', 'Broken'], ['not-refuted', 'Not refuted'], ['simulation-only', 'Simulation only'], ['unheard-of', 'Unheard of']]) {
      await visit({ ...samples.full, audit: { ...samples.full.audit, verdict } }, async (page) => {
        await shows(page, '#verdict-word', word);
        colours.add(await page.locator('#verdict').evaluate((element) => getComputedStyle(element).color));
      });
    }
    assert.equal(colours.size, 3, 'good, bad, and unsure');
  });

  test('rounds a privacy loss up and what was proved of it down', () => visit({
    ...samples.full, audit: { verdict: 'kept', claimed: 1.00001, exact: 1.00001, lower_bound: 0.99999, confidence: 0.99 },
  }, async (page) => {
    await shows(page, '#verdict-word', 'Kept');
    assert.deepEqual(await page.locator('#audit dd').allInnerTexts(), ['ε = 1.0001', 'ε = 1.0001', 'ε ≥ 0.9999']);
  }));

  test('says when the collection was closed', () => visit(samples.two, async (page) => {
    await shows(page, '#closes', '2 h 6 min ago');
    assert.equal(await text(page, '#closes-word'), 'Closed');
  }));

  test('takes no word of the collector for markup', () => visit(samples.hostile, async (page) => {
    await shows(page, '#reports', '15,321');
    await page.locator('#shares-table summary').click();
    await page.waitForSelector('#shares-table tbody tr');
    for (const place of ['#name', '#promise', '#task-id']) assert.equal(await page.locator(place).textContent(), samples.HOSTILE);
    assert.equal(await page.locator('#shares .label').first().textContent(), samples.HOSTILE);
    assert.equal(await page.locator('#shares-table tbody th').first().textContent(), samples.HOSTILE);
    assert.equal(await text(page, '#verdict-word'), 'Constructor');
    assert.equal(await page.locator('img, main script').count(), 0);
    assert.equal(await page.evaluate(() => window.owned), undefined);
    assertQuiet(page);
  }));

  test('takes no name of a parameter for markup', () => visit(samples.hostileRecords, async (page) => {
    await shows(page, '#parameters-doubts', samples.HOSTILE);
    assert.equal(await page.locator('#parameters .label').first().textContent(), samples.HOSTILE);
    assert.equal(await page.locator('#parameters .label').nth(2).textContent(), '(no name)');
    assert.equal(await page.locator('img, main script').count(), 0);
    assert.equal(await page.evaluate(() => window.owned), undefined);
    assertQuiet(page);
  }));

  test('could not make markup of words even if it tried', () => visit(samples.full, async (page) => {
    await shows(page, '#reports', '15,321');
    await assert.rejects(page.evaluate(() => {
      document.body.innerHTML = '<b>markup</b>';
    }), /TrustedHTML/);
    await page.evaluate(() => {
      const script = document.createElement('style');
      script.textContent = 'body { display: none }';
      document.head.append(script);
    });
    assert.ok(await page.locator('#reports').isVisible(), 'an inline style has no effect');
  }));

  test('follows the events as they come', () => visit(samples.below, async (page, collector) => {
    await shows(page, '#reports', '380');
    while (collector.listeners === 0) await page.waitForTimeout(20);
    const asked = collector.asked;
    collector.say(samples.full);
    await shows(page, '#reports', '15,321');
    assert.equal(await page.locator('#shares > li:not(.axis)').count(), 5);
    assert.equal(collector.asked, asked, 'nothing was asked');
    assertQuiet(page);
  }));

  test('asks every two seconds where there are no events', () => visit(samples.below, async (page, collector) => {
    await shows(page, '#connection', 'every 2 seconds');
    collector.status = samples.full;
    await shows(page, '#reports', '15,321');
    assertQuiet(page, { network: true });
  }, { prepare: (collector) => { collector.events = false; } }));

  test('says that the connection is lost, keeps the figures, and recovers', () => visit(samples.full, async (page, collector) => {
    await shows(page, '#connection', 'Live');
    await collector.stop();
    await shows(page, '#notice', 'Connection lost, trying again: the collector does not answer.');
    assert.match(await text(page, '#notice'), /These are the figures of \d\d:\d\d:\d\d/);
    assert.equal(await text(page, '#connection'), 'Connection lost, trying again');
    assert.equal(await text(page, '#reports'), '15,321');
    await assertContrast(page);
    await picture(page, 'lost-desktop-light');
    collector.status = { ...samples.full, reports: 15_400 };
    await collector.start();
    await shows(page, '#reports', '15,400');
    assert.equal(await text(page, '#connection'), 'Live');
    assert.ok(!(await page.locator('#notice').isVisible()));
    assertQuiet(page, { network: true });
  }));

  test('listens again to a collector that comes back with events', () => visit(samples.full, async (page, collector) => {
    await shows(page, '#connection', 'every 2 seconds');
    await collector.stop();
    await shows(page, '#notice', 'the collector does not answer.');
    collector.status = { ...samples.full, reports: 15_400 };
    collector.events = true;
    await collector.start();
    await shows(page, '#reports', '15,400');
    assert.equal(await text(page, '#connection'), 'Live');
    while (collector.listeners === 0) await page.waitForTimeout(20);
    assertQuiet(page, { network: true });
  }, { prepare: (collector) => { collector.events = false; } }));

  test('says so when the collector answers with an error or with nonsense', () => visit(samples.full, async (page, collector) => {
    await shows(page, '#notice', 'trying again: the collector answers with error 503.');
    collector.error = null;
    collector.status = { hello: 'world' };
    await shows(page, '#notice', 'trying again: its answer is not a status.');
    assert.ok(!(await page.locator('#figures').isVisible()));
    collector.status = samples.full;
    await shows(page, '#reports', '15,321');
    assertQuiet(page, { network: true });
  }, { prepare: (collector) => { collector.error = 503; } }));

  test('asks for the read token, keeps it for the tab only, and forgets it on demand', () => visit(samples.full, async (page, collector) => {
    await page.waitForSelector('#locked:not([hidden])');
    assert.ok(!(await page.locator('#figures').isVisible()));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'token');
    await picture(page, 'locked-desktop-light');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await shows(page, '#token-error', 'did not accept');
    await assertContrast(page);
    await page.keyboard.type('two words ☂');
    await page.keyboard.press('Enter');
    await shows(page, '#token-error', 'without spaces');
    await page.fill('#token', ' open-sesame ');
    await page.keyboard.press('Enter');
    await shows(page, '#reports', '15,321');
    assert.equal(await text(page, '#connection'), 'Live, every 2 seconds');
    assert.ok(!page.url().includes('sesame'));
    assert.deepEqual(await page.evaluate(() => [Object.values(sessionStorage), localStorage.length, document.cookie]), [['open-sesame'], 0, '']);
    collector.status = { ...samples.full, reports: 15_322 };
    await shows(page, '#reports', '15,322');
    assert.equal(collector.listeners, 0, 'events cannot carry a token');
    await page.reload();
    await shows(page, '#reports', '15,322');
    collector.token = 'another';
    await page.waitForSelector('#locked:not([hidden])');
    assert.ok(!(await page.locator('#figures').isVisible()), 'a token that is not good any more shows nothing');
    await page.fill('#token', 'another');
    await page.keyboard.press('Enter');
    await page.locator('#forget').click();
    await page.waitForSelector('#locked:not([hidden])');
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assertQuiet(page, { network: true });
  }, { prepare: (collector) => { collector.token = 'open-sesame'; } }));

  for (const name of ['empty', 'below', 'full', 'two', 'many', 'hostile', 'youngRecords', 'records', 'manyRecords', 'hostileRecords']) {
    for (const scheme of ['light', 'dark']) {
      for (const [device, size] of [['desktop', {}], ['phone', PHONE]]) {
        test(`${name}: fits a ${device} in the ${scheme}, can be read and has names for everything`, () => visit(samples[name], async (page) => {
          await page.waitForSelector('#figures:not([hidden])');
          const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          assert.equal(ground, scheme === 'light' ? 'rgb(245, 245, 241)' : 'rgb(18, 20, 22)');
          await picture(page, `${name}-${device}-${scheme}`);
          await assertSound(page);
        }, { scheme, ...size }));
      }
    }
  }

  for (const name of ['many', 'manyRecords']) {
    test(`${name}: fits every width between a phone and a desktop`, () => visit(samples[name], async (page) => {
      await page.waitForSelector('#figures:not([hidden])');
      for (let width = 320; width <= 1280; width += 80) {
        await page.setViewportSize({ width, height: 800 });
        await page.waitForFunction(() => document.querySelector('#time svg').viewBox.baseVal.width <= document.querySelector('#time').clientWidth);
        await assertNothingSticksOut(page);
      }
    }));
  }

  test('does not move for those who asked for calm', async () => {
    const duration = (page) => page.locator('#shares .bar').first().evaluate((bar) => parseFloat(getComputedStyle(bar).transitionDuration));
    await visit(samples.full, async (page) => {
      await page.waitForSelector('#shares .bar');
      assert.equal(await duration(page), 0);
    }, { motion: 'reduce' });
    await visit(samples.full, async (page) => {
      await page.waitForSelector('#shares .bar');
      assert.ok(await duration(page) > 0);
    });
  });

  test('neither nodes nor memory grow over a thousand live updates', () => visit(samples.full, async (page, collector) => {
    await page.waitForSelector('#figures:not([hidden])');
    while (collector.listeners === 0) await page.waitForTimeout(20);
    await openTables(page);
    const session = await page.context().newCDPSession(page);
    const size = async () => {
      await session.send('HeapProfiler.collectGarbage');
      const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      return { nodes, listeners: jsEventListeners, heap: usedSize };
    };
    let number = samples.full.reports;
    const update = async (times) => {
      for (let time = 0; time < times; time += 1) {
        number += 7;
        const shift = Math.sin(number);
        collector.say({
          ...samples.full,
          reports: number,
          shares: samples.full.shares.map((share, index) => ({ ...share, estimate: share.estimate * (1 + 0.3 * Math.sin(index + shift)) })),
          curve: samples.full.curve.map((point) => ({ ...point, accuracy: point.accuracy - 0.02 * shift })),
          over_time: [...samples.full.over_time.slice(0, -1), [samples.full.now - 1, number]],
          refusals: samples.full.refusals.map((refusal) => ({ ...refusal, count: refusal.count + number })),
        });
        // The page draws once a frame, so each update is awaited: a thousand are drawn, not merely received.
        await page.evaluate((wanted) => new Promise((resolve) => {
          const look = () => (document.title.endsWith(wanted) ? resolve() : requestAnimationFrame(look));
          look();
        }), `${number.toLocaleString('en-GB')} reports`);
      }
    };
    await update(50);
    const early = await size();
    await update(1000);
    const late = await size();
    console.log(`after 50 updates ${JSON.stringify(early)}, after 1050 ${JSON.stringify(late)}`);
    assert.ok(late.nodes <= early.nodes + 50, `${early.nodes} nodes became ${late.nodes}`);
    assert.equal(late.listeners, early.listeners);
    assert.ok(late.heap <= early.heap + 300_000, `${early.heap} bytes became ${late.heap}`);
    assertQuiet(page);
  }, { ...PHONE, motion: 'reduce' }));
});
