import { describe, expect, it } from 'vitest';
import { acceptTotp, newTotpSecret, toBase32, totpCode, totpStep } from './totp.ts';

const SECRET = toBase32(Buffer.from('12345678901234567890'));

describe('codes', () => {
  // RFC 6238, appendix B, SHA-1. The codes there have eight digits; ours are the last six.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i seconds the code of the RFC is %s', (seconds, code) => {
    expect(totpCode(SECRET, totpStep(seconds * 1000))).toBe(code);
  });

  it('are accepted one step early and late, and not further away', () => {
    const nowMs = 1_111_111_111_000;
    const now = totpStep(nowMs);
    const accepted = [-2, -1, 0, 1, 2].map((away) =>
      acceptTotp({ secret: SECRET, code: totpCode(SECRET, now + away), nowMs, lastStep: 0 }),
    );
    expect(accepted).toEqual([undefined, now - 1, now, now + 1, undefined]);
  });

  it('are accepted once', () => {
    const nowMs = 59_000;
    const given = { secret: SECRET, code: '287082', nowMs };
    const step = acceptTotp({ ...given, lastStep: 0 });
    expect(step).toBe(1);
    expect(acceptTotp({ ...given, lastStep: 1 })).toBeUndefined();
  });

  it.each(['', '28708', '2870822', 'x87082'])('%j is refused', (code) => {
    expect(acceptTotp({ secret: SECRET, code, nowMs: 59_000, lastStep: 0 })).toBeUndefined();
  });
});

it('secrets have 160 random bits in base32', () => {
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(newTotpSecret());
});
