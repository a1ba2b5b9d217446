import type { Duplex } from 'node:stream';
import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { AFFECT, BLOCK_RESIZE, SHUTDOWN, UNDEFINE } from 'node-libvirt/flags';
import {
  domainBlockResize,
  domainCreateWithFlags,
  domainDestroyFlags,
  domainRename,
  domainReset,
  domainResume,
  domainShutdownFlags,
  domainUndefineFlags,
} from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import type { Domain, DomainWatcher, GuestHardware, Hypervisor } from '../host-driver.ts';
import { type DiskSpec, isBelow, type VmSpec } from '../spec.ts';
import type { VolumeDriver } from '../volumes/volume-driver.ts';
import { attachDevice } from './attach-device.ts';
import { CHANGE_LIMIT, endLimit, startLimit } from './call-limits.ts';
import { defineDomain } from './define-domain.ts';
import { detachDevice } from './detach-device.ts';
import type { domainDescriber } from './domain-xml/describe-domain.ts';
import { domainName, PROBE_VM_ID } from './domain-xml/domain-definition.ts';
import { targetOfSlot } from './domain-xml/render-disk.ts';
import {
  type FoundDomain,
  findDomain,
  findDomains,
  keepMetadata,
  type ListedDomain,
} from './libvirt-domains.ts';
import type { SerialLogFiles } from './serial-log.ts';

/** What the hypervisor needs from the rest of the host. */
export type LibvirtHost = ReturnType<typeof domainDescriber> & {
  connection(): Promise<Connection>;
  volumes: Pick<VolumeDriver, 'read' | 'prepareGrowth'>;
  /** Returns the PCI addresses of the devices that are assigned to a VM. */
  devicesOf(vmId: string): Promise<ReadonlySet<string>>;
  serialLogs: SerialLogFiles;
  removeNvram(vmId: string): Promise<void>;
  openConsole(domain: FoundDomain): Promise<Duplex>;
  watch(watcher: DomainWatcher): () => void;
};

const FORGET_ALL =
  UNDEFINE.nvram | UNDEFINE.managedSave | UNDEFINE.snapshotsMetadata | UNDEFINE.checkpointsMetadata;

/**
 * The domains of this host's libvirt daemon. What the agent knows about a domain is in its
 * metadata.
 */
export class LibvirtHypervisor implements Hypervisor {
  readonly #host: LibvirtHost;

  constructor(host: LibvirtHost) {
    this.#host = host;
  }

