import type { Duplex } from 'node:stream';
import type { Connection } from 'node-libvirt/connection';
import { LIBVIRT_ERROR } from 'node-libvirt/errors';
import { UNDEFINE } from 'node-libvirt/flags';
import {
  domainCreateWithFlags,
  domainDestroyFlags,
  domainReset,
  domainResume,
  domainUndefineFlags,
} from 'node-libvirt/generated/procedures';
import type { Clock } from '../base/clock.ts';
import { HostFailure } from '../base/failure.ts';
import {
  type Domain,
  type DomainWatcher,
  type GuestHardware,
  type Hypervisor,
  isActive,
} from '../host-driver.ts';
import type { DiskCopying } from '../host-snapshots.ts';
import { type DiskSpec, isBelow, type VmSpec } from '../spec.ts';
import type { VolumeDriver } from '../volumes/volume-driver.ts';
import { askShutdown } from './ask-shutdown.ts';
import { attachDevice } from './attach-device.ts';
import { CHANGE_LIMIT, endLimit } from './call-limits.ts';
import { copyDisk } from './copy-disk.ts';
import { domainDefiner } from './define-domain.ts';
import { detachDevice } from './detach-device.ts';
import type { DomainVolumes } from './domain-volumes/domain-volumes.ts';
import { growVolume, keepVolumeSizes, volumesOf } from './domain-volumes/volume-sizes.ts';
import type { domainDescriber } from './domain-xml/describe-domain.ts';
import { PROBE_VM_ID } from './domain-xml/domain-definition.ts';
import type { DomainLines, Lane } from './domains/domain-lines.ts';
import type { DomainView } from './domains/domain-view.ts';
import {
  type FoundDomain,
  findDomain,
  hasDisk,
  keepGeneration,
  requireDomain,
  requireRunning,
  unless,
} from './domains/libvirt-domains.ts';
import { showFound, showSeen } from './domains/show-domain.ts';
import { untilStarted, withinStartLimit } from './domains/start-limit.ts';
import { freezeFileSystems, thawFileSystems } from './guest-file-systems.ts';
import { requireDevices } from './require-devices.ts';
import { growLocalDisk, limitDisk } from './running-disk.ts';
import type { SerialLogFiles } from './serial-log.ts';

