import { expect, it } from 'vitest';
import { parseMountinfo } from '../../base/mountinfo.ts';
import { judgeMount } from './quota-mount.ts';

const on = (fileSystem: string, options: string) =>
  judgeMount(
    '/srv/shared',
    parseMountinfo(
      `22 1 254:0 / / rw - ext4 /dev/vda1 rw\n40 22 0:50 / /srv rw - ${fileSystem} source ${options}`,
    ),
  );

it.each([
  ['ext4', 'rw,prjquota', 'enforced'],
  ['xfs', 'rw,attr2,inode64,noquota', 'off'],
  ['xfs', 'rw,attr2,usrquota,prjquota', 'enforced'],
  // It counts, and limits nothing.
  ['xfs', 'rw,attr2,pqnoenforce', 'off'],
  ['ext4', 'rw,usrquota', 'off'],
  ['nfs4', 'rw,vers=4.2,addr=10.0.0.1', 'cluster'],
  ['ceph', 'rw,name=admin', 'cluster'],
  ['fuse.glusterfs', 'rw,user_id=0', 'cluster'],
  ['gfs2', 'rw,quota=on', 'cluster'],
  ['tmpfs', 'rw', 'incapable'],
  ['btrfs', 'rw,space_cache=v2', 'incapable'],
] as const)('%s with %s is %s', (fileSystem, options, state) => {
  expect(on(fileSystem, options)).toEqual({ state, fileSystem, mountPoint: '/srv' });
});

it('a bind mount is called by the first mount of its file system', () => {
  const mounts = parseMountinfo(
    '40 22 254:16 / /data rw - ext4 /dev/vdb rw,prjquota\n41 22 254:16 /part /srv rw - ext4 /dev/vdb rw,prjquota',
  );
  expect(judgeMount('/srv/shared', mounts)).toMatchObject({ mountPoint: '/data' });
});

it('a path that no mount shows is not known', () => {
  expect(judgeMount('/srv', [])).toBeNull();
});
