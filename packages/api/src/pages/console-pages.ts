import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Context, Hono } from 'hono';
import { nosniff } from '../http/nosniff.ts';

/** The build puts the console beside the bundle of the api. Without a build there is none. */
const BUILT = fileURLToPath(new URL('console/', import.meta.url));

/** The first parts of the paths that the console shows screens for. It knows which of them exist. */
const SECTIONS = ['projects', 'operator'];
const DEEPEST = 5;

/**
 * Everything comes from this server, and no script is part of a page. Styles may be: the terminal of the serial
 * console writes its own, and a style cannot send anything elsewhere under the rest of the policy.
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self'", "font-src 'self'"],
  ...["connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // A new version has new names of scripts, so the page itself must be current.
  'cache-control': 'no-cache',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
};

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Gantry</title></head>
<body>
<h1>The console was not built</h1>
<p>This is the API of Gantry. Its web console is missing because this process was not built with it:
run <code>npm run build</code> and start the API again.</p>
<p>The API works without the console. <a href="/docs">The documentation of the API</a></p>
</body>
</html>
`;

/** Serves the web console at `/`. Paths of the API are not touched. */
export function mountConsolePages(app: Hono, directory = BUILT): void {
  const index = path.join(directory, 'index.html');
  const page = served(existsSync(index) ? readFileSync(index) : Buffer.from(NOT_BUILT));
  const pages = SECTIONS.flatMap((section) =>
    Array.from({ length: DEEPEST }, (_, depth) => `/${section}${named(depth)}`),
  );
  for (const each of ['/', ...pages]) app.get(each, nosniff, (c) => page(c, PAGE_HEADERS));
  for (const file of filesIn(directory, '')) {
    const type = TYPES[path.extname(file)];
    if (type === undefined) continue;
    const asset = served(readFileSync(path.join(directory, file)));
    // The names in this folder contain a hash of the content.
    const lasting = file.startsWith('assets/') ? 'max-age=31536000, immutable' : 'max-age=3600';
    const headers = { 'content-type': type, 'cache-control': `public, ${lasting}` };
    app.get(`/${file}`, nosniff, (c) => asset(c, headers));
  }
}

const named = (depth: number) =>
  Array.from({ length: depth }, (_, index) => `/:p${index}`).join('');

function filesIn(directory: string, folder: string): string[] {
  const place = path.join(directory, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    return entry.isDirectory() ? filesIn(directory, name) : [name];
  });
}

/** Sends a file compressed to clients that accept it. It is compressed once, with the first request. */
function served(plain: Buffer) {
  let compressed: Buffer | undefined;
  return (c: Context, headers: Record<string, string>) => {
    const accepts = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    if (accepts) compressed ??= gzipSync(plain, { level: 9 });
    const encoding = accepts ? { 'content-encoding': 'gzip' } : {};
    const body = new Uint8Array((accepts && compressed) || plain);
    return c.body(body, 200, { ...headers, ...encoding, vary: 'accept-encoding' });
  };
}
