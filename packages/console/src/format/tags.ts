/** Reads tags as people type them: `key=value`, separated by commas or line breaks. */
export function readTags(text: string): Record<string, string> {
  const pairs = text
    .split(/[,\n]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', ...value] = pair.split('=');
      return [key.trim(), value.join('=').trim()];
    }),
  );
}

/** Writes tags in the form that `readTags` reads. */
export function writeTags(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([key, value]) => (value === '' ? key : `${key}=${value}`))
    .join(', ');
}
