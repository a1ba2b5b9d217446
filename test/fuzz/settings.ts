import { randomInt } from 'node:crypto';

/**
 * A run is repeated by its seed: the same requests in the same order, with other ids. Without one the
 * seed is always the same, so that a change passes or fails for what it is; `random` explores, and the
 * seed stands in every failure, so that a red run on another machine can be had here.
 */
const given = process.env['GANTRY_FUZZ_SEED'] ?? '1';
export const SEED = given === 'random' ? randomInt(2 ** 31) : wholeNumber(given);

/** Requests per operation; a night's run may take thousands. */
export const RUNS = wholeNumber(process.env['GANTRY_FUZZ_RUNS'] ?? '40');

process.stdout.write(`GANTRY_FUZZ_SEED=${SEED} GANTRY_FUZZ_RUNS=${RUNS}\n`);

/** Each property has a seed of its own, so that not all begin with the same choices. */
export function seedOf(name: string): number {
  let seed = SEED;
  for (const character of name) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0;
  return seed;
}

/** Several times what a suite takes; a longer run gets time to match. */
export const TIMEOUT_MS = 180_000 * Math.max(1, RUNS / 40);

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`"${text}" is not a whole number`);
  return number;
}
