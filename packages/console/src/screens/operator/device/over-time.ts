import type { Schemas } from '@gantry/sdk';

export type Reading = Schemas['DeviceReading'];
type Value = Exclude<keyof Reading, 'at'>;

/** Enough for a smooth line on a wide screen. */
const POINTS = 120;

type Span = { readings: readonly Reading[]; hours: number; now: number };

/**
 * Readings exist only for changes. Returns moments at equal distances, in seconds since 1970, and a function that
 * returns the value that was valid at each of them; undefined if the device never had that value. The readings are
 * sorted by time.
 */
export function overTime({ readings, hours, now }: Span) {
  const times = readings.map(({ at }) => Date.parse(at) / 1000);
  const [first = now] = times;
  const from = Math.max(first, now - hours * 3600);
  const at =
    readings.length === 0
      ? []
      : Array.from({ length: POINTS }, (_, index) => from + ((now - from) * index) / (POINTS - 1));
  const valuesOf = (name: Value): number[] | undefined => {
    if (readings.every((reading) => reading[name] < 0)) return undefined;
    return at.map((moment) => {
      const last = times.findLastIndex((time) => time <= moment);
      return Math.max(0, readings[last]?.[name] ?? 0);
    });
  };
  return { at, valuesOf };
}
