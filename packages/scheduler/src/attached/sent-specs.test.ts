import { describe, expect, it } from 'vitest';
import { SentSpecs } from './sent-specs.ts';

const spec = (number: number, hash = `hash of ${number}`) => ({ era: 0, number, hash });
const reported = (number: number, hash = `hash of ${number}`) => ({ number: String(number), hash });

function sent(...numbers: number[]): SentSpecs {
  const specs = new SentSpecs();
  for (const number of numbers) specs.record(spec(number));
  return specs;
}

describe('a report', () => {
  it('proves something about a spec that was sent on its stream, with this content', () => {
    const specs = sent(5, 6);
    expect(specs.isProof(reported(5))).toBe(true);
    expect(specs.isProof(reported(6))).toBe(true);
    expect(specs.isProof(reported(6, 'of other content'))).toBe(false);
    expect(specs.isProof(reported(4))).toBe(false);
    expect(specs.isProof(reported(7))).toBe(false);
  });

  it('about a number that was not sent, or was sent with other content, is ahead', () => {
    expect(sent(5).isAhead(reported(35))).toBe(true);
    expect(sent(5).isAhead(reported(5, 'of other content'))).toBe(true);
    expect(sent(5).isAhead(reported(5))).toBe(false);
    expect(sent(5).isAhead(reported(4))).toBe(false);
  });

  it('before the first spec of its stream is not ahead', () => {
    expect(new SentSpecs().isAhead(reported(35))).toBe(false);
  });

  it('without a hash counts if its number was accepted on this stream', () => {
    const specs = sent(5);
    specs.noteFirst(reported(5, ''));
    expect(specs.isAhead(reported(5, ''))).toBe(true);
    specs.record(spec(6));
    expect(specs.isAhead(reported(6, ''))).toBe(false);
    expect(specs.isProof(reported(6, ''))).toBe(true);
  });

  it('of a later era shows that the database was replaced', () => {
    const specs = new SentSpecs();
    specs.record({ era: 7, number: 1, hash: 'x' });
    expect(specs.isBeforeEra('8')).toBe(true);
    expect(specs.isBeforeEra('7')).toBe(false);
  });
});

it('a database that went back is noticed', () => {
  expect(sent(5).record(spec(4))).toBe(false);
  expect(sent(5).record(spec(5, 'of other content'))).toBe(false);
  expect(sent(5).record(spec(5))).toBe(true);
});

it('specs before the last confirmed one are forgotten, and at most 64 are kept', () => {
  const specs = sent(5, 6, 7);
  specs.forgetBefore('6');
  expect([5, 6, 7].map((number) => specs.isProof(reported(number)))).toEqual([false, true, true]);
  for (let number = 8; number < 80; number += 1) specs.record(spec(number));
  expect(specs.isProof(reported(7))).toBe(false);
  expect(specs.isProof(reported(79))).toBe(true);
});
