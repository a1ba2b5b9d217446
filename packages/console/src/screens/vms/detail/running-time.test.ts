import type { Schemas } from '@gantry/sdk';
import { expect, it } from 'vitest';
import { runningMs } from './running-time.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const operation = (name: string, started: number, completed?: number) =>
  ({
    metadata: { operation_name: name },
    state: completed === undefined ? 'IN_PROGRESS' : 'SUCCEEDED',
    started_at: at(started),
    completed_at: completed === undefined ? '' : at(completed),
  }) as Schemas['Operation'];
const event = (type: string, minute: number) =>
  ({ type, created_at: at(minute) }) as Schemas['Event'];
const minutes = (operations: Schemas['Operation'][], events: Schemas['Event'][] = []) =>
  runningMs({ createdAt: at(0), operations, events, nowMs: Date.parse(at(100)) }) / 60_000;

it('a VM that is still being created has not run', () => {
  expect(minutes([operation('CREATE', 0)])).toBe(0);
});

it('a running VM counts from the end of its creation until now', () => {
  expect(minutes([operation('CREATE', 0, 10)])).toBe(90);
});

it('a stop counts from its request, and a start from its end', () => {
  const operations = [
    operation('CREATE', 0, 10),
    operation('STOP', 20, 25),
    operation('START', 50, 60),
  ];
  expect(minutes(operations.reverse())).toBe(10 + 40);
});

it('a reset pauses the time while it is under way', () => {
  expect(minutes([operation('CREATE', 0, 10), operation('RESET', 20, 25)])).toBe(10 + 75);
});

it('a crash ends the time', () => {
  expect(minutes([operation('CREATE', 0, 10)], [event('vm_crashed', 30)])).toBe(20);
});

it('a VM counts from its creation if that operation is not stored any more', () => {
  expect(minutes([operation('STOP', 20, 25)])).toBe(20);
});
