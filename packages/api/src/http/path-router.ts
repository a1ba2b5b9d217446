import { METHOD_NAME_ALL, type Result, type Router } from 'hono/router';

/**
 * Hono's router for what this api has: whole paths of fixed and named segments, no wildcards. At each
 * segment the fixed one wins over the named one, in whatever order they were added, and a match
 * costs a few map lookups. Hono's own fast router does not take fixed and named siblings.
 */
type Node<T> = { fixed: Map<string, Node<T>>; named?: Node<T>; handlers: Handlers<T> };
type Handlers<T> = Map<string, { handler: T; names: string[] }[]>;

export function createPathRouter<T>(): Router<T> {
  const root = newNode<T>();
  return {
    name: 'PathRouter',
    add(method, path, handler) {
      const names: string[] = [];
      let node = root;
      for (const segment of path.split('/').slice(1)) {
        if (segment.startsWith(':')) {
          names.push(segment.slice(1));
          node.named ??= newNode();
          node = node.named;
        } else {
          if (segment.includes('*')) throw new Error(`BUG: ${path} has a wildcard`);
          const next = node.fixed.get(segment) ?? newNode<T>();
          node.fixed.set(segment, next);
          node = next;
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
  return { fixed: new Map(), handlers: new Map() };
}

function walk<T>(root: Node<T>, path: string, values: string[]): Node<T> | undefined {
  let node: Node<T> | undefined = root;
  let start = 1;
  while (node && start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    const segment = path.slice(start, end);
    const fixed: Node<T> | undefined = node.fixed.get(segment);
    if (!fixed && segment !== '') values.push(segment);
    node = fixed ?? (segment === '' ? undefined : node.named);
    start = end + 1;
  }
  return node;
}

function paramsOf(names: string[], values: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = values[index] ?? '';
  });
  return params;
}
