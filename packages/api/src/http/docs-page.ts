import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Hono } from 'hono';
import { nosniff } from './nosniff.ts';
import { API_PREFIX } from './openapi.ts';

const ASSETS = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' } as const;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gantry API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
const START = `SwaggerUIBundle({ url: '${API_PREFIX}/openapi.json', dom_id: '#api', deepLinking: true });\n`;

/** The page loads everything from this server and nothing from other hosts. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Serves the documentation of the API as a page. */
export function mountDocs(app: Hono): void {
  app.get('/docs', nosniff, (c) => c.html(PAGE, 200, { 'content-security-policy': POLICY }));
  app.get('/docs/start.js', nosniff, (c) =>
    c.body(START, 200, { 'content-type': 'text/javascript' }),
  );
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const [name, type] of Object.entries(ASSETS)) {
    const asset = readFileSync(join(folder, name));
    app.get(`/docs/${name}`, nosniff, (c) =>
      c.body(asset, 200, { 'content-type': type, 'cache-control': 'max-age=86400' }),
    );
  }
}
