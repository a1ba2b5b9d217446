import { afterEach, expect, it } from 'vitest';
import type { QuotaMount } from '../../volumes/shared/quota-mount.ts';
import { doctorHosts } from '../testing/doctor-hosts.ts';
import { checkSharedVolumes } from './check-shared-volumes.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const PROGRAMS = {
  ...{ 'usr/sbin/setquota': '', 'usr/sbin/repquota': '' },
  ...{ 'usr/bin/chattr': '', 'usr/bin/lsattr': '' },
};
const DIRECTORY = '/var/lib/gantry-data/shared';

type Found = Partial<QuotaMount> & { root?: Record<string, string>; unlimited?: string[] };

const check = async ({ root = PROGRAMS, unlimited = [], ...mount }: Found) =>
  checkSharedVolumes(
    await make({
      root,
      readQuotaMount: async () => ({
        ...{ state: 'enforced', fileSystem: 'ext4', mountPoint: '/srv' },
        ...mount,
      }),
      listUnlimited: async () => unlimited,
    }),
  );

it('a directory whose file system enforces the sizes is fine', async () => {
  expect(await check({})).toEqual([
    expect.objectContaining({ severity: 'ok', found: `${DIRECTORY} enforces their sizes` }),
  ]);
});

it('a directory that several hosts have is fine, and its sizes are not enforced', async () => {
  const [finding] = await check({ state: 'cluster', fileSystem: 'nfs4' });
  expect(finding).toMatchObject({
    severity: 'ok',
    found: `${DIRECTORY} is on nfs4: their sizes are recorded, not enforced`,
  });
});

it.each([
  ['ext4', 'off', '/srv', /unmount \/srv, run tune2fs -O quota,project -Q prjquota .* prjquota/],
  ['ext4', 'off', '/', /a file system of its own, made with mkfs.ext4 -O quota,project/],
  ['xfs', 'off', '/srv', /unmount \/srv, add prjquota to its options/],
  ['xfs', 'off', '/', /rootflags=prjquota/],
  ['btrfs', 'incapable', '/srv', /GANTRY_SHARED_DIRECTORY .* mkfs.ext4 -O quota,project/],
] as const)(
  '%s that is %s at %s is a warning that says what to do',
  async (fileSystem, state, mountPoint, advice) => {
    expect(await check({ fileSystem, state, mountPoint })).toMatchObject([
      {
        ...{ severity: 'warn', found: expect.stringContaining(`${DIRECTORY} is on ${fileSystem}`) },
        advice: expect.stringMatching(advice),
      },
    ]);
  },
);

it.each([
  ['usr/sbin/setquota', 'quota'],
  ['usr/sbin/repquota', 'quota'],
  ['usr/bin/chattr', 'e2fsprogs'],
  ['usr/bin/lsattr', 'e2fsprogs'],
])('quotas without %s are a failure that names the package', async (missing, packageName) => {
  const root = Object.fromEntries(Object.entries(PROGRAMS).filter(([path]) => path !== missing));
  expect(await check({ root })).toMatchObject([
    {
      ...{ severity: 'fail', found: expect.stringContaining(`/${missing} is missing`) },
      advice: `apt-get install ${packageName}`,
    },
  ]);
});

it('volumes without a limit are a warning that names some of them', async () => {
  expect(await check({ unlimited: ['a', 'b', 'c', 'd', 'e'] })).toMatchObject([
    { severity: 'warn', found: `${DIRECTORY} does not enforce the size of a, b, c and 2 more` },
  ]);
});
