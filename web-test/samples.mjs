// What a collector may say of itself, from nothing at all to 150 labels, and things a hostile one may try.

const START = 1_700_000_000;

export const HOSTILE = '<img src=x onerror="document.title=\'owned\';window.owned=true"><script>window.owned=true</script>';

const PROMISE = 'Whoever sees a report can tell any two answers apart by a factor of at most 2.72: '
  + 'somebody who found two answers equally likely beforehand is at most 73.1 % sure of one of them afterwards.';

const base = {
  name: 'Nursery admissions',
  task_id: '3f6c0a9d51e27b84c6a1f0e35d7b92884e1c5a60b7d3f2918c04ae6b5d3f7a12',
  label: 'class',
  classes: ['not_recom', 'priority', 'spec_prior', 'very_recom', 'recommend'],
  secret: 'label',
  mechanism: 'subset',
  tiers: [1.0],
  currency: 'ε',
  promise: PROMISE,
  minimum: 1000,
  reports: 0,
  shown: false,
  per_second: 0,
  over_time: [],
  refusals: [],
  shares: null,
  influence: null,
  curve: null,
  model: null,
  parameters: null,
  doubts: [],
  audit: { verdict: 'kept', claimed: 1.0, exact: 0.99999, lower_bound: 0.9712, confidence: 0.99 },
  closes: START + 90_000,
  now: START,
};

function arrivals(total, seconds, steps = 120) {
  return Array.from({ length: steps }, (_, step) => {
    const part = (step + 1) / steps;
    return [START + Math.round(part * seconds), Math.round(total * part * (0.75 + 0.25 * part))];
  });
}

function shares(truth) {
  const even = 1 / truth.length;
  const half = 0.9 / Math.sqrt(15_321) + 0.01 / truth.length;
  return truth.map(([name, share], index) => {
    const estimate = share + half * 0.6 * Math.sin(7 * index);
    return { class: name, noisy: 0.46 * share + 0.54 * even, estimate, low: estimate - 2 * half, high: estimate + 2 * half };
  });
}

function curve(total, steps = 60) {
  return Array.from({ length: steps }, (_, step) => {
    const number = Math.round(1000 + ((total - 1000) * step) / (steps - 1));
    const accuracy = 0.89 - 7 / Math.sqrt(number) + 0.006 * Math.sin(1.7 * step);
    const half = 2.2 / Math.sqrt(number);
    return { reports: number, accuracy, low: accuracy - half, high: accuracy + half };
  });
}

export const empty = base;

export const below = {
  ...base,
  reports: 380,
  per_second: 23.5,
  over_time: arrivals(380, 42, 42),
  refusals: [{ reason: 'duplicate', count: 1 }],
  now: START + 42,
};

export const full = {
  ...base,
  reports: 15_321,
  shown: true,
  per_second: 812.5,
  over_time: arrivals(15_321, 95),
  refusals: [
    { reason: 'duplicate', count: 12 }, { reason: 'too-old', count: 31 }, { reason: 'admission-spent', count: 4 },
    { reason: 'malformed', count: 9 }, { reason: 'wrong-task', count: 1 },
  ],
  shares: shares([['not_recom', 0.333], ['priority', 0.329], ['spec_prior', 0.312], ['very_recom', 0.025], ['recommend', 0.0002]]),
  influence: { fakes: 100, share: 0.0213, accuracy: 0.0871 },
  curve: curve(15_000),
  model: { version: 12, reports: 15_000, learner: 'softmax' },
  now: START + 96,
};

const products = Array.from({ length: 150 }, (_, index) => [`Product group ${String(index + 1).padStart(3, '0')}`, 1 / (index * 0.7 + 6)]);
const sum = products.reduce((total, [, weight]) => total + weight, 0);

export const many = {
  ...full,
  name: 'What people buy, in 150 product groups',
  label: 'product group',
  classes: products.map(([name]) => name),
  tiers: [0.5, 1, 2],
  reports: 1_532_100,
  over_time: arrivals(1_532_100, 9 * 86_400, 300),
  shares: shares(products.map(([name, weight]) => [name, weight / sum])),
  curve: curve(1_500_000, 300),
  model: { version: 1432, reports: 1_500_000, learner: 'softmax' },
  audit: { verdict: 'not-refuted', claimed: 2, exact: null, lower_bound: 0.41, confidence: 0.99 },
  closes: null,
  now: START + 9 * 86_400,
};

