/**
 * Converts a timestamp in PostgreSQL's JSON (UTC, at most milliseconds) to the form of the
 * contract. It cuts and pads the text, which is faster than parsing: lists have hundreds of
 * timestamps.
 */
export function isoTime(text: string): string {
  const seconds = text.slice(0, 19);
  const milliseconds = text.slice(20, -6).padEnd(3, '0');
  return `${seconds}.${milliseconds}Z`;
}
