import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe } from 'vitest';
import { connectCeph } from './ceph-cluster.ts';
import { startRbdClient } from './testing/rbd-client.ts';
import { describeStorageClusterContract } from './testing/storage-cluster-contract.ts';

describe('a Ceph cluster', () => {
  let ceph: TestCeph;
  beforeAll(async () => {
    ceph = await startCeph();
  });
  afterAll(async () => {
    await ceph?.stop();
  });

  describeStorageClusterContract(async () => {
    const pool = 'volumes';
    const open = (at: { name: string }) => startRbdClient(ceph, { pool, name: at.name });
    return {
      cluster: connectCeph(ceph),
      pool,
      open,
      read: async (at) => {
        const client = await startRbdClient(ceph, { ...at, isReader: true });
        const text = await client.read();
        await client.close();
        return text;
      },
      addForeignVolume: async ({ name }) => {
        await ceph.run('rbd', 'create', '--size', '8M', `${pool}/${name}`);
      },
      listTrash: async () => {
        const output = await ceph.run('rbd', 'trash', 'ls', pool, '--format', 'json');
        return (JSON.parse(output) as { name: string }[]).map(({ name }) => name);
      },
    };
  });
});
