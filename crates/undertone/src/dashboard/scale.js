// Round values for the ticks of an axis.

import { clock, day, minute } from './words.js';

/** Round numbers from `low` to `high`, about `wanted` of them, 1, 2 or 5 times a power of ten apart. */
export function roundNumbers(low, high, wanted) {
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
export function roundMoments(low, high, wanted) {
  const step = STEPS.find((length) => length >= (high - low) / Math.max(1, wanted)) ?? STEPS.at(-1);
  const midnight = new Date(low * 1000).setHours(0, 0, 0, 0) / 1000;
  const call = (at) => {
    if (step < 60) return clock(at);
    return step >= 86_400 || new Date(at * 1000).getHours() + new Date(at * 1000).getMinutes() === 0 ? day(at) : minute(at);
  };
  return multiples(low, high, step, midnight).map((at) => ({ at, words: call(at) }));
}
