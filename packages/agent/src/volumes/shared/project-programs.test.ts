import { ExecError } from '@gantry/daemon/exec';
import { expect, it } from 'vitest';
import { HostFailure } from '../../base/failure.ts';
import { chooseProject, limitOf } from './choose-project.ts';
import { parseProject, parseUsed, projectPrograms } from './project-programs.ts';

it('the project of a directory is read, and whether it is inherited', () => {
  expect(parseProject('1073741830 --------------e----P-- /srv/shared/d/data\n')).toEqual({
    ...{ id: 1_073_741_830, isInherited: true },
  });
  expect(parseProject('    0 --------------e------- /srv/Private\n')).toEqual({
    ...{ id: 0, isInherited: false },
  });
  expect(() => parseProject('lsattr: nothing')).toThrow('lsattr shows no project');
});

it('a project counts as used if it has a limit, or uses space or files', () => {
  expect([...parseUsed(REPORT)].sort((one, other) => one - other)).toEqual([
    0, 12, 300, 1_073_741_830,
  ]);
});

it('a report without projects is refused, because it would make every project look free', () => {
  expect(() => parseUsed('')).toThrow('repquota shows no projects');
});

it('a program that is not installed is named with its package', async () => {
  const cause = new ExecError('spawn setquota ENOENT', {
    ...{ reason: 'not installed', stdout: '', stderr: '', cause: null },
  });
  const run = () => Promise.reject(new HostFailure('storage_failed', 'it failed', { cause }));
  await expect(projectPrograms(run).limit('/srv', 5, { kib: 4, inodes: 4 })).rejects.toMatchObject({
    code: 'storage_unsupported',
    message: expect.stringContaining('apt-get install quota e2fsprogs'),
  });
});

it('a free project is found in the range of Gantry, from any start', () => {
  const first = chooseProject(() => false, 0);
  expect(first).toBe(2 ** 30);
  expect(chooseProject((id) => id === first, 0)).toBe(first + 1);
  const last = chooseProject(() => false, 2 ** 30 - 1);
  expect(last).toBe(2 ** 31 - 1);
  expect(chooseProject((id) => id === last, 2 ** 30 - 1)).toBe(first);
  expect(chooseProject(() => false)).not.toBe(chooseProject(() => false));
});

it('a limit is the size in KiB, and a file for each 16 KiB', () => {
  expect(limitOf(2 ** 30)).toEqual({ kib: 2 ** 20, inodes: 65_536 });
  // 0 would be no limit.
  expect(limitOf(512)).toEqual({ kib: 1, inodes: 1 });
});

/** What quota 4.06 (Debian 12) prints about ext4; the last two lines were added. */
const REPORT = `Project,BlockStatus,FileStatus,BlockUsed,BlockSoftLimit,BlockHardLimit,BlockGrace,FileUsed,FileSoftLimit,FileHardLimit,FileGrace
#0,ok,ok,13,0,0,,2,0,0,
#300,ok,ok,0,0,1024,,0,0,0,
#1073741830,ok,ok,1,0,4096,,1,0,100,
#12,ok,ok,0,0,0,,1,0,0,
#1073741832,ok,ok,0,0,0,,0,0,0,
`;
