import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe } from 'vitest';
import { CONTROL_PLANE_RIGHTS, connectCeph } from './ceph-cluster.ts';
import type { ContractClient } from './testing/contract-cluster.ts';
import { startRbdClient } from './testing/rbd-client.ts';
import { describeStorageClusterContract } from './testing/storage-cluster-contract.ts';

describe('a Ceph cluster', () => {
  let ceph: TestCeph;
  /** A test that fails leaves its clients open. */
  const clients: ContractClient[] = [];
  beforeAll(async () => {
    ceph = await startCeph();
  });
  afterAll(async () => {
    for (const each of clients) await each.kill();
    await ceph?.stop();
  });

  describeStorageClusterContract(async () => {
    const pool = 'volumes';
    const rights = ['mon', CONTROL_PLANE_RIGHTS.mon, 'osd', CONTROL_PLANE_RIGHTS.osd];
    await ceph.run('ceph', 'auth', 'get-or-create', 'client.gantry', ...rights);
    const key = (await ceph.run('ceph', 'auth', 'get-key', 'client.gantry')).trim();
    return {
      cluster: connectCeph({ ...ceph, userName: 'gantry', key }),
      pool,
      open: async (at) => {
        const client = await startRbdClient(ceph, at);
        clients.push(client);
        return client;
      },
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
