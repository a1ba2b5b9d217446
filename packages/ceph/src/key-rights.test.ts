import { expect, it } from 'vitest';
import { renderKeyRights, renderShareRights } from './key-rights.ts';
import type { Volume } from './storage-cluster.ts';

const volume: Volume = {
  ...{ pool: 'p', name: 'v', id: '1a', sizeBytes: 1, labels: null, parentId: null },
  ...{ snapshots: [], watchers: [], locker: null, encrypted: false, isRestoring: false },
};

it('a key may write its volume and read its parent, and only that', () => {
  const { osd, mon } = renderKeyRights('p', { ...volume, parentId: '2b' });
  expect(mon).toBe('allow r');
  const rights = osd.split(', ').map((each) => /^allow (.*) pool=p object_prefix (.*)$/.exec(each));
  expect(rights.filter((each) => each?.[1] === 'rwx').map((each) => each?.[2])).toEqual([
    'rbd_data.1a.',
    'rbd_header.1a',
    'rbd_object_map.1a',
  ]);
  const read = rights.filter((each) => each?.[1] !== 'rwx').map((each) => each?.slice(1));
  expect(read).toEqual([
    ['rx', 'rbd_id.v'],
    ['rx', 'rbd_info'],
    ['rx', 'rbd_data.2b.'],
    ['rx', 'rbd_header.2b'],
    ['rx', 'rbd_object_map.2b'],
    ['class rbd dir_get_name', 'rbd_directory'],
    ['class rbd trash_get', 'rbd_trash'],
  ]);
});

it('a name that would add a right is refused', () => {
  expect(() => renderKeyRights('p', { ...volume, name: 'v, allow *' })).toThrow('part of a right');
  expect(() => renderKeyRights('p q', volume)).toThrow('part of a right');
});

it('a key of a share is limited to its path and to its namespace, and cannot set quotas', () => {
  const share = {
    ...{ fileSystem: 'fs', installation: 'i', name: 's', pool: 'p', path: '/gantry/i/s/data' },
    ...{ sizeBytes: 1, watchers: [] },
  };
  expect(renderShareRights(share)).toEqual({
    mon: 'allow r',
    mds: 'allow rw fsname=fs path=/gantry/i/s/data',
    osd: 'allow rw pool=p namespace=gantry-s',
    mark: 'namespace=gantry-s',
  });
  const wrong = { ...share, path: '/gantry/i/s, allow */data' };
  expect(() => renderShareRights(wrong)).toThrow('part of a right');
});
