import { StorageError } from '@gantry/ceph/storage-error';
import { describe, expect, it } from 'vitest';
import { shownReason, storageFailure } from './storage-failure.ts';

const failed = (message: string) => shownReason(new StorageError('failed', message));

describe('what a tenant sees of a storage error', () => {
  it('has the name of a file and not its path', () => {
    expect(failed("The backup file /srv/backups/d1/b1.diff is damaged: it's short.")).toBe(
      "The backup file b1.diff is damaged: it's short.",
    );
    expect(failed("EACCES: permission denied, open '/etc/gantry/keys/main.key'")).toBe(
      "EACCES: permission denied, open 'main.key'",
    );
    expect(failed('the directory of backups /srv/backups cannot be used: ENOENT')).toBe(
      'the directory of backups … cannot be used: ENOENT',
    );
    expect(failed('qemu-img: /var/tmp/gantry-image-x1/raw: File too large')).toBe(
      'qemu-img: …: File too large',
    );
  });

  it('has no address of a host', () => {
    expect(failed('10.9.1.4:0/3217 and [fd00::7]:0/99 did not reply')).toBe(
      '… and … did not reply',
    );
    expect(failed('connect ECONNREFUSED 192.168.7.20:3300')).toBe('connect ECONNREFUSED …');
  });

  it('leaves everything else as it is', () => {
    for (const message of [
      'The volume 0196f5d2-3b5e-7c11-9a55-1d4f8e6c2b7a would be smaller than its image.',
      'the SHA-256 of https://example.com/images/a.raw is 12:34 and should be 56',
      'the file has the format qcow2, not raw',
    ])
      expect(failed(message)).toBe(message);
  });

  it('says nothing about clients and monitors if the cluster refuses or does not reply', () => {
    for (const code of ['busy', 'denied', 'fenced', 'unreachable', 'full'] as const) {
      const { message } = storageFailure(
        new StorageError(code, '10.9.1.4:0/3217 /etc/gantry/main.key client.gantry'),
      );
      expect(message).not.toMatch(/10\.9|gantry/);
    }
  });
});
