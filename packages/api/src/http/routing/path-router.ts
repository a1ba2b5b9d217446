import { METHOD_NAME_ALL, type Result, type Router } from 'hono/router';

/**
 * A router for Hono that supports the paths of this API: fixed and named segments without
 * wildcards. A segment may end in a verb (`placements:explain`, `:host_id:drain`). At each segment
 * a fixed one is preferred to a named one, in whatever order they were added, and a match costs a
 * few map lookups. docs/decisions/0002-routes-are-values.md explains why Hono's own routers do not
 * fit.
 */
type Node<T> = {
  fixed: Map<string, Node<T>>;
  named?: Node<T>;
  verbs: Map<string, Node<T>>;
  handlers: Handlers<T>;
};
type Handlers<T> = Map<string, { handler: T; names: string[] }[]>;

export function createPathRouter<T>(): Router<T> {
  const root = newNode<T>();
  return {
    name: 'PathRouter',
    add(method, path, handler) {
      const names: string[] = [];
      let node = root;
      for (const segment of path.split('/').slice(1)) {
        if (segment.includes('*')) throw new Error(`BUG: ${path} has a wildcard`);
        const [fixed = '', name, verb] = segment.split(':');
        if (fixed !== '' || name === undefined) {
          node = ensureNode(node.fixed, segment);
        } else {
          names.push(name);
          node.named ??= newNode();
          node = verb === undefined ? node.named : ensureNode(node.verbs, verb);
        }
      }
      const known = node.handlers.get(method) ?? [];
      node.handlers.set(method, [...known, { handler, names }]);
    },
    match(method, path) {
      const values: string[] = [];
      const node = walk(root, path, values);
      const found = node?.handlers.get(method) ?? node?.handlers.get(METHOD_NAME_ALL) ?? [];
      return [found.map(({ handler, names }) => [handler, paramsOf(names, values)])] as Result<T>;
    },
  };
}

function newNode<T>(): Node<T> {
  return { fixed: new Map(), verbs: new Map(), handlers: new Map() };
}

function ensureNode<T>(nodes: Map<string, Node<T>>, key: string): Node<T> {
  const node = nodes.get(key) ?? newNode<T>();
  nodes.set(key, node);
  return node;
}

function walk<T>(root: Node<T>, path: string, values: string[]): Node<T> | undefined {
  let node: Node<T> | undefined = root;
  let start = 1;
  while (node && start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    node = step(node, path.slice(start, end), values);
    start = end + 1;
  }
  return node;
}

function step<T>(node: Node<T>, segment: string, values: string[]): Node<T> | undefined {
  const fixed = node.fixed.get(segment);
  if (fixed || segment === '') return fixed;
  const colon = segment.lastIndexOf(':');
  const verb = colon > 0 ? node.verbs.get(segment.slice(colon + 1)) : undefined;
  values.push(verb ? segment.slice(0, colon) : segment);
  return verb ?? node.named;
}

function paramsOf(names: string[], values: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = values[index] ?? '';
  });
  return params;
}
