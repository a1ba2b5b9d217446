import { describe, expect, it } from 'vitest';
import { simulateCluster } from './simulated-cluster.ts';
import { describeShareContract } from './testing/share-contract.ts';
import { describeStorageClusterContract } from './testing/storage-cluster-contract.ts';

const pool = 'volumes';
const labels = { installation: 'here', resource: 'v' };
const newVolume = { pool, name: 'v', sizeBytes: 1, labels };

describe('the simulated cluster', () => {
  describeStorageClusterContract(async () => {
    const cluster = simulateCluster();
    let clients = 0;
    return {
      cluster,
      pool,
      open: async (at) => {
        const address = `192.0.2.1:0/${++clients}`;
        const client = cluster.open({ ...at, address });
        return {
          address,
          write: async (text) => client.write(text),
          close: async () => client.close(),
          kill: async () => client.kill(),
        };
      },
      read: async ({ passphrase, ...at }) => cluster.readContent({ ...at, passphrase }),
      addForeignVolume: async (at) => cluster.addForeignVolume(at),
      listTrash: async () => cluster.listTrash(pool),
    };
  });

  describe('shared volumes', () => {
    describeShareContract(async () => {
      const cluster = simulateCluster();
      let clients = 0;
      return {
        cluster,
        mount: async (share, key) => {
          const address = `192.0.2.1:0/${++clients}`;
          const client = cluster.mount({ ...share, address, ...(key && { key: key.key }) });
          return {
            address,
            write: async (text) => client.write(text),
            read: async () => client.read(),
            close: async () => client.close(),
            kill: async () => client.close(),
          };
        },
      };
    });
  });

  it('a change whose reply is lost has happened, and one that was not sent has not', async () => {
    const cluster = simulateCluster();
    cluster.setNetwork('down');
    await expect(cluster.createVolume(newVolume)).rejects.toMatchObject({ code: 'unreachable' });
    cluster.setNetwork('up');
    expect(await cluster.readVolume(newVolume)).toBeNull();
    cluster.setNetwork('no_replies');
    await expect(cluster.createVolume(newVolume)).rejects.toMatchObject({ code: 'unreachable' });
    cluster.setNetwork('up');
    expect(await cluster.readVolume(newVolume)).not.toBeNull();
  });

  it('a full pool refuses new volumes, and accepts them when it has space again', async () => {
    const cluster = simulateCluster();
    cluster.setPool(pool, { sizeBytes: 10, usedBytes: 10 });
    await expect(cluster.createVolume(newVolume)).rejects.toMatchObject({ code: 'full' });
    expect(await cluster.isPoolFull(pool)).toBe(true);
    cluster.setPool(pool, null);
    expect(await cluster.isPoolFull(pool)).toBe(false);
    expect(await cluster.readPool(pool)).toBeNull();
    await cluster.createVolume(newVolume);
  });

  it('a key opens its own volume only, and none after it is removed', async () => {
    const cluster = simulateCluster();
    const volume = await cluster.createVolume(newVolume);
    await cluster.createVolume({ ...newVolume, name: 'w' });
    const key = await cluster.createKey({ entity: 'k', pool, volume });
    cluster.open({ pool, name: 'v', address: '192.0.2.1:0/1', key }).close();
    const open = (name: string) => () =>
      cluster.open({ pool, name, address: '192.0.2.1:0/2', key });
    expect(open('w')).toThrow('does not open');
    await cluster.removeKey('k');
    expect(open('v')).toThrow('does not open');
  });

  it('a fence of an address covers every client there, also later ones', async () => {
    const cluster = simulateCluster();
    await cluster.createVolume(newVolume);
    const client = cluster.open({ ...newVolume, address: '192.0.2.1:0/1' });
    const other = cluster.open({ ...newVolume, address: '192.0.2.11:0/1' });
    await cluster.fence(['192.0.2.1']);
    expect(() => client.write('x')).toThrow('fenced');
    expect(() => cluster.open({ ...newVolume, address: '192.0.2.1:0/2' })).toThrow('fenced');
    other.write('y');
    expect(cluster.readContent(newVolume)).toBe('y');
  });

  it('the lock of a client that was killed keeps others from writing until it is broken', async () => {
    const cluster = simulateCluster();
    await cluster.createVolume(newVolume);
    const killed = cluster.open({ ...newVolume, address: '192.0.2.1:0/1' });
    killed.write('x');
    killed.kill();
    const next = cluster.open({ ...newVolume, address: '192.0.2.2:0/1' });
    expect(() => next.write('y')).toThrow('left the lock');
    await cluster.fence(['192.0.2.1']);
    await cluster.breakLock(newVolume);
    next.write('y');
    expect(cluster.readContent(newVolume)).toBe('y');
  });
});
