// Numbers, times and what they are called.

export const NAMELESS = '(no name)';

// The page speaks English, and so do its numbers: a German decimal comma in an English sentence would mislead.
const LANGUAGE = 'en-GB';
const numbers = (options, language = LANGUAGE) => {
  const format = new Intl.NumberFormat(language, options);
  return (value) => format.format(value).replace('-', '−');
};
export const count = numbers({ maximumFractionDigits: 0 });
const compact = numbers({ notation: 'compact', maximumFractionDigits: 1 }, 'en-US'); // 2M, where en-GB has 2m
export const rate = numbers({ maximumSignificantDigits: 3 });
// Privacy losses are rounded up, what was proved of them is rounded down: neither is ever flattered.
export const lossAtMost = numbers({ maximumFractionDigits: 4, roundingMode: 'ceil' });
export const lossAtLeast = numbers({ maximumFractionDigits: 4, roundingMode: 'floor' });
export const percent = numbers({ style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
export const wholePercent = numbers({ style: 'percent', maximumFractionDigits: 1 });
export const points = numbers({ maximumFractionDigits: 2 });
const tenths = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
export const decimal = numbers({ minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: 'negative' });
export const tick = numbers({ maximumSignificantDigits: 6, signDisplay: 'negative' });
const times = (options) => {
  const format = new Intl.DateTimeFormat(LANGUAGE, { hourCycle: 'h23', ...options });
  return (seconds) => format.format(new Date(seconds * 1000));
};
export const clock = times({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const minute = times({ hour: '2-digit', minute: '2-digit' });
export const day = times({ day: 'numeric', month: 'short' });
export const moment = times({ dateStyle: 'medium', timeStyle: 'short' });
export const exactMoment = times({ dateStyle: 'medium', timeStyle: 'medium' });
export const anyOf = new Intl.ListFormat(LANGUAGE, { type: 'disjunction' });

/** A number beside an axis that goes up to `highest`. */
export const axisCount = (value, highest) => (highest >= 100_000 ? compact(value) : count(value));

export const several = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
export const reports = (number) => several(number, 'report', 'reports');
export const plain = (slug) => String(slug).replace(/[-_]+/g, ' ');
export const capitalized = (words) => words.charAt(0).toUpperCase() + words.slice(1);
export const interval = (low, high) => `${tenths(100 * low)} – ${percent(high)}`;
export const range = (low, high) => `${decimal(low)} to ${decimal(high)}`; // a dash would look like a minus

export const smallPercent = (value) => (value > 0 && value < 0.001 ? `less than ${wholePercent(0.001)}` : wholePercent(value));

const UNITS = [['day', 'days', 86_400], ['h', 'h', 3_600], ['min', 'min', 60], ['s', 's', 1]];

/** A span of time in two units, such as "3 days 4 h" or "25 h 10 min". */
export function span(seconds) {
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
