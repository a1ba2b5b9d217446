import type { SinkMessage, SinkReply } from '@gantry/testkit/api/webhook-sink';

export type Verdict = {
  /** Events that were never accepted. */
  lost: number;
  /** Messages that were sent before the event before them was accepted. */
  early: number;
  /** Messages that had been accepted before. */
  repeated: number;
};

/** How many events of each resource there are. Their messages are their numbers, from 0. */
export type Expected = ReadonlyMap<string, number>;

/** Compares what a sink has received with what happened. */
export function judge(messages: readonly SinkMessage[], expected: Expected): Verdict {
  const accepted = new Map<string, number>();
  let early = 0;
  let repeated = 0;
  for (const { data, accepted: isAccepted } of messages) {
    const number = Number(data.message);
    const next = accepted.get(data.resource_id) ?? 0;
    if (number > next) early += 1;
    else if (number < next) repeated += 1;
    else if (isAccepted) accepted.set(data.resource_id, next + 1);
  }
  let lost = 0;
  for (const [resource, count] of expected) lost += count - (accepted.get(resource) ?? 0);
  return { lost, early, repeated };
}

/** So that the longest of many random pauses, which double, does not decide how long a run takes. */
const MOST_FAILURES = 6;

/** Fails half of the time, in two ways, but not more than six times in a row for an event. */
export function failsHalf(): (message: SinkMessage) => SinkReply {
  const failures = new Map<string, number>();
  return ({ id }) => {
    const failed = failures.get(id) ?? 0;
    const chance = Math.random();
    if (chance < 0.5 || failed >= MOST_FAILURES) {
      failures.delete(id);
      return 200;
    }
    failures.set(id, failed + 1);
    return chance < 0.9 ? 500 : 'drop';
  };
}
