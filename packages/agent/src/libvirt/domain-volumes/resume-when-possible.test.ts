import { createLog } from '@gantry/daemon/log';
import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_STATE } from 'node-libvirt/flags';
import { beforeEach, expect, it } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { resumeWhenPossible } from './resume-when-possible.ts';

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const IO_ERROR = 5;
const BY_USER = 1;
const log = createLog({ process: 'test', level: 'silent' });

let resumed: number;
let due: (() => void)[];
const clock: Clock = {
  nowMs: () => 0,
  after: (_delayMs, run) => {
    due.push(run);
    return () => void due.splice(due.indexOf(run), 1);
  },
};
beforeEach(() => {
  resumed = 0;
  due = [];
});

/** libvirt with one paused domain. */
function watchPaused({ reason, isOurs = true }: { reason: number; isOurs?: boolean }) {
  const metadata = `<metadata><gantry:vm xmlns:gantry='https://gantry.dev/xmlns/domain/1' id='${VM}' revision='1' generation='1'/></metadata>`;
  const xml = `<domain><name>gantry-${VM}</name><uuid>${VM}</uuid>${isOurs ? metadata : ''}</domain>`;
  const replies: Record<string, () => unknown> = {
    DOMAIN_GET_XML_DESC: () => ({ xml }),
    DOMAIN_IS_PERSISTENT: () => ({ persistent: 1 }),
    DOMAIN_GET_STATE: () => ({ state: DOMAIN_STATE.paused, reason }),
    DOMAIN_RESUME: () => {
      resumed += 1;
    },
  };
  const call = async ({ name }: { name: string }) => replies[name]?.();
  const connection = { call } as unknown as Connection;
  let settled: Promise<unknown> = Promise.resolve();
  const stop = resumeWhenPossible({
    ...{ clock, log },
    view: { stoppedByStorage: () => [VM], noticed: () => {} },
    lines: {
      run: (_vmId, _lane, work) => {
        const working = work(connection);
        settled = working;
        return working;
      },
    },
  });
  const attempt = async () => {
    due.shift()?.();
    await settled;
  };
  return { stop, attempt };
}

it('a VM that its storage has stopped is resumed again and again until it runs', async () => {
  const { attempt } = watchPaused({ reason: IO_ERROR });
  await attempt();
  await attempt();
  expect(resumed).toBe(2);
});

it('a VM that an operator has paused stays paused, and so does a VM of another program', async () => {
  await watchPaused({ reason: BY_USER }).attempt();
  due = [];
  await watchPaused({ reason: IO_ERROR, isOurs: false }).attempt();
  expect(resumed).toBe(0);
});

it('nothing is attempted after the end', () => {
  watchPaused({ reason: IO_ERROR }).stop();
  expect(due).toEqual([]);
});
