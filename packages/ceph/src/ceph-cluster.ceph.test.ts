import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROL_PLANE_RIGHTS, connectCeph } from './ceph-cluster.ts';
import type { ContractClient } from './testing/contract-cluster.ts';
import { startRbdClient } from './testing/rbd-client.ts';
import { mountShare } from './testing/share-client.ts';
import { describeShareContract } from './testing/share-contract.ts';
import { describeStorageClusterContract } from './testing/storage-cluster-contract.ts';

describe('a Ceph cluster', () => {
  let ceph: TestCeph;
  /** A test that fails leaves its clients open. */
  const clients: Pick<ContractClient, 'kill'>[] = [];
  beforeAll(async () => {
    ceph = await startCeph({ fileSystem: 'shares' });
  });
  afterAll(async () => {
    for (const each of clients) await each.kill();
    await ceph?.stop();
  });

  const connect = async () => {
    const rights = Object.entries(CONTROL_PLANE_RIGHTS).flat();
    await ceph.run('ceph', 'auth', 'get-or-create', 'client.gantry', ...rights);
    const key = (await ceph.run('ceph', 'auth', 'get-key', 'client.gantry')).trim();
    return connectCeph({ ...ceph, userName: 'gantry', key });
  };

  describe('shared volumes', () => {
    describeShareContract(async () => ({
      cluster: await connect(),
      mount: async (share, key) => {
        const client = await mountShare(ceph, { share, ...key });
        clients.push(client);
        return client;
      },
    }));
  });

  it('a key without rights at metadata servers serves volumes, and the error for shares names the right', async () => {
    const { mon, osd } = CONTROL_PLANE_RIGHTS;
    await ceph.run('ceph', 'auth', 'get-or-create', 'client.blocks', 'mon', mon, 'osd', osd);
    const key = (await ceph.run('ceph', 'auth', 'get-key', 'client.blocks')).trim();
    const cluster = connectCeph({ ...ceph, userName: 'blocks', key });
    try {
      const reading = cluster.readShare({ fileSystem: 'shares', installation: 'i', name: 's' });
      await expect(reading).rejects.toMatchObject({ code: 'failed' });
      await expect(reading).rejects.toThrow("mds 'allow *'");
      await expect(cluster.listVolumes('volumes')).resolves.toEqual(expect.any(Array));
    } finally {
      await cluster.close();
    }
  });

  describeStorageClusterContract(async () => {
    const pool = 'volumes';
    return {
      cluster: await connect(),
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
