import { randomInt } from 'node:crypto';

/**
 * The seed of a run: the same seed sends the same requests in the same order, with other ids. The
 * default seed is fixed, so that a change passes or fails because of the change; `random` explores.
 * Every failure prints its seed, so that it can be reproduced on another machine.
 */
const given = process.env['GANTRY_FUZZ_SEED'] ?? '1';
export const SEED = given === 'random' ? randomInt(2 ** 31) : wholeNumber(given);

/** Requests per operation. A nightly run may use thousands. */
export const RUNS = wholeNumber(process.env['GANTRY_FUZZ_RUNS'] ?? '40');

process.stdout.write(`GANTRY_FUZZ_SEED=${SEED} GANTRY_FUZZ_RUNS=${RUNS}\n`);

/** Each property has its own seed, so that they do not all begin with the same choices. */
export function seedOf(name: string): number {
  let seed = SEED;
  for (const character of name) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0;
  return seed;
}

/** Several times the normal duration of a suite. A longer run gets more time. */
export const TIMEOUT_MS = 180_000 * Math.max(1, RUNS / 40);

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`"${text}" is not a whole number`);
  return number;
}
