/** A difference between what an operator accepted and what the host reports now. */
export type Difference = { what: string; before: string; now: string };

/** Reads the sentences of the API: `kernel: 6.1 → 6.8`, `0000:01:00.0: gone`, `0000:01:00.0: new, 10de:2230`. */
export function readDifference(sentence: string): Difference {
  const change = /^(.*): (.*) → (.*)$/.exec(sentence);
  if (change) return { what: change[1] ?? '', before: change[2] ?? '', now: change[3] ?? '' };
  const gone = /^(.*): gone$/.exec(sentence);
  if (gone) return { what: 'device', before: gone[1] ?? '', now: '' };
  const added = /^(.*): new, (.*)$/.exec(sentence);
  if (added) return { what: 'device', before: '', now: `${added[1]} (${added[2]})` };
  return { what: '', before: '', now: sentence };
}
