import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { Metrics } from './metrics.ts';
import { type MetricsServer, serveMetrics } from './serve-metrics.ts';

const log = createLog({ process: 'test', level: 'silent' });
let serving: MetricsServer | undefined;
afterEach(() => serving?.stop());

async function serve(problem: () => string | null = () => null, port = 0) {
  const metrics = new Metrics();
  metrics.gaugeOf({ name: 'number', help: 'A number.', read: () => 42 });
  serving = await serveMetrics({ metrics, log, host: '127.0.0.1', port, problem });
  return `http://127.0.0.1:${serving.port()}`;
}

it('/metrics is text in the format of Prometheus', async () => {
  const reply = await fetch(`${await serve()}/metrics?x=1`);
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await reply.text()).toContain('\nnumber 42\n');
});

it('/readyz names the problem, and /healthz is 200 all the same', async () => {
  let problem: string | null = 'database unavailable';
  const url = await serve(() => problem);
  const ready = async () => {
    const reply = await fetch(`${url}/readyz`);
    return [reply.status, await reply.text()];
  };
  expect(await ready()).toEqual([503, 'database unavailable\n']);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  problem = null;
  expect(await ready()).toEqual([200, 'ready\n']);
});

it('other paths and methods are refused', async () => {
  const url = await serve();
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
});

it('a process whose port is taken works without metrics', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  await serve(undefined, (other.address() as AddressInfo).port);
  expect(serving?.port()).toBeNull();
  other.close();
});
