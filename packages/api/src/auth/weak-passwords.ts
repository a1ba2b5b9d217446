import { badRequest } from '@gantry/model/errors';
import { COMMON_WORDS } from './common-words.ts';

/** Characters that people write in place of letters. */
const LOOKALIKES: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '€': 'e',
};
/** Fewer different characters than this are a pattern, not a password. */
const MIN_DIFFERENT = 5;
/** Parts of e-mail addresses that are shorter occur in good passwords by chance. */
const MIN_OWN_PART = 3;
/** So many letters between digits and signs do not make a common password a good one. */
const MAX_STRAY = 3;
const LONGEST_WORD = Math.max(...[...COMMON_WORDS].map((word) => word.length));

/** Throws an error that names the field if the password is easy to guess. */
export function refuseWeakPassword(password: string, email: string, field = 'password'): void {
  const reason = weaknessOf(password, email);
  if (reason !== undefined) throw badRequest([{ field, reason }]);
}

/**
 * Returns why a password is among the first that an attacker tries, or undefined if it is not. It
 * must consist of more than common words, the user's own e-mail address, digits, signs, repetitions
 * and sequences. "Summer2024!" with more digits is common, "correct horse battery" is not.
 */
export function weaknessOf(password: string, email: string): string | undefined {
  if (new Set(password).size < MIN_DIFFERENT) return 'has too few different characters';
  const own = runsOf(email.toLowerCase(), /[^\p{L}\p{N}]+/u).filter(
    (part) => part.length >= MIN_OWN_PART,
  );
  const without = (text: string) => own.reduce((rest, part) => rest.replaceAll(part, ' '), text);
  const lower = without(password.toLowerCase());
  // Digits at the ends are added to a word, and digits within it stand for letters.
  const inner = password.toLowerCase().replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const read = without([...inner].map((sign) => LOOKALIKES[sign] ?? sign).join(''));
  // "1q2w3e4r5t6y" is a row of the keyboard, too.
  const joined = lower.replaceAll(/[^\p{L}]+/gu, '');
  if (![lower, read, joined].some(isCommon)) return undefined;
  return 'is easy to guess: it consists of common words, digits or your e-mail address';
}

function runsOf(text: string, separator: RegExp): string[] {
  return text.split(separator).filter((part) => part !== '');
}

function isCommon(text: string): boolean {
  const unusual = runsOf(text, /[^\p{L}]+/u).filter((run) => !consistsOfWords(run));
  const stray = unusual.every((run) => run.length < MIN_OWN_PART);
  return stray && unusual.join('').length <= MAX_STRAY;
}

function consistsOfWords(letters: string): boolean {
  const endsAt = [true];
  for (let end = 1; end <= letters.length; end += 1) {
    endsAt[end] = false;
    for (let start = Math.max(0, end - LONGEST_WORD); start < end && !endsAt[end]; start += 1) {
      endsAt[end] = endsAt[start] === true && isWord(letters.slice(start, end));
    }
  }
  return endsAt[letters.length] === true;
}

function isWord(text: string): boolean {
  return COMMON_WORDS.has(text) || /^(.)\1{2,}$/u.test(text) || isSequence(text);
}

/** "defg", "zyx" */
function isSequence(text: string): boolean {
  if (text.length < 3) return false;
  const steps = [...text.slice(1)].map((_, at) => text.charCodeAt(at + 1) - text.charCodeAt(at));
  return steps.every((step) => step === 1) || steps.every((step) => step === -1);
}
