import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { untilAvailable } from './until-available.ts';

let server: Server | undefined;
afterEach(() => server?.close());

type Item = { type: string; location: string; available: boolean };
const item = (type: string, available: boolean): Item => ({ type, location: 'a', available });

/** Replies to each request with the next item. The last item repeats. */
async function serve(replies: (Item[] | 'broken')[]) {
  let asked = 0;
  const made = createServer((_request, response) => {
    const items = replies[Math.min(asked, replies.length - 1)];
    asked += 1;
    response.end(items === 'broken' ? '<html>' : JSON.stringify({ items }));
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  const { port } = made.address() as { port: number };
  const connection = {
    ...{ base_url: `http://127.0.0.1:${port}`, project_id: 'p', access_key: 'k' },
    ...{ operator_email: '', operator_password: '' },
  };
  const started = Date.now();
  await untilAvailable(connection, new AbortController().signal);
  return { asked, tookMs: Date.now() - started };
}

it('returns as soon as every type is available, even after failed requests', async () => {
  const some = [item('a40.1x', true), item('a40.8x', false)];
  const all = some.map((one) => ({ ...one, available: true }));
  expect((await serve(['broken', [], some, some, all])).asked).toBe(5);
});

it('returns when nothing changes any more if some types are not available', async () => {
  const { tookMs } = await serve([[item('a40.1x', true), item('a40.8x', false)]]);
  expect(tookMs).toBeGreaterThan(1_000);
  // Shorter than the limit of 20 s.
  expect(tookMs).toBeLessThan(19_000);
});
