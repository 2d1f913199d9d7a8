// What has to hold of the page whatever it shows, as assertions that run against any collector.

import assert from 'node:assert/strict';

/** Opens a page that remembers what it complained about and whom it asked. */
export async function open(browser, url, { width = 1280, height = 900, scheme = 'light', motion = 'no-preference' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: motion });
  const page = await context.newPage();
  page.complaints = [];
  page.strangers = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== 'data:' && asked.origin !== origin) page.strangers.push(request.url());
  });
  const answer = await page.goto(url);
  page.policy = answer.headers()['content-security-policy'] ?? '';
  return page;
}

export const text = (page, selector) => page.locator(selector).innerText();

export async function shows(page, selector, wanted) {
  await page.waitForFunction(([place, words]) => document.querySelector(place)?.textContent.includes(words), [selector, wanted]);
}

/** No complaint but of the network, which is part of the story where `network` is given; nobody else was asked. */
export function assertQuiet(page, { network = false } = {}) {
  const complaints = page.complaints.filter((words) => !(network && words.startsWith('Failed to load resource')));
  assert.deepEqual(complaints, []);
  assert.deepEqual(page.strangers, [], 'the page asked somebody else');
}

export function assertPolicyIsStrict(page) {
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(page.policy.includes(part), `the policy lacks ${part}: ${page.policy}`);
  }
  assert.ok(!/unsafe|\*|https?:/.test(page.policy), page.policy);
}

export async function assertNothingSticksOut(page) {
  const found = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const inScroller = (element) => element.closest('.scroll') !== null;
    const wide = [...document.querySelectorAll('body *')].filter((element) =>
      !inScroller(element) && element.getClientRects().length > 0 && element.getBoundingClientRect().right > width + 0.5);
    return { width, page: document.documentElement.scrollWidth, wide: wide.map((element) => element.outerHTML.slice(0, 120)) };
  });
  assert.ok(found.page <= found.width, `${found.page} px wide in a window of ${found.width} px`);
  assert.deepEqual(found.wide, []);
}

/** Every text that can be seen has at least the contrast that WCAG 2 asks for at level AA: 4.5, or 3 if it is large. */
export async function assertContrast(page) {
  const found = await page.evaluate(() => {
    const parse = (colour) => {
      const numbers = /^rgba?\(([^)]+)\)$/.exec(colour)?.[1].split(/[ ,/]+/).map(Number);
      if (!numbers) throw new Error(`no rgb colour: ${colour}`);
      return { rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
    };
    const over = (top, below) => top.rgb.map((value, index) => value * top.alpha + below[index] * (1 - top.alpha));
    const ground = (element) => {
      if (!element) return [255, 255, 255];
      const colour = parse(getComputedStyle(element).backgroundColor);
      return colour.alpha === 1 ? colour.rgb : over(colour, ground(element.parentElement));
    };
    const luminance = (rgb) => {
      const [red, green, blue] = rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const results = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || !element.checkVisibility() || element.closest('noscript')) continue;
      const style = getComputedStyle(element);
      const below = ground(element);
      const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), below);
      const [light, dark] = [luminance(ink), luminance(below)].sort((a, b) => b - a);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      results.push({ words: walk.currentNode.data.trim().slice(0, 40), ratio: (light + 0.05) / (dark + 0.05), needed: large ? 3 : 4.5 });
    }
    return results;
  });
  assert.ok(found.length > 5, 'hardly any text');
  assert.deepEqual(found.filter(({ ratio, needed }) => ratio < needed), []);
  return Math.min(...found.map(({ ratio }) => ratio));
}

/** Whoever cannot see the charts has names for all of them, and a title for each part of the page. */
export async function assertAccessible(page) {
  const faults = await page.evaluate(() => {
    const seen = (element) => element.checkVisibility();
    const named = (element) => element.getAttribute('aria-label')
      || (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join('');
    const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
    const nameless = [
      ...all('section, [role=region], [role=img], progress').filter((element) => !named(element)),
      ...all('svg').filter((element) => !element.closest('[aria-hidden=true]') && element.getAttribute('role') !== 'img'),
      ...all('input').filter((element) => element.labels.length === 0),
      ...all('details').filter((element) => !element.querySelector(':scope > summary')?.textContent),
    ].map((element) => element.outerHTML.slice(0, 120));
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    const dangling = [...document.querySelectorAll('[aria-labelledby], [aria-describedby], label[for]')].flatMap((element) =>
      ['aria-labelledby', 'aria-describedby', 'for'].flatMap((name) => (element.getAttribute(name) ?? '').split(' ')).filter((id) => id && !document.getElementById(id)));
    return { nameless, twice, dangling, titles: all('h1').length, language: document.documentElement.lang };
  });
  assert.deepEqual(faults, { nameless: [], twice: [], dangling: [], titles: 1, language: 'en' });
}

export async function openTables(page) {
  for (const details of await page.locator('details:not([open])').all()) {
    if (await details.isVisible()) await details.locator('summary').click();
  }
}

/** All that holds on every screen, with every fold open. */
export async function assertSound(page, options) {
  await openTables(page);
  await assertNothingSticksOut(page);
  await assertContrast(page);
  await assertAccessible(page);
  assertPolicyIsStrict(page);
  assertQuiet(page, options);
}
