import { describe, expect, it } from 'vitest';
import { isKey, newKey } from './keys.ts';

describe('keys', () => {
  it('have a prefix for each kind, and a key of one kind is never one of another', () => {
    expect(newKey('access_key')).toMatch(/^gantry_ak_[\w-]{38}$/);
    expect(newKey('refresh_token')).toMatch(/^gantry_rt_[\w-]{38}$/);
    expect(newKey('join_token')).toMatch(/^gantry_jt_[\w-]{38}$/);
    expect(isKey('access_key', newKey('access_key'))).toBe(true);
    expect(isKey('refresh_token', newKey('refresh_token'))).toBe(true);
    expect(isKey('join_token', newKey('join_token'))).toBe(true);
    expect(isKey('access_key', newKey('refresh_token'))).toBe(false);
    expect(isKey('access_key', newKey('join_token'))).toBe(false);
  });

  it('are unique', () => {
    const keys = Array.from({ length: 1000 }, () => newKey('access_key'));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('are invalid if any character is changed', () => {
    const key = newKey('access_key');
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(isKey('access_key', key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it('are invalid if they are cut, lengthened or empty', () => {
    const key = newKey('access_key');
    for (const text of ['', 'gantry_ak_', key.slice(1), key.slice(0, -1), `${key}x`, `${key} `]) {
      expect(isKey('access_key', text)).toBe(false);
    }
  });
});
