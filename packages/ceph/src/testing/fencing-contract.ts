import { describe, expect, it } from 'vitest';
import type { Volume } from '../storage-cluster.ts';
import type { ContractCluster } from './contract-cluster.ts';

/** What a fence guarantees: a client that was fenced never writes again, and the next one writes at once. */
export function describeFencingContract({
  under,
  create,
}: {
  under(): ContractCluster;
  create(): Promise<Volume>;
}): void {
  describe('fences', () => {
    it('a fenced client is no watcher any more, and can neither write nor keep the lock', async () => {
      const { cluster, open, read } = under();
      const volume = await create();
      const old = await open(volume);
      await old.write('written before the fence');
      const locked = await cluster.readVolume(volume);
      expect(locked).toMatchObject({ watchers: [old.address], locker: old.address });

      await cluster.fence([old.address]);
      await cluster.fence([old.address]);
      expect(await cluster.listFences()).toContain(old.address);
      await expect.poll(async () => (await cluster.readVolume(volume))?.watchers).toEqual([]);
      await cluster.breakLock(volume);
      await cluster.breakLock(volume);
      expect(await cluster.readVolume(volume)).toMatchObject({ locker: null });

      const next = await open(volume);
      await next.write('written after the fence');
      await expect(old.write('written by the fenced client')).rejects.toThrow();
      expect(await read(volume)).toBe('written after the fence');

      await cluster.unfence([old.address]);
      await cluster.unfence([old.address]);
      expect(await cluster.listFences()).not.toContain(old.address);
      await expect(old.write('written by the fenced client')).rejects.toThrow();
      await next.close();
      await old.kill();
      expect(await read(volume)).toBe('written after the fence');
    });

    it('the lock of a client that is not fenced is not broken', async () => {
      const { cluster, open } = under();
      const volume = await create();
      const client = await open(volume);
      await client.write('mine');
      await expect(cluster.breakLock(volume)).rejects.toMatchObject({ code: 'busy' });
      await client.write('still mine');
      await client.close();
      await cluster.breakLock(volume);
    });

    it('a fence of an address without a port is listed as it was given', async () => {
      const { cluster } = under();
      const addresses = ['192.0.2.17', '192.0.2.18:0/4711'];
      await cluster.fence(addresses);
      expect(await cluster.listFences()).toEqual(expect.arrayContaining(addresses));
      await cluster.unfence(addresses);
      const left = await cluster.listFences();
      expect(left.filter((each) => addresses.includes(each))).toEqual([]);
    });

    it('what is not an address is refused, and fences nothing', async () => {
      const { cluster } = under();
      for (const wrong of ['', 'host-1', '192.0.2.0/24', '192.0.2.19 86400']) {
        const attempt = cluster.fence(['192.0.2.20', wrong]);
        await expect(attempt).rejects.toMatchObject({ code: 'failed' });
      }
      expect(await cluster.listFences()).not.toContain('192.0.2.20');
    });
  });
}