  async list(): Promise<readonly Domain[]> {
    const domains = await findDomains(await this.#host.connection());
    const ours = domains.filter(({ vmId }) => vmId !== PROBE_VM_ID);
    return await Promise.all(ours.map((domain) => this.#show(domain)));
  }

  async define(vm: VmSpec, kept: GuestHardware | null = null): Promise<GuestHardware | null> {
    const connection = await this.#host.connection();
    const present = await findDomain(connection, vm.id);
    const described = await this.#host.describe(vm, present?.facts ?? null, kept);
    if (present?.state !== 'running') {
      if (present) await ensureName(connection, present);
      await defineDomain(connection, described);
      return (await this.#require(connection, vm.id)).facts.hardware;
    }
    const { generation } = described.metadata;
    const metadata = {
      ...described.metadata,
      generation: isBelow(generation, vm.generation) ? vm.generation : generation,
    };
    await defineDomain(connection, { ...described, metadata });
    await keepMetadata(connection, present, { metadata, flags: AFFECT.live });
    return present.facts.hardware;
  }

  async start(vmId: string, generation: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await this.#require(connection, vmId);
    const { metadata } = domain.facts;
    if (domain.state === 'running') {
      // A start whose end was not seen has already started it.
      if (metadata && isBelow(metadata.generation, generation))
        await this.#keepGeneration(connection, domain, generation);
      return;
    }
    if (!metadata) throw new HostFailure('host_failed', `domain ${vmId} is not one of ours`);
    await this.#requireDevices(
      vmId,
      metadata.devices.map(({ address }) => address),
    );
    await this.#host.serialLogs.prepare();
    await connection.call(
      domainCreateWithFlags,
      { dom: domain.handle, flags: 0 },
      startLimit(domain.facts),
    );
    await this.#keepGeneration(connection, domain, generation);
  }

  async reset(vmId: string, generation: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await this.#requireRunning(connection, vmId);
    await connection.call(domainReset, { dom: domain.handle, flags: 0 }, CHANGE_LIMIT);
    if (domain.isPaused) await connection.call(domainResume, { dom: domain.handle }, CHANGE_LIMIT);
    await this.#keepGeneration(connection, domain, generation);
  }

  async askShutdown(vmId: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await findDomain(connection, vmId);
    if (domain?.state !== 'running') return;
    const ask = (flags: number) =>
      connection.call(domainShutdownFlags, { dom: domain.handle, flags }, CHANGE_LIMIT);
    try {
      await ask(SHUTDOWN.guestAgent);
    } catch {
      // Without a guest agent that replies, the power button is the only way.
      await ask(SHUTDOWN.acpiPowerButton);
    }
  }

  async powerOff(vmId: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await findDomain(connection, vmId);
    if (domain?.state !== 'running') return;
    const args = { dom: domain.handle, flags: 0 };
    const ending = connection.call(domainDestroyFlags, args, endLimit(domain.facts));
    await unless(LIBVIRT_ERROR.operationInvalid, unless(LIBVIRT_ERROR.noDomain, ending));
  }

  async undefine(vmId: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await findDomain(connection, vmId);
    if (domain?.state === 'running') {
      throw new HostFailure('host_failed', `domain ${vmId} runs and cannot be undefined`);
    }
    if (domain) {
      const args = { dom: domain.handle, flags: FORGET_ALL };
      await unless(
        LIBVIRT_ERROR.noDomain,
        connection.call(domainUndefineFlags, args, CHANGE_LIMIT),
      );
    }
    await this.#host.serialLogs.remove(vmId);
    // libvirt removes the file only with a definition that names it, and there may have been none.
    await this.#host.removeNvram(vmId);
  }

  async attachDisk(vmId: string, disk: DiskSpec): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await this.#requireRunning(connection, vmId);
    if (hasDisk(domain, disk.id)) return;
    const described = await this.#host.describeDisk(disk, domain.facts);
    await attachDevice(connection, domain, described);
  }

  async detachDisk(vmId: string, diskId: string): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await findDomain(connection, vmId);
    if (domain?.state !== 'running' || !hasDisk(domain, diskId)) return;
    await detachDevice(connection, domain, diskId);
  }

  async growDisk(vmId: string, disk: DiskSpec): Promise<void> {
    const connection = await this.#host.connection();
    const domain = await this.#requireRunning(connection, vmId);
    await this.#host.volumes.prepareGrowth(disk);
    const slot = domain.facts.disks.find(({ id }) => id === disk.id)?.slot ?? null;
    // A shared directory has no size that guests would see.
    if (slot === null) return;
    const size = { size: BigInt(disk.sizeBytes), flags: BLOCK_RESIZE.bytes };
    const args = { dom: domain.handle, disk: targetOfSlot(slot), ...size };
    await connection.call(domainBlockResize, args, CHANGE_LIMIT);
  }

  async readSerialLog(vmId: string): Promise<string> {
    return await this.#host.serialLogs.readTail(vmId);
  }

  async openConsole(vmId: string): Promise<Duplex> {
    const connection = await this.#host.connection();
    const domain = await findDomain(connection, vmId);
    if (domain?.state !== 'running') {
      throw new HostFailure('vm_not_running', `domain ${vmId} does not run`);
    }
    return await this.#host.openConsole(domain);
  }

  watch(watcher: DomainWatcher): () => void {
    return this.#host.watch(watcher);
  }

  async #show({ vmId, state, facts, isTransient }: ListedDomain): Promise<Domain> {
    const { metadata } = facts;
    const ids = [...facts.disks, ...facts.filesystems].flatMap(({ id }) => id ?? []);
    // A domain that cannot be read, or another program's domain with a similar name, must not hide
    // the rest.
    const volumes = await Promise.all(
      ids.map((id) => this.#host.volumes.read(id).catch(() => null)),
    );
    return {
      vmId,
      state,
      revision: isTransient ? '0' : (metadata?.revision ?? '0'),
      generation: metadata?.generation ?? '0',
      // Of a domain that is not ours nothing is known but what it holds.
      devices: metadata?.devices ?? facts.hostdevs.map((address) => ({ address })),
      disks: ids.map((id, index) => volumes[index] ?? { id, sizeBytes: '0' }),
    };
  }

  async #require(connection: Connection, vmId: string): Promise<FoundDomain> {
    const domain = await findDomain(connection, vmId);
    if (!domain) throw new HostFailure('host_failed', `there is no domain ${vmId}`);
    return domain;
  }

  async #requireRunning(connection: Connection, vmId: string): Promise<FoundDomain> {
    const domain = await this.#require(connection, vmId);
    if (domain.state !== 'running') {
      throw new HostFailure('host_failed', `domain ${vmId} does not run`);
    }
    return domain;
  }

  async #requireDevices(vmId: string, addresses: readonly string[]): Promise<void> {
    const bound = await this.#host.devicesOf(vmId);
    const missing = addresses.filter((address) => !bound.has(address));
    if (missing.length > 0) {
      const message = `${missing.join(', ')}: not bound for VM ${vmId}`;
      throw new HostFailure('device_missing', message);
    }
  }

  /** Written afterwards, so that a failed start is not taken for a guest that died. */
  async #keepGeneration(
    connection: Connection,
    domain: FoundDomain,
    generation: string,
  ): Promise<void> {
    if (!domain.facts.metadata) return;
    const metadata = { ...domain.facts.metadata, generation };
    await keepMetadata(connection, domain, { metadata, flags: AFFECT.live });
    // A domain that was undefined while it ran has only its live metadata.
    const kept = keepMetadata(connection, domain, { metadata, flags: AFFECT.config });
    await unless(LIBVIRT_ERROR.operationInvalid, kept);
  }
}

/** The domain may have been renamed; libvirt would refuse a definition under the usual name. */
async function ensureName(connection: Connection, { handle, facts, vmId }: FoundDomain) {
  const newName = domainName(vmId);
  if (facts.name === newName) return;
  await connection.call(domainRename, { dom: handle, newName, flags: 0 }, CHANGE_LIMIT);
}

/** Ignores the error of a call whose work was already done by another program. */
async function unless(code: number, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isLibvirtError(error, code)) throw error;
  }
}

function hasDisk({ facts }: FoundDomain, diskId: string): boolean {
  return [...facts.disks, ...facts.filesystems].some(({ id }) => id === diskId);
}
