import type { Connection } from 'node-libvirt/connection';
import { LIBVIRT_ERROR } from 'node-libvirt/errors';
import { SECRET_USAGE } from 'node-libvirt/flags';
import {
  connectListAllSecrets,
  secretDefineXml,
  secretSetValue,
  secretUndefine,
} from 'node-libvirt/generated/procedures';
import { createQueue } from '../../base/queue.ts';
import { element, renderXml } from '../../base/xml.ts';
import type { DiskSpec } from '../../spec.ts';
import { isOwnSecret, passphraseUsageOf, usageOf, uuidOfUsage } from '../../volumes/secret-uuid.ts';
import { CHANGE_LIMIT } from '../call-limits.ts';
import type { SeenDomain } from '../domains/domain-view.ts';
import { idOfUuid, unless } from '../domains/libvirt-domains.ts';

type Key = Pick<NonNullable<DiskSpec['rbd']>, 'user' | 'key' | 'passphrase' | 'monitors'>;
type Secret = { type: 'ceph' | 'volume'; usage: string; value: Buffer };

/**
 * The keys and passphrases of volumes as secrets of libvirt, which passes them to QEMU. They are private, so libvirt shows them to no
 * client, and ephemeral, so they are on no disk: a restart of libvirtd removes them, and the agent defines them again.
 * A secret whose key no domain needs any more is removed.
 */
export class VolumeSecrets {
  /** The keys of each VM by disk, also of disks that are about to be attached. */
  readonly #keys = new Map<string, Map<string, Key>>();
  readonly #oneAtATime = createQueue();

  /** Defines the secrets of all volumes of a VM. Returns whether a key that it had is no longer needed. */
  async ensureAll(
    connection: Connection,
    vmId: string,
    disks: readonly DiskSpec[],
  ): Promise<boolean> {
    const before = [...(this.#keys.get(vmId)?.keys() ?? [])];
    const keys = keysOf(disks);
    if (keys.size > 0) this.#keys.set(vmId, keys);
    else this.#keys.delete(vmId);
    for (const key of keys.values()) await this.#define(connection, key);
    return before.some((diskId) => !keys.has(diskId));
  }

  /** Defines the secret of one more disk of a VM, if it is a volume. */
  async ensure(connection: Connection, vmId: string, disk: DiskSpec): Promise<void> {
    const keys = keysOf([disk]);
    this.#keys.set(vmId, new Map([...(this.#keys.get(vmId) ?? []), ...keys]));
    for (const key of keys.values()) await this.#define(connection, key);
  }

  /** The VM has the disk no longer; without a disk, it has no disk any more. */
  release(vmId: string, diskId?: string): void {
    if (diskId === undefined) this.#keys.delete(vmId);
    else this.#keys.get(vmId)?.delete(diskId);
  }

  /** Returns the monitors of the clusters that have volumes of the VM. */
  monitorsOf(vmId: string): string[] {
    return [...(this.#keys.get(vmId)?.values() ?? [])].flatMap(({ monitors }) => monitors);
  }

  /** Defines all secrets again that this process has defined, because libvirtd was restarted. */
  async restore(connection: Connection): Promise<void> {
    for (const keys of this.#keys.values())
      for (const key of keys.values()) await this.#define(connection, key);
  }

  /**
   * Removes the agent's secrets that no domain names. Removes nothing while a domain does not reply, because its disks
   * are not known for sure then.
   */
  async removeUnused(connection: Connection, domains: readonly SeenDomain[]): Promise<void> {
    if (domains.some(({ last, silence }) => last === null || silence !== null)) return;
    const named = new Set(
      domains.flatMap(({ last }) =>
        last?.facts.disks.flatMap(({ secretUuid, passphraseUuid }) => [secretUuid, passphraseUuid]),
      ),
    );
    const args = { needResults: 1, flags: 0 };
    const { secrets } = await connection.call(connectListAllSecrets, args, CHANGE_LIMIT);
    for (const secret of secrets) {
      const { usageId: usage, usageType } = secret;
      const uuid = idOfUuid(secret.uuid);
      const isOfVolume = usageType === SECRET_USAGE.ceph || usageType === SECRET_USAGE.volume;
      const isOwn = isOfVolume && isOwnSecret({ uuid, usage });
      if (!isOwn || named.has(uuid)) continue;
      await this.#oneAtATime(async () => {
        // A key that was needed meanwhile is in no domain that was read above.
        if (this.#isNeeded(uuid)) return;
        const removing = connection.call(secretUndefine, { secret }, CHANGE_LIMIT);
        await unless(LIBVIRT_ERROR.noSecret, removing);
      });
    }
  }

  #isNeeded(uuid: string): boolean {
    const keys = [...this.#keys.values()].flatMap((ofVm) => [...ofVm.values()]);
    return keys.flatMap(secretsOf).some(({ usage }) => uuidOfUsage(usage) === uuid);
  }

  async #define(connection: Connection, key: Key): Promise<void> {
    await this.#oneAtATime(async () => {
      for (const wanted of secretsOf(key)) {
        const args = { xml: renderSecret(wanted), flags: 0 };
        const { secret } = await connection.call(secretDefineXml, args, CHANGE_LIMIT);
        const { value } = wanted;
        await connection.call(secretSetValue, { secret, value, flags: 0 }, CHANGE_LIMIT);
      }
    });
  }
}

function keysOf(disks: readonly DiskSpec[]): Map<string, Key> {
  return new Map(disks.flatMap(({ id, rbd }) => (rbd ? [[id, rbd] as const] : [])));
}

/** libvirt takes the key as bytes, and the passphrase as the text that it is. */
function secretsOf({ user, key, passphrase }: Key): Secret[] {
  const opening: Secret = { type: 'ceph', usage: usageOf(user), value: Buffer.from(key, 'base64') };
  if (passphrase === '') return [opening];
  const usage = passphraseUsageOf(user);
  return [opening, { type: 'volume', usage, value: Buffer.from(passphrase) }];
}

function renderSecret({ type, usage }: Secret): string {
  const secret = element('secret', { ephemeral: 'yes', private: 'yes' }, [
    element('uuid', {}, uuidOfUsage(usage)),
    element('usage', { type }, [element(type === 'ceph' ? 'name' : 'volume', {}, usage)]),
  ]);
  return renderXml(secret);
}
