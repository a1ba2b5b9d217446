/** A tag as it is typed: `key=value`. */
export type Tag = { key: string; value: string };

function parseTag(text: string): Tag {
  const equals = text.indexOf('=');
  if (equals < 1) throw new Error('a tag is written as key=value');
  return { key: text.slice(0, equals), value: text.slice(equals + 1) };
}

export function tagFlag(brief: string) {
  return {
    kind: 'parsed',
    parse: parseTag,
    variadic: true,
    optional: true,
    ...{ brief, placeholder: 'key=value' },
  } as const;
}

/** The last value of a key counts. */
export function tagObject(tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ key, value }) => [key, value]));
}

export function showTags(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}
