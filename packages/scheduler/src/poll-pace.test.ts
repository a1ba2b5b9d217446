import { expect, it } from 'vitest';
import { createPollPace } from './poll-pace.ts';

const NOTHING = { hosts: [], networkIds: [], unplaced: [], isUnsettled: false };
const VMS = { ...NOTHING, unplaced: ['eu-north-a'] };

it('a VM that comes alone does not delay the next poll', () => {
  const pace = createPollPace(100);
  pace.polled(VMS);
  expect(pace.pauseMs()).toBe(100);
  pace.polled(NOTHING);
  expect(pace.pauseMs()).toBe(100);
});

it('the poll gathers VMs that come in a stream for half a pause more, until none came', () => {
  const pace = createPollPace(100);
  for (const pause of [100, 150, 150]) {
    pace.polled(VMS);
    expect(pace.pauseMs()).toBe(pause);
  }
  pace.polled(NOTHING);
  expect(pace.pauseMs()).toBe(100);
  pace.polled(VMS);
  expect(pace.pauseMs()).toBe(100);
});

it('a run of many VMs during a poll makes the pause after it short', () => {
  const pace = createPollPace(100);
  pace.polling();
  pace.hurry();
  pace.polled(VMS);
  expect(pace.pauseMs()).toBe(25);
  pace.polling();
  pace.polled(VMS);
  expect(pace.pauseMs()).toBe(150);
});

it('the poll gathers no VMs while each run has many', () => {
  const pace = createPollPace(100);
  for (let i = 0; i < 4; i += 1) {
    pace.polling();
    pace.polled(VMS);
    expect(pace.pauseMs()).toBe(100);
    pace.hurry();
  }
});

it('the poll slows down after ten seconds without changes', () => {
  let nowMs = 0;
  const pace = createPollPace(100, () => nowMs);
  nowMs = 10_001;
  pace.polled(NOTHING);
  expect(pace.pauseMs()).toBe(200);
  pace.polled(VMS);
  expect(pace.pauseMs()).toBe(100);
});
