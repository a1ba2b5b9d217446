import { type Client, connectClient, type Operation } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { startTraceSink, type TraceSink } from '@gantry/testkit/tracing/trace-sink';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** One operation through all processes: by its id in their logs, and as a trace. */
let processes: Processes;
let sink: TraceSink;
let api: Api;
let scheduler: Scheduler;
let fleet: Fleet;
let client: Client;
let created: Operation;

beforeAll(async () => {
  processes = await startProcesses();
  sink = await startTraceSink();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url };
  api = await processes.startApi(env);
  scheduler = await processes.startScheduler(env);
  const place = { schedulers: [scheduler], api };
  fleet = await processes.startFleet({ name: 'one', hosts: 'eu-north-a:a40-8=1', ...place, env });
  client = await connectClient(processes, api);
  created = await client.ended(await client.createVm({ name: 'followed' }));
});
afterAll(async () => {
  sink?.stop();
  await processes?.stop();
});

/** The lines of the process that name the operation. */
function linesOf(process: { log(): string }, id = created.operation_id): object[] {
  const lines = process.log().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).filter(({ operation_id }) => operation_id === id);
}

it('the logs of the api, the scheduler and the agent name the operation of a change', async () => {
  const { operation_id, metadata } = created;
  const vm = { operation_id, vm_id: metadata.id };
  await expect
    .poll(() => linesOf(api))
    .toEqual([
      expect.objectContaining({
        ...{ msg: 'request', route: 'vms.create', operation_id },
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      }),
    ]);
  expect(linesOf(scheduler)).toEqual([
    expect.objectContaining({ msg: 'VM placed', ...vm, host_id: expect.any(String) }),
    expect.objectContaining({
      ...{ msg: 'operation ended', ...vm, operation: 'CREATE', state: 'SUCCEEDED' },
    }),
  ]);
  expect(linesOf(fleet)).toEqual([
    expect.objectContaining({ msg: 'VM changed', ...vm, change: 'up' }),
  ]);
});

const traceOf = ({ operation_id }: Operation) =>
  sink.spans
    .filter(({ traceId }) => traceId === operation_id.replaceAll('-', ''))
    .sort((a, b) => a.startMs - b.startMs);

it('a creation is one trace, with the spans of the api, the scheduler and the agent in their order', async () => {
  const names = () => traceOf(created).map(({ name }) => name);
  await expect.poll(names).toContain('vm CREATE');
  await expect.poll(names).toEqual(expect.arrayContaining(['reconcile']));
  const spans = traceOf(created);
  const whole = spans.find(({ name }) => name === 'vm CREATE');
  const direct = spans.filter(({ parentSpanId }) => parentSpanId === whole?.spanId);
  expect(direct.map(({ service, name }) => `${service}: ${name}`)).toEqual([
    'gantry-api: POST /projects/{project_id}/vms',
    'gantry-scheduler: place',
    'gantry-scheduler: deliver',
    'gantry-agent: reconcile',
    'gantry-scheduler: settle',
  ]);
  expect(whole?.parentSpanId).toBeUndefined();
  const reconcile = direct.find(({ name }) => name === 'reconcile');
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === reconcile?.spanId);
  const first = ['volumes', 'seed', 'network', 'gpu'];
  expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining([...first, 'domain']));
  expect(parts.every(({ status }) => status === undefined)).toBe(true);
});

it("the span of a request is linked to the client's trace, and the operation keeps its own", async () => {
  const { project_id, access_key } = processes.credentials;
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const reply = await fetch(`${api.url}/v0.1/projects/${project_id}/vms/${created.metadata.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${access_key}`, traceparent: `00-${traceId}-${spanId}-01` },
  });
  const { operation } = (await reply.json()) as { operation: Operation };
  await client.ended(operation);
  const request = () => traceOf(operation).find(({ service }) => service === 'gantry-api');
  await expect.poll(request).toMatchObject({ links: [{ traceId, spanId }] });
  await expect
    .poll(() => traceOf(operation).map(({ name }) => name))
    .toEqual(expect.arrayContaining(['vm DELETE', 'reconcile']));
});
