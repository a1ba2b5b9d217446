import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { memoryTokenStore } from './credential.ts';
import { eventParser } from './event-text.ts';
import type { StreamedEvent } from './follow-events.ts';

const PROJECT = '00000000-0000-4000-8000-000000000001';
const retry = { baseMs: 1, maxMs: 5, attempts: 3 };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Each connection is handled by the next handler, and the last one stays. */
async function startStream(...handlers: Handler[]) {
  const seen: { path: string; lastEventId: string; bearer: string }[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    const lastEventId = String(headers['last-event-id'] ?? '');
    seen.push({ path: url, lastEventId, bearer: headers.authorization ?? '' });
    handlers[Math.min(seen.length, handlers.length) - 1]?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const stream =
  (...texts: string[]): Handler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of texts) response.write(text);
    if (!texts.includes(OPEN)) response.end();
  };
/** A comment. A stream with it stays open. */
const OPEN = ': open\n\n';
const event = (id: string, type = 'vm') => `id: ${id}\nevent: ${type}\ndata: {"n":"${id}"}\n\n`;
const refuse =
  (status: number): Handler =>
  (_, response) =>
    void response.writeHead(status).end(JSON.stringify({ code: 'c', message: 'no' }));

async function take(count: number, events: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const taken: StreamedEvent[] = [];
  for await (const each of events) if (taken.push(each) === count) break;
  return taken;
}

const clientOf = (url: string) =>
  createClient({ baseUrl: url, credential: { accessKey: 'k' }, retry });

describe('a stream of events', () => {
  it('yields events with their data, and none for a heartbeat', async () => {
    const { url, seen } = await startStream(
      stream(event('1', 'ready'), 'id: 2\n\n', event('3'), OPEN),
    );
    const events = await take(2, clientOf(url).followEvents({ project_id: PROJECT }));
    expect(events).toEqual([
      { id: '1', type: 'ready', data: { n: '1' } },
      { id: '3', type: 'vm', data: { n: '3' } },
    ]);
    expect(seen).toEqual([
      { path: `/v0.1/projects/${PROJECT}/events`, lastEventId: '', bearer: 'Bearer k' },
    ]);
  });

  it('continues after the last id when the connection is lost, also after a heartbeat', async () => {
    const { url, seen } = await startStream(
      stream(event('1'), 'id: 2\n\n', 'id: 3\nevent: vm\ndata: {"cut'),
      (request) => request.socket.destroy(),
      refuse(503),
      stream(event('3'), OPEN),
    );
    const events = await take(2, clientOf(url).followEvents());
    expect(events.map(({ id }) => id)).toEqual(['1', '3']);
    expect(seen.map(({ lastEventId }) => lastEventId)).toEqual(['', '2', '2', '2']);
    expect(seen[0]?.path).toBe('/v0.1/admin/events');
  });

  it('that was open is opened again for longer than the limit of attempts', async () => {
    const lost = Array.from({ length: 8 }, () => refuse(503));
    const { url } = await startStream(stream(event('1')), ...lost, stream(event('2'), OPEN));
    const events = await take(2, clientOf(url).followEvents());
    expect(events.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('that cannot be opened at first throws', async () => {
    const { url, seen } = await startStream(refuse(503));
    await expect(take(1, clientOf(url).followEvents())).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(3);
  });

  it('that the server refuses throws its error at once', async () => {
    const { url, seen } = await startStream(stream(event('1')), refuse(403));
    const events = clientOf(url).followEvents();
    await expect(take(2, events)).rejects.toMatchObject({ status: 403, message: 'no' });
    expect(seen).toHaveLength(2);
  });

  it('gets another bearer when its own has expired', async () => {
    const granted = { access_token: 'b', refresh_token: 'r2', expires_in: 3600 };
    const grant: Handler = (_, response) =>
      void response.writeHead(200).end(JSON.stringify(granted));
    const { url, seen } = await startStream(refuse(401), grant, stream(event('1'), OPEN));
    const tokens = memoryTokenStore({
      ...{ access_token: 'a', refresh_token: 'r1', expires_at_ms: Date.now() + 1e6 },
    });
    const client = createClient({ baseUrl: url, credential: { tokens }, retry });
    await take(1, client.followEvents());
    expect(seen.map(({ bearer }) => bearer)).toEqual(['Bearer a', '', 'Bearer b']);
  });

  it('ends with the reason of its signal', async () => {
    const { url } = await startStream(stream(event('1'), OPEN));
    const controller = new AbortController();
    const events = clientOf(url).followEvents({}, { signal: controller.signal, lastEventId: '0' });
    await events.next();
    const next = events.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});

it('events are parsed from chunks that end anywhere, with any line ends', () => {
  const text =
    ': hi\r\n\r\nid: 1\r\nevent: vm\r\ndata: {"a":\r\ndata: 1}\r\n\r\nid: 2\n\ndata:x\n\n';
  const expected = [
    { id: undefined, type: 'message', data: undefined },
    { id: '1', type: 'vm', data: '{"a":\n1}' },
    { id: '2', type: 'message', data: undefined },
    { id: undefined, type: 'message', data: 'x' },
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const parse = eventParser();
    const chunks = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
    expect(chunks.flatMap(parse)).toEqual(expected);
  }
});
