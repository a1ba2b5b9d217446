import { startTraceSink, type TraceSink } from '@gantry/testkit/tracing/trace-sink';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { createSettingsReader } from '../settings.ts';
import { readTracingSettings, startTracing } from './start-tracing.ts';
import { operationSpanIdOf, parseTraceParent, type Tracer } from './tracer.ts';

const OPERATION = '019a96f0-1c2d-7e3f-8a4b-5c6d7e8f9a0b';
const TRACE = '019a96f01c2d7e3f8a4b5c6d7e8f9a0b';
let sink: TraceSink;
let tracer: Tracer | null = null;
const lines: string[] = [];
const log = createLog({ process: 'test', destination: { write: (line) => void lines.push(line) } });
const settingsOf = (env: Record<string, string>) => readTracingSettings(createSettingsReader(env));

beforeEach(async () => {
  lines.length = 0;
  sink = await startTraceSink();
});
afterEach(async () => {
  sink.stop();
  await tracer?.stop();
});

const start = async (env: Record<string, string> = {}) => {
  const settings = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, ...env });
  tracer = await startTracing(settings, { service: 'gantry-test', log });
  return tracer;
};
const span = { operationId: OPERATION, name: 'place', startMs: 1_000.5, endMs: 2_000 };

it('spans arrive with ids that follow from the operation', async () => {
  const tracing = await start({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-other=1' });
  tracing?.record({ ...span, attributes: { 'gantry.vm_id': 'v', number: 2, absent: undefined } });
  tracing?.record({ ...span, name: 'vm CREATE', isOperation: true, error: 'no_capacity' });
  await tracing?.stop();
  const root = operationSpanIdOf(OPERATION);
  expect(sink.spans).toEqual([
    {
      ...{ service: 'gantry-test', traceId: TRACE, name: 'place', kind: 1 },
      ...{ spanId: expect.stringMatching(/^[0-9a-f]{16}$/), parentSpanId: root },
      ...{ startMs: 1_000.5, endMs: 2_000 },
      attributes: { 'gantry.operation_id': OPERATION, 'gantry.vm_id': 'v', number: '2' },
    },
    expect.objectContaining({
      ...{ traceId: TRACE, spanId: root, name: 'vm CREATE' },
      status: { code: 2, message: 'no_capacity' },
    }),
  ]);
  expect(sink.spans[1]).not.toHaveProperty('parentSpanId');
  expect(sink.headers()).toMatchObject({ 'x-key': 'a b', 'x-other': '1' });
});

it('spans that a collector cannot accept for a while arrive later, and the log has one line about it', async () => {
  sink.reply(503);
  const tracing = await start();
  tracing?.record(span);
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toContain('spans could not be sent');
  sink.reply(200);
  tracing?.record({ ...span, name: 'deliver' });
  await tracing?.stop();
  expect(sink.spans.map(({ name }) => name)).toEqual(['place', 'deliver']);
});

it('a collector that refuses spans does not get them again', async () => {
  sink.reply(400);
  const tracing = await start();
  tracing?.record(span);
  await expect.poll(() => lines.length).toBe(1);
  sink.reply(200);
  await tracing?.stop();
  expect(sink.spans).toEqual([]);
});

it('memory for spans is limited while there is no collector', async () => {
  sink.stop();
  const tracing = await start();
  for (let count = 0; count < 5_000; count += 1) tracing?.record(span);
  await tracing?.stop();
  expect(lines.join('')).toContain('spans dropped');
});

it('there is no tracer without an endpoint', async () => {
  expect(await startTracing(settingsOf({}), { service: 'gantry-test', log })).toBeNull();
});

it('settings that cannot be used are refused by name', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' };
  expect(() => settingsOf(endpoint)).toThrow(/^OTEL_EXPORTER_OTLP_ENDPOINT must be an http/);
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'no value' };
  expect(() => settingsOf(headers)).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS must be pairs/);
  const exact = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.test/otlp' };
  expect(settingsOf(exact)).toEqual({ url: 'https://collector.test/otlp', headers: {} });
});

it.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-future', true],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', false],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
  ['garbage', false],
  [undefined, false],
])('the header traceparent %s is read as one: %s', (header, isRead) => {
  expect(parseTraceParent(header) !== undefined).toBe(isRead);
});
