import { createSecrets } from '@gantry/daemon/secrets';
import { newId } from '@gantry/model/ids';
import { describe, expect, it } from 'vitest';
import { readBillingToken, signBillingToken } from './billing-link.ts';

const secrets = createSecrets('a secret key for tests, long enough');
const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const organizationId = newId();
const token = signBillingToken(secrets, { organizationId, now });

describe('a billing token', () => {
  it('is valid for its organization for fifteen minutes', () => {
    expect(token).toMatch(/^gantry_bl_[\w-]+$/);
    expect(readBillingToken(secrets, { token, now })).toBe(organizationId);
    expect(readBillingToken(secrets, { token, now: later(899) })).toBe(organizationId);
    expect(readBillingToken(secrets, { token, now: later(900) })).toBeUndefined();
  });

  it('is invalid if any part is changed', () => {
    const [expiry = ''] = /(?<=_)\d+(?=_)/.exec(token) ?? [];
    const forged = [
      token.replace(organizationId, newId()),
      token.replace(expiry, String(Number(expiry) + 1)),
      token.replace(expiry, `0${expiry}`),
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      token.slice(0, -1),
      `${token}A`,
      token.replace('gantry_bl_', 'gantry_ak_'),
      '',
    ];
    for (const other of forged) {
      expect([other, readBillingToken(secrets, { token: other, now })]).toEqual([other, undefined]);
    }
  });

  it('is invalid if another installation signed it, or it was signed for another purpose', () => {
    const others = createSecrets('the secret key of somebody else, really');
    expect(readBillingToken(others, { token, now })).toBeUndefined();
    const claim = token.slice('gantry_bl_'.length, token.length - 44);
    const misused = `gantry_bl_${claim}_${secrets.sign('another-purpose', claim)}`;
    expect(readBillingToken(secrets, { token: misused, now })).toBeUndefined();
  });
});
