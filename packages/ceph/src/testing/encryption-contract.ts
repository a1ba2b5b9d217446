import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NewVolume, Volume } from '../storage-cluster.ts';
import type { ContractCluster } from './contract-cluster.ts';

const MIB = 2 ** 20;
const DENIED = { code: 'denied' };

type Under = { under(): ContractCluster; image(): Volume; imageText: string };

/** The guarantees of encrypted volumes. */
export function describeEncryptionContract({ under, image, imageText }: Under): void {
  const passphrase = randomBytes(32).toString('base64url');
  const encryption = { passphrase };
  const newVolume = (volume: Partial<NewVolume> = {}): NewVolume => {
    const name = randomUUID();
    const labels = { installation: 'here', resource: name };
    return { pool: under().pool, name, sizeBytes: 32 * MIB, labels, encryption, ...volume };
  };
  const writeText = async ({ pool, name }: NewVolume, text: string) => {
    const client = await under().open({ pool, name, passphrase });
    await client.write(text);
    await client.close();
  };
  const read = ({ pool, name }: NewVolume) => under().read({ pool, name, passphrase });

  describe('encrypted volumes', () => {
    it('an encrypted volume has the size that was wanted, grows, and is read with its passphrase only', async () => {
      const { cluster } = under();
      const wanted = newVolume();
      const created = await cluster.createVolume(wanted);
      expect(created).toMatchObject({ encrypted: true, sizeBytes: 32 * MIB, parentId: null });
      await writeText(wanted, 'secret');
      expect(await cluster.createVolume(wanted)).toMatchObject({ id: created.id });
      expect(await read(wanted)).toBe('secret');
      const { pool, name } = wanted;
      expect(await under().read({ pool, name })).not.toContain('secret');
      await cluster.growVolume({ pool, name, sizeBytes: 64 * MIB });
      const smaller = cluster.growVolume({ pool, name, sizeBytes: 32 * MIB });
      await expect(smaller).rejects.toMatchObject({ code: 'failed' });
      expect(await cluster.readVolume(wanted)).toMatchObject({ sizeBytes: 64 * MIB });
      expect(await read(wanted)).toBe('secret');
    });

    it('a volume that exists with another passphrase, or without encryption, is not taken over', async () => {
      const { cluster } = under();
      const wanted = newVolume();
      await cluster.createVolume(wanted);
      const other = cluster.createVolume({ ...wanted, encryption: { passphrase: 'another' } });
      await expect(other).rejects.toMatchObject(DENIED);
      const { encryption: _, ...plain } = wanted;
      await expect(cluster.createVolume(plain)).rejects.toMatchObject({ code: 'failed' });
      const unencrypted = newVolume();
      await cluster.createVolume({ ...plain, name: unencrypted.name, labels: unencrypted.labels });
      await expect(cluster.createVolume(unencrypted)).rejects.toMatchObject({ code: 'failed' });
    });

    it('an encrypted volume from an image is a copy of it that depends on nothing', async () => {
      const { cluster } = under();
      const wanted = newVolume({ image: image().name });
      expect(await cluster.createVolume(wanted)).toMatchObject({ encrypted: true, parentId: null });
      expect(await read(wanted)).toBe(imageText);
      const { pool, name } = wanted;
      expect(await under().read({ pool, name })).not.toContain(imageText);
      const small = cluster.createVolume(newVolume({ image: image().name, sizeBytes: MIB }));
      await expect(small).rejects.toMatchObject({ code: 'failed' });
      const absent = cluster.createVolume(newVolume({ image: 'absent' }));
      await expect(absent).rejects.toMatchObject({ code: 'not_found' });
    });

    it('a copy of an encrypted snapshot has its passphrase, and is never without encryption', async () => {
      const { cluster } = under();
      const source = newVolume();
      await cluster.createVolume(source);
      await writeText(source, 'copied');
      const from = { pool: source.pool, name: source.name, snapshot: 's' };
      await cluster.createSnapshot(from);
      await writeText(source, 'later');
      const to = newVolume({ sizeBytes: 64 * MIB });
      const copy = await cluster.copySnapshot({ from, to });
      expect(copy).toMatchObject({ encrypted: true, sizeBytes: 64 * MIB, parentId: null });
      expect(await read(to)).toBe('copied');
      const other = newVolume({ encryption: { passphrase: 'another' } });
      await expect(cluster.copySnapshot({ from, to: other })).rejects.toMatchObject(DENIED);
      expect(await cluster.readVolume(other)).toBeNull();
      const { encryption: _, ...plain } = newVolume();
      const unencrypted = cluster.copySnapshot({ from, to: plain });
      await expect(unencrypted).rejects.toMatchObject({ code: 'failed' });
      await cluster.restoreSnapshot(from);
      expect(await read(source)).toBe('copied');
    });

    it('a backup of an encrypted volume is encrypted, and needs its passphrase', async () => {
      const { cluster } = under();
      const directory = await mkdtemp(path.join(tmpdir(), 'gantry-encryption-contract-'));
      try {
        const source = newVolume();
        await cluster.createVolume(source);
        await writeText(source, 'backed up');
        const { pool, name } = source;
        const [snapshot, file] = ['s', path.join(directory, 'file')];
        await cluster.createSnapshot({ pool, name, snapshot });
        const at = { pool, name, snapshot, since: null, file };
        const { sha256 } = await cluster.exportSnapshot(at);
        expect((await readFile(file)).includes('backed up')).toBe(false);
        const parts = [{ file, sha256, snapshot }];
        const to = newVolume({ sizeBytes: 64 * MIB });
        expect(await cluster.importBackup({ ...to, parts })).toMatchObject({
          ...{ encrypted: true, sizeBytes: 64 * MIB },
        });
        expect(await read(to)).toBe('backed up');
        const other = newVolume({ encryption: { passphrase: 'another' } });
        await expect(cluster.importBackup({ ...other, parts })).rejects.toMatchObject(DENIED);
        expect(await cluster.readVolume(other)).toBeNull();
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  });
}
