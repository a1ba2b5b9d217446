import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTtlCache } from './ttl-cache.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const passTime = (ms: number) => vi.setSystemTime(Date.now() + ms);
const cacheOf = (maxEntries = 10) =>
  createTtlCache<string>({ ttlMs: 1000, maxEntries, keep: (value) => value !== 'unwanted' });
const loading = (...values: string[]) => {
  const load = vi.fn<() => Promise<string>>();
  for (const value of values) load.mockResolvedValueOnce(value);
  return load;
};

describe('a cache', () => {
  it('caches a value for its time to live, then loads it again', async () => {
    const cache = cacheOf();
    const load = loading('first', 'second');
    expect(await cache.get('key', load)).toBe('first');
    passTime(999);
    expect(await cache.get('key', load)).toBe('first');
    passTime(1);
    expect(await cache.get('key', load)).toBe('second');
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('loads once for concurrent misses', async () => {
    const cache = cacheOf();
    const load = loading('shared');
    expect(await Promise.all([cache.get('key', load), cache.get('key', load)])).toEqual([
      ...['shared', 'shared'],
    ]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('caches each key separately', async () => {
    const cache = cacheOf();
    expect(await cache.get('a', loading('of a'))).toBe('of a');
    expect(await cache.get('b', loading('of b'))).toBe('of b');
  });

  it('does not cache a value that `keep` rejects', async () => {
    const cache = cacheOf();
    const load = loading('unwanted', 'wanted', 'later');
    expect(await cache.get('key', load)).toBe('unwanted');
    expect(await cache.get('key', load)).toBe('wanted');
    expect(await cache.get('key', load)).toBe('wanted');
  });

  it('does not cache a failure', async () => {
    const cache = cacheOf();
    const failing = () => Promise.reject(new Error('no answer'));
    await expect(cache.get('key', failing)).rejects.toThrow('no answer');
    expect(await cache.get('key', loading('answer'))).toBe('answer');
  });

  it('drops everything when cleared, including loads that have begun', async () => {
    const cache = cacheOf();
    let finish: (value: string) => void = () => {};
    const slow = cache.get('key', () => new Promise<string>((resolve) => (finish = resolve)));
    cache.clear();
    const load = loading('fresh');
    expect(await cache.get('key', load)).toBe('fresh');
    finish('unwanted');
    expect(await slow).toBe('unwanted');
    expect(await cache.get('key', load)).toBe('fresh');
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('never has more than its maximum of entries', async () => {
    const cache = cacheOf(2);
    for (const key of ['a', 'b', 'c']) await cache.get(key, loading(`first ${key}`));
    expect(await cache.get('a', loading('again a'))).toBe('again a');
    expect(await cache.get('c', loading('again c'))).toBe('first c');
  });
});
