/** A timestamp as PostgreSQL puts it into JSON -> the form of the contract. */
export function isoTime(text: string): string {
  return new Date(text).toISOString();
}
