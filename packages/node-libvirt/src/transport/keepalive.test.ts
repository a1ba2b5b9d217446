import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Keepalive } from './keepalive.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(options: { onPing?: (keepalive: Keepalive) => void; isPaused?: () => boolean }) {
  const seen = { pings: 0, deaths: 0 };
  const keepalive: Keepalive = new Keepalive({
    intervalMs: 100,
    count: 2,
    ping: () => {
      seen.pings += 1;
      options.onPing?.(keepalive);
    },
    dead: () => {
      seen.deaths += 1;
      keepalive.stop();
    },
    isPaused: options.isPaused ?? (() => false),
  });
  return { keepalive, seen };
}

it('a peer that replies to every ping keeps its connection', () => {
  const { seen } = start({ onPing: (keepalive) => keepalive.heard() });
  vi.advanceTimersByTime(10_000);
  expect(seen).toEqual({ pings: 50, deaths: 0 });
});

it('a peer that sends other packets is not pinged', () => {
  const { keepalive, seen } = start({});
  for (let round = 0; round < 20; round += 1) {
    keepalive.heard();
    vi.advanceTimersByTime(100);
  }
  expect(seen).toEqual({ pings: 0, deaths: 0 });
});

it('a silent peer is reported as dead once, after its pings', () => {
  const { seen } = start({});
  vi.advanceTimersByTime(299);
  expect(seen).toEqual({ pings: 2, deaths: 0 });
  vi.advanceTimersByTime(10_000);
  expect(seen).toEqual({ pings: 2, deaths: 1 });
});

it('a peer is not reported as dead while nothing is read', () => {
  let paused = true;
  const { seen } = start({ isPaused: () => paused });
  vi.advanceTimersByTime(10_000);
  expect(seen).toEqual({ pings: 0, deaths: 0 });
  paused = false;
  vi.advanceTimersByTime(300);
  expect(seen).toEqual({ pings: 2, deaths: 1 });
});
