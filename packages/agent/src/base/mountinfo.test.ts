import { expect, it } from 'vitest';
import { mountOf, parseMountinfo } from './mountinfo.ts';

const MOUNTS = parseMountinfo(
  [
    '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
    '40 22 254:16 / /srv rw,nosuid,nodev shared:9 master:2 - xfs /dev/vdb rw,attr2,prjquota',
    '41 22 0:45 / /srv/with\\040space rw - nfs4 server:/export rw,vers=4.2',
    '42 22 254:32 / /srv rw - ext4 /dev/vdc rw,prjquota',
    '',
  ].join('\n'),
);

it('a mount has its file system and the options of it', () => {
  expect(MOUNTS[1]).toEqual({
    ...{ majorMinor: '254:16', mountPoint: '/srv', source: '/dev/vdb' },
    ...{ fileSystem: 'xfs', options: ['rw', 'attr2', 'prjquota'] },
  });
});

it('the innermost and latest mount shows a path', () => {
  expect(mountOf('/srv/a/b', MOUNTS)?.source).toBe('/dev/vdc');
  expect(mountOf('/srv', MOUNTS)?.source).toBe('/dev/vdc');
  expect(mountOf('/srv/with space/a', MOUNTS)?.fileSystem).toBe('nfs4');
  expect(mountOf('/srvs', MOUNTS)?.source).toBe('/dev/vda1');
  expect(mountOf('/', MOUNTS)?.source).toBe('/dev/vda1');
  expect(mountOf('/a', [])).toBeNull();
});