/** What the hypervisor needs from the rest of the host. */
export type LibvirtHost = ReturnType<typeof domainDescriber> & {
  lines: DomainLines;
  view: DomainView;
  clock: Clock;
  volumes: Pick<VolumeDriver, 'read' | 'prepareGrowth'>;
  domainVolumes: DomainVolumes;
  /** See `domainDefiner`. */
  hugepagesAboveMib?: number | null;
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
  readonly #define: ReturnType<typeof domainDefiner>;

  constructor(host: LibvirtHost) {
    this.#host = host;
    this.#define = domainDefiner(host);
  }

  async list(): Promise<readonly Domain[]> {
    const seen = await this.#host.view.list();
    const ours = seen.filter(({ vmId }) => vmId !== PROBE_VM_ID);
    return await Promise.all(ours.map((domain) => showSeen(domain, this.#host.volumes)));
  }

  async read(vmId: string): Promise<Domain | null> {
    const domain = await this.#host.view.latest(vmId);
    return domain && (await showFound(domain, this.#host.volumes));
  }

  async define(vm: VmSpec, kept: GuestHardware | null = null): Promise<GuestHardware | null> {
    const { domainVolumes } = this.#host;
    let isUnused = false;
    const hardware = await this.#run(vm.id, 'change', async (connection) => {
      isUnused = await domainVolumes.ensureAll(connection, vm);
      return await this.#define(connection, vm, kept);
    });
    await domainVolumes.removeUnused(isUnused);
    return hardware;
  }

  async start(vmId: string, generation: string): Promise<void> {
    const { domainVolumes } = this.#host;
    await this.#change(vmId, async (connection) => {
      await this.#awaitStart(connection, vmId);
      const domain = await requireDomain(connection, vmId);
      const { metadata } = domain.facts;
      if (domain.state === 'running') {
        // A start whose end was not seen has already started it.
        if (metadata && isBelow(metadata.generation, generation))
          await keepGeneration(connection, domain, generation);
        return;
      }
      if (!metadata) throw new HostFailure('host_failed', `domain ${vmId} is not one of ours`);
      requireDevices(metadata, await this.#host.devicesOf(vmId));
      await this.#host.serialLogs.prepare();
      await domainVolumes.requireAllUsable(domain);
      const args = { dom: domain.handle, flags: 0 };
      await domainVolumes.explain(vmId, () =>
        this.#withinStartLimit(domain, (signal) =>
          connection.call(domainCreateWithFlags, args, { signal }),
        ),
      );
      await keepGeneration(connection, domain, generation);
      await keepVolumeSizes(connection, vmId);
    });
  }

  async awaitStart(vmId: string): Promise<void> {
    await this.#change(vmId, (connection) => this.#awaitStart(connection, vmId));
  }

  async reset(vmId: string, generation: string): Promise<void> {
    await this.#change(vmId, async (connection) => {
      const domain = await requireRunning(connection, vmId);
      const { handle: dom } = domain;
      await connection.call(domainReset, { dom, flags: 0 }, CHANGE_LIMIT);
      if (domain.isPaused) await connection.call(domainResume, { dom }, CHANGE_LIMIT);
      await keepGeneration(connection, domain, generation);
    });
  }

  async askShutdown(vmId: string): Promise<void> {
    await this.#change(vmId, (connection) => askShutdown(connection, vmId));
  }

  async powerOff(vmId: string): Promise<void> {
    await this.#run(vmId, 'end', async (connection) => {
      const domain = await findDomain(connection, vmId);
      if (!domain || !isActive(domain.state)) return;
      const args = { dom: domain.handle, flags: 0 };
      const ending = connection.call(domainDestroyFlags, args, endLimit(domain.facts));
      await unless(LIBVIRT_ERROR.operationInvalid, unless(LIBVIRT_ERROR.noDomain, ending));
    });
  }

  async undefine(vmId: string): Promise<void> {
    const { domainVolumes } = this.#host;
    let hadVolumes = false;
    await this.#run(vmId, 'end', async (connection) => {
      const domain = await findDomain(connection, vmId);
      if (!domain) return;
      if (isActive(domain.state)) {
        throw new HostFailure('host_failed', `domain ${vmId} runs and cannot be undefined`);
      }
      hadVolumes = volumesOf(domain).length > 0;
      const args = { dom: domain.handle, flags: FORGET_ALL };
      const undefining = connection.call(domainUndefineFlags, args, CHANGE_LIMIT);
      await unless(LIBVIRT_ERROR.noDomain, undefining);
    });
    await this.#host.serialLogs.remove(vmId);
    // libvirt removes the file only with a definition that names it, and there may have been none.
    await this.#host.removeNvram(vmId);
    domainVolumes.release(vmId);
    await domainVolumes.removeUnused(hadVolumes);
  }

  async attachDisk(vmId: string, disk: DiskSpec): Promise<void> {
    const { domainVolumes, describeDisk, view } = this.#host;
    await this.#change(vmId, async (connection) => {
      const domain = await requireRunning(connection, vmId);
      if (hasDisk(domain, disk.id)) return;
      await domainVolumes.ensure(connection, vmId, disk);
      const described = await describeDisk(disk, domain.facts);
      await domainVolumes.requireUsable(vmId, disk);
      await domainVolumes.explain(vmId, () =>
        view.whileAttaching(vmId, disk.id, () => attachDevice(connection, domain, described)),
      );
      if (disk.rbd) await keepVolumeSizes(connection, vmId);
    });
  }

  async detachDisk(vmId: string, diskId: string): Promise<void> {
    const { domainVolumes } = this.#host;
    let isUnused = false;
    await this.#change(vmId, async (connection) => {
      const domain = await findDomain(connection, vmId);
      if (domain?.state !== 'running' || !hasDisk(domain, diskId)) return;
      await detachDevice(connection, domain, diskId);
      isUnused = volumesOf(domain).some(({ id }) => id === diskId);
      domainVolumes.release(vmId, diskId);
    });
    await domainVolumes.removeUnused(isUnused);
  }

  async growDisk(vmId: string, disk: DiskSpec): Promise<void> {
    await this.#change(vmId, async (connection) => {
      const domain = await requireRunning(connection, vmId);
      await this.#host.volumes.prepareGrowth(disk);
      if (!disk.rbd) return await growLocalDisk(connection, domain, disk);
      const grow = () => growVolume(connection, domain, disk);
      await this.#host.domainVolumes.explain(vmId, grow);
    });
  }

  async limitDisk(vmId: string, disk: DiskSpec): Promise<void> {
    await this.#change(vmId, async (connection) => {
      await limitDisk(connection, await requireRunning(connection, vmId), disk);
    });
  }

  async freezeGuest(vmId: string): Promise<number> {
    return await this.#run(vmId, 'change', async (connection) =>
      freezeFileSystems(connection, await requireRunning(connection, vmId)),
    );
  }

  /** Not after changes, which may wait for storage while the guest waits for this. */
  async thawGuest(vmId: string): Promise<number> {
    return await this.#run(vmId, 'end', async (connection) =>
      thawFileSystems(connection, await requireRunning(connection, vmId)),
    );
  }

  async copyDisk(vmId: string, copying: DiskCopying): Promise<void> {
    const run = <T>(step: (connection: Connection) => Promise<T>) =>
      this.#run(vmId, 'change', step);
    await copyDisk({ vmId, clock: this.#host.clock, run }, copying);
  }

  async readSerialLog(vmId: string): Promise<string> {
    return await this.#host.serialLogs.readTail(vmId);
  }

  async openConsole(vmId: string): Promise<Duplex> {
    const domain = await this.#host.view.read(vmId);
    if (domain?.state !== 'running') {
      throw new HostFailure('vm_not_running', `domain ${vmId} does not run`);
    }
    return await this.#host.openConsole(domain);
  }

  watch(watcher: DomainWatcher): () => void {
    return this.#host.watch(watcher);
  }

  async #change(vmId: string, work: (connection: Connection) => Promise<void>): Promise<void> {
    await this.#run(vmId, 'change', work);
  }

  async #run<T>(
    vmId: string,
    lane: Lane,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#host.lines.run(vmId, lane, work);
    } finally {
      this.#host.view.noticed(vmId);
    }
  }

  /** An agent before this one, or a call whose reply was lost, may have started it. */
  async #awaitStart(connection: Connection, vmId: string): Promise<void> {
    const domain = await findDomain(connection, vmId);
    if (domain?.state !== 'starting') return;
    const { clock } = this.#host;
    const wait = (signal: AbortSignal) => untilStarted(connection, domain, { clock, signal });
    await this.#withinStartLimit(domain, wait);
  }

  /** Ends a start that takes too long, so that it does not complete after it was reported as failed. */
  async #withinStartLimit(
    domain: FoundDomain,
    start: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    await withinStartLimit(start, {
      ...{ clock: this.#host.clock, domain },
      end: () => this.powerOff(domain.vmId),
    });
  }
}
