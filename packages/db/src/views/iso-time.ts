/**
 * A timestamp as PostgreSQL puts it into JSON, in UTC and to the millisecond at most -> the form of
 * the contract. Lists have hundreds of them, so it is cut and padded rather than parsed.
 */
export function isoTime(text: string): string {
  const seconds = text.slice(0, 19);
  const milliseconds = text.slice(20, -6).padEnd(3, '0');
  return `${seconds}.${milliseconds}Z`;
}