export const two = {
  ...full,
  name: 'Yes or no',
  classes: ['no', 'yes'],
  shares: shares([['no', 0.71], ['yes', 0.29]]),
  refusals: [],
  audit: { verdict: 'broken', claimed: 1, exact: 1.2002, lower_bound: 1.1231, confidence: 0.99 },
  closes: START - 7_500,
};

/** A task about whole records, below its minimum. */
export const silentRecords = {
  ...below,
  name: 'Charges of a health insurance',
  label: 'charges',
  classes: [],
  secret: 'record',
  mechanism: 'gdp',
  currency: 'μ',
  promise: 'μ = 1: two records are as hard to tell apart by a report as two normal laws whose means are 1 standard deviations '
    + 'apart by one draw',
  audit: { verdict: 'kept', claimed: 1, exact: null, lower_bound: 0.9617, confidence: 0.99 },
};

/** The same above its minimum, but not sure of anything. */
export const youngRecords = {
  ...silentRecords,
  reports: 1_200,
  shown: true,
  curve: [],
  over_time: arrivals(1_200, 42, 42),
  parameters: [['constant', -0.0557], ['age', 0.5325], ['bmi', -0.0345], ['smoker = yes', 1.5111], ['scale of errors', 1.6361]]
    .map(([name, estimate]) => ({ name, estimate, low: null, high: null })),
  doubts: [
    '0.2 % of the steps ended on the border of what is allowed; the optimum may lie outside',
    'the least curvature is not known, so that nobody can say whether this has converged',
  ],
};

/** The same when it is sure. */
export const records = {
  ...youngRecords,
  reports: 151_200,
  over_time: arrivals(151_200, 320),
  refusals: [{ reason: 'stale-version', count: 212 }],
  parameters: [['constant', -0.2438, 0.041], ['age', 0.5022, 0.036], ['bmi', -0.1981, 0.038], ['smoker = yes', 1.1934, 0.094], ['scale of errors', 0.5104, 0.0297]]
    .map(([name, estimate, half]) => ({ name, estimate, low: estimate - half, high: estimate + half })),
  doubts: [],
  now: START + 321,
};

const factors = Array.from({ length: 30 }, (_, index) => (index === 0 ? 'constant' : `habit = number ${index} of those that were asked for`));

/** Many parameters, and a learner that does not keep up. */
export const manyRecords = {
  ...records,
  name: 'What becomes of people with thirty habits',
  label: 'state of health',
  classes: ['well', 'so-so', 'ill'],
  mechanism: 'codebook',
  currency: 'ε',
  tiers: [1, 4],
  promise: PROMISE,
  reports: 80_000,
  parameters: ['well', 'so-so'].flatMap((name, which) => factors.map((factor, index) => {
    const estimate = (2.4 * Math.sin(3 * index + which)) / (1 + 0.1 * index);
    return { name: `${name}: ${factor}`, estimate, low: estimate - 0.31, high: estimate + 0.31 };
  })),
  doubts: ['the least curvature is not known, so that nobody can say whether this has converged'],
};

const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);

export const hostile = {
  ...full,
  name: HOSTILE,
  label: HOSTILE,
  mechanism: HOSTILE,
  promise: HOSTILE,
  classes: [HOSTILE, long, '', '\u202Egnp.exe', '🦀'],
  refusals: [{ reason: HOSTILE, count: 3 }, { reason: '__proto__', count: 2 }],
  shares: shares([[HOSTILE, 0.3], [long, 0.3], ['', 0.2], ['\u202Egnp.exe', 0.15], ['🦀', 0.05]]),
  model: { version: 1, reports: 1, learner: HOSTILE },
  audit: { verdict: 'constructor', claimed: 1, exact: 1, lower_bound: 1, confidence: 0.99 },
  task_id: HOSTILE,
};

export const hostileRecords = {
  ...records,
  parameters: [HOSTILE, long, '', '\u202Egnp.exe', '🦀'].map((name, index) => ({ name, estimate: 12.3456 * index - 20, low: -20.0001, high: 1e6 })),
  doubts: [HOSTILE],
};
