import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StorageCluster } from '../storage-cluster.ts';
import type { NewShare, Share } from '../storage-shares.ts';

/** A cluster with a file system and a data pool that are both called `shares`. */
export type ShareContractCluster = {
  cluster: StorageCluster;
  /** Mounts a share as a client of its own: with the key, or as the administrator. */
  mount(share: Share, key?: { entity: string; key: string }): Promise<ShareContractClient>;
};

export type ShareContractClient = {
  /** With a port and a nonce. */
  address: string;
  /** Replaces the content, and returns when the cluster has stored it. */
  write(text: string): Promise<void>;
  read(): Promise<string>;
  close(): Promise<void>;
  /** Ends the client as if it had been killed. */
  kill(): Promise<void>;
};

const MIB = 2 ** 20;

/** What the control plane relies on for shared volumes. */
export function describeShareContract(make: () => Promise<ShareContractCluster>): void {
  let under: ShareContractCluster;
  let cluster: StorageCluster;
  const make8 = (share: Partial<NewShare> = {}): NewShare => ({
    ...{ fileSystem: 'shares', installation: 'here', name: randomUUID() },
    ...{ pool: 'shares', sizeBytes: 8 * MIB },
    ...share,
  });
  const create = (share: Partial<NewShare> = {}) => cluster.createShare(make8(share));

  beforeAll(async () => {
    under = await make();
    cluster = under.cluster;
  });
  afterAll(() => cluster?.close());

  it('a share is shown and listed after its creation, for its installation only', async () => {
    const wanted = make8();
    expect(await cluster.readShare(wanted)).toBeNull();
    const created = await cluster.createShare(wanted);
    const path = `/gantry/here/${wanted.name}/data`;
    expect(created).toEqual({ ...wanted, path, watchers: [] });
    expect(await cluster.readShare(wanted)).toEqual(created);
    expect(await cluster.listShares(wanted)).toContain(wanted.name);
    expect(await cluster.listShares({ ...wanted, installation: 'other' })).toEqual([]);
    expect(await cluster.readShare({ ...wanted, installation: 'other' })).toBeNull();
  });

  it('to create a share again changes nothing, also if several calls do so at once', async () => {
    const wanted = make8();
    const all = await Promise.all([1, 2, 3].map(() => cluster.createShare(wanted)));
    for (const each of all) expect(each).toEqual(all[0]);
    expect(await cluster.createShare({ ...wanted, sizeBytes: 16 * MIB })).toEqual(all[0]);
    const elsewhere = cluster.createShare({ ...wanted, pool: 'volumes' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'exists' });
  });

  it('a file system that does not exist, or a pool that is not its own, is not found', async () => {
    const absent = { code: 'not_found' };
    await expect(create({ fileSystem: 'absent' })).rejects.toMatchObject(absent);
    await expect(create({ pool: 'volumes' })).rejects.toMatchObject(absent);
    await expect(cluster.listShares(make8({ fileSystem: 'absent' }))).rejects.toMatchObject(absent);
    await expect(cluster.endFencedSessions('absent')).rejects.toMatchObject(absent);
  });

  it('all clients see the content, and cannot store more than the size, which grows', async () => {
    const share = await create();
    const [one, other] = [await under.mount(share), await under.mount(share)];
    await one.write('by one');
    await expect.poll(() => other.read()).toBe('by one');
    const large = 'x'.repeat(12 * MIB);
    await expect(other.write(large)).rejects.toThrow(/quota|-122|full/i);
    await cluster.growShare({ ...share, sizeBytes: 32 * MIB });
    await cluster.growShare({ ...share, sizeBytes: 32 * MIB });
    await expect.poll(() => other.write(large).then(() => 'written', String)).toBe('written');
    const smaller = cluster.growShare({ ...share, sizeBytes: 8 * MIB });
    await expect(smaller).rejects.toMatchObject({ code: 'failed' });
    expect(await cluster.readShare(share)).toMatchObject({ sizeBytes: 32 * MIB });
    await one.close();
    await other.close();
    const absent = cluster.growShare(make8());
    await expect(absent).rejects.toMatchObject({ code: 'not_found' });
  });

  it('a share is removed with its content, but not while a client has it mounted', async () => {
    const share = await create();
    const client = await under.mount(share);
    await client.write('content');
    expect(await cluster.readShare(share)).toMatchObject({ watchers: [client.address] });
    await expect(cluster.removeShare(share)).rejects.toMatchObject({ code: 'busy' });
    expect(await client.read()).toBe('content');
    await client.close();
    await cluster.removeShare(share);
    await cluster.removeShare(share);
    expect(await cluster.readShare(share)).toBeNull();
    expect(await cluster.listShares(share)).not.toContain(share.name);
    const again = await under.mount(await cluster.createShare(share));
    await expect(again.read()).resolves.toBe('');
    await again.close();
  });

  it('a key stays the same until it is removed, and mounts its share only', async () => {
    const [share, other] = [await create(), await create()];
    const entity = `gantry-${share.name}`;
    const key = await cluster.createShareKey({ entity, share });
    expect(await cluster.createShareKey({ entity, share })).toBe(key);
    const taken = cluster.createShareKey({ entity, share: other });
    await expect(taken).rejects.toMatchObject({ code: 'exists' });
    const client = await under.mount(share, { entity, key });
    await client.write('with the key');
    await client.close();
    await expect(under.mount(other, { entity, key })).rejects.toThrow();
    await cluster.removeKey(entity);
    expect(await cluster.listKeys(entity)).toEqual([]);
    await expect(under.mount(share, { entity, key })).rejects.toThrow();
  });

  it('a fenced client has no session, and what it tried to write never arrives', async () => {
    const share = await create();
    const [old, next] = [await under.mount(share), await under.mount(share)];
    await old.write('written before the fence');
    await cluster.fence([old.address]);
    await cluster.endFencedSessions(share.fileSystem);
    await expect
      .poll(async () => (await cluster.readShare(share))?.watchers)
      .toEqual([next.address]);
    await next.write('written after the fence');
    await expect(old.write('written by the fenced client')).rejects.toThrow();
    await cluster.unfence([old.address]);
    // It may connect again, but has thrown away what it could not write.
    await old.read().catch(() => '');
    expect(await next.read()).toBe('written after the fence');
    await old.kill();
    expect(await next.read()).toBe('written after the fence');
    await next.close();
  });
}
