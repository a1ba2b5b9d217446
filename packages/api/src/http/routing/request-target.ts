/** A segment `.` or `..` of a path, also in its encoded forms. */
const DOT_SEGMENT = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i;

/**
 * Returns whether the path of a request target has a segment `.` or `..`. URL parsers remove such
 * segments, so that `/docs/%2e%2e/healthz` becomes `/healthz`, and a proxy that compares the text of
 * the path with its rules lets it pass. No path of this api has such a segment.
 */
export function hasDotSegment(target: string): boolean {
  const query = target.indexOf('?');
  return DOT_SEGMENT.test(query === -1 ? target : target.slice(0, query));
}
