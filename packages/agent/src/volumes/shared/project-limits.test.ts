import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { ProjectLimits } from './project-limits.ts';
import { type ProjectPrograms, projectPrograms } from './project-programs.ts';
import type { QuotaMount } from './quota-mount.ts';

const directory = { path: tmpdir(), diskId: 'd', sizeBytes: 4_096 };
const refuse = () => Promise.reject(new Error('BUG: a program was started'));
const on = (mount: QuotaMount | null) =>
  new ProjectLimits({ programs: projectPrograms(refuse), readMount: async () => mount });

it.each([
  null,
  { state: 'off', fileSystem: 'ext4', mountPoint: '/' },
  { state: 'cluster', fileSystem: 'nfs4', mountPoint: '/srv' },
  { state: 'incapable', fileSystem: 'tmpfs', mountPoint: '/tmp' },
] as const)('without project quotas no program is started: %j', async (mount) => {
  const limits = on(mount);
  await limits.limitNew(directory);
  expect(await limits.limitExisting(directory, refuse)).toBeNull();
  await limits.release(directory.path);
});

it('with project quotas a program that fails makes the creation fail', async () => {
  const limits = on({ state: 'enforced', fileSystem: 'ext4', mountPoint: '/' });
  await expect(limits.limitNew(directory)).rejects.toThrow('a program was started');
});

it('a project that was chosen is not chosen again before its directory has it', async () => {
  const assigned: number[] = [];
  let choices = 0;
  let allowAssignments = () => {};
  const allowed = new Promise<void>((resolve) => {
    allowAssignments = resolve;
  });
  const programs: ProjectPrograms = {
    ...projectPrograms(refuse),
    listUsed: async () => {
      choices += 1;
      return new Set(assigned);
    },
    assign: async (_, id) => {
      await allowed;
      assigned.push(id);
    },
    limit: async () => {},
  };
  const mount = { state: 'enforced', fileSystem: 'ext4', mountPoint: '/' } as const;
  const limits = new ProjectLimits({ programs, readMount: async () => mount, start: 0 });
  const large = { ...directory, sizeBytes: Number.MAX_SAFE_INTEGER };
  const limited = Promise.all([1, 2, 3].map(() => limits.limitNew(large)));
  await expect.poll(() => choices).toBe(3);
  allowAssignments();
  await limited;
  expect(new Set(assigned).size).toBe(3);
});
