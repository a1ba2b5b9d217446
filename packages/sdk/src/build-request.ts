import type { OperationRoute } from './operation.ts';

/** What is sent, the same in every attempt: the server compares a repeated request byte by byte. */
export type BuiltRequest = { url: string; body: string | undefined };

type Given = Record<string, unknown>;

/**
 * Members of the input that are neither in the path nor the body are parameters of the query. One that
 * is an array is repeated.
 */
export function buildRequest(
  { id, path }: Pick<OperationRoute, 'id' | 'path'>,
  { baseUrl, input }: { baseUrl: string; input: Given },
): BuiltRequest {
  const { body, ...parameters } = input;
  const query = new URLSearchParams();
  const inPath = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name);
    return pathSegment(id, name, parameters[name]);
  });
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || inPath.has(name)) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
  }
  const search = query.size > 0 ? `?${query}` : '';
  return {
    url: `${baseUrl.replace(/\/+$/, '')}${filled}${search}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/**
 * Refuses what would make the path that of another resource. URL parsers drop the segments `.` and
 * `..`: the deletion of the VM `..` would be the deletion of its project.
 */
function pathSegment(id: string, name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  if (text === '' || text === '.' || text === '..')
    throw new TypeError(`${id}: ${name} must be the id or name of a resource, not "${value}"`);
  return encodeURIComponent(text);
}
