import { isDeepStrictEqual } from 'node:util';
import { DEVICE_KINDS } from '@gantry/model/host-states';
import { HostFailure } from '../base/failure.ts';
import { isActive } from '../host-driver.ts';
import { type DiskSpec, type Image, isBelow, type VmSpec, type VmTakeDown } from '../spec.ts';
import { devicePart } from './device-part.ts';
import type { HostContext } from './host-context.ts';
import { isLimitedOtherwise, isTooSmall } from './plan.ts';

/**
 * The parts of a VM. The parts of one group need nothing of each other and are brought up at the same time, because a tenant
 * waits for all of them; the groups follow each other. They are taken down in reverse, and a part that fails does not keep
 * the others of its group from being taken down. Every part is idempotent and reads the current state itself: after a crash
 * the worker starts again with the first group.
 */
const PARTS: readonly (readonly Part[])[] = [
  [
    // The disks; the boot disk is made from its image.
    { name: 'volumes', ensure: ensureVolumes, remove: removeVolumes },
    // Firewall rules, then the interfaces.
    { name: 'network', ensure: ensureInterfaces, remove: removeInterfaces },
    // One part for each kind: assigned whole, and cleaned when the VM is taken down.
    ...DEVICE_KINDS.map(devicePart),
  ],
  // What cloud-init reads when the guest boots. A VM for whose disks the host has no space leaves no file.
  [
    {
      name: 'seed',
      ensure: (host, vm) => host.driver.seeds.ensure(vm),
      remove: (host, vm) => host.driver.seeds.remove(vm.id),
    },
  ],
  // The libvirt domain, defined and started.
  [{ name: 'domain', ensure: ensureDomain, remove: removeDomain }],
];

type Part = {
  name: string;
  ensure(host: HostContext, vm: VmSpec): Promise<void>;
  remove(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void>;
};

/** How a removal waits within its VM's worker. */
type Removal = {
  /** Returns after the time, or earlier if there is a reason to read the state again. */
  rest(delayMs: number): Promise<void>;
  /** Whether the desired state of the VM has changed. */
  isOutdated(): boolean;
};

/** One unit of work that is retried as a whole. */
export type Step = { name: string; run: () => Promise<void> };
/** Steps that run at the same time. */
export type StepGroup = readonly Step[];

export function stepsUp(host: HostContext, vm: VmSpec): StepGroup[] {
  return PARTS.map((parts) =>
    parts.map(({ name, ensure }) => ({ name, run: () => ensure(host, vm) })),
  );
}

export function stepsDown(host: HostContext, vm: VmTakeDown, removal: Removal): StepGroup[] {
  const groups = PARTS.map((parts) =>
    parts.map(({ name, remove }) => ({ name, run: () => remove(host, vm, removal) })),
  ).reverse();
  const finish = () => host.ledger.updateFacts(vm.id, { takenDownRevision: vm.revision });
  return [...groups, [{ name: 'ledger', run: finish }]];
}

/**
 * What can change while the guest runs. Interfaces and disks need nothing of each other, and a tenant
 * waits for a disk, so they are changed at the same time. The definition comes last because it carries
 * the revision: a domain with the new revision has everything else too. Interfaces that are known to be as they should be
 * are left alone, because a look at them starts a dozen programs.
 */
export function stepsAdjust(
  host: HostContext,
  vm: VmSpec,
  { hasInterfaces = false }: { hasInterfaces?: boolean } = {},
): StepGroup[] {
  const network = { name: 'network', run: () => ensureInterfaces(host, vm) };
  return [
    [{ name: 'volumes', run: () => ensureVolumes(host, vm) }],
    [
      ...(hasInterfaces ? [] : [network]),
      { name: 'disks', run: () => ensureAttachedDisks(host, vm) },
    ],
    [{ name: 'definition', run: () => defineDomain(host, vm) }],
  ];
}

/** libvirt goes on with a start when the agent is restarted. */
export function stepsAwaitStart(host: HostContext, vm: VmSpec): StepGroup[] {
  return [[{ name: 'domain', run: () => host.driver.hypervisor.awaitStart(vm.id) }]];
}

export function stepsReset(host: HostContext, vm: VmSpec): StepGroup[] {
  const reset = async () => {
    await host.driver.hypervisor.reset(vm.id, vm.generation);
    await keepRunning(host, vm.id, vm.generation);
  };
  return [[{ name: 'domain', run: reset }], ...stepsAdjust(host, vm)];
}

/** Creates missing disks and grows the others, also while the guest runs. Volumes of storage clusters exist. */
async function ensureVolumes(host: HostContext, vm: VmSpec): Promise<void> {
  for (const disk of vm.disks) {
    if (disk.rbd || disk.cephfs) continue;
    const existing = await host.driver.volumes.read(disk.id);
    if (existing === null) await createVolume(host, vm, disk);
    else if (isBelow(existing.sizeBytes, disk.sizeBytes)) await growVolume(host, vm, disk);
  }
}

async function removeVolumes(host: HostContext, vm: VmTakeDown): Promise<void> {
  for (const diskId of vm.disks) await host.driver.volumes.remove(diskId);
}

/** Recorded before the disk exists, because a disk that is not recorded would never be removed. */
async function createVolume(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const image = sourceOf(vm, disk);
  const { madeDisks } = host.ledger.facts(vm.id);
  if (!madeDisks.includes(disk.id))
    await host.ledger.updateFacts(vm.id, { madeDisks: [...madeDisks, disk.id] });
  await host.driver.volumes.create(disk, image);
}

/** Returns null for a disk that starts empty, which is every disk except the boot disk. */
function sourceOf(vm: VmSpec, disk: DiskSpec): Image | null {
  const isBootDisk = disk.id === vm.disks[0]?.id;
  if (disk.exists || (isBootDisk && vm.image === null)) {
    throw new HostFailure('disk_missing', `the disk ${disk.id} is not on this host`);
  }
  if (!isBootDisk || vm.image === null) return null;
  if ((vm.image.url === '' && vm.image.id === '') || vm.image.sha256 === '') {
    throw new HostFailure('image_unavailable', `the image ${vm.image.name} has no source`);
  }
  return vm.image;
}

/** If the emulator has the disk open, the emulator must grow it. */
async function growVolume(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const domain = await host.driver.hypervisor.read(vm.id);
  const isLive = domain?.state === 'running' && domain.disks.some(({ id }) => id === disk.id);
  if (isLive) await host.driver.hypervisor.growDisk(vm.id, disk);
  else await host.driver.volumes.grow(disk);
}

/**
 * The control plane grows a volume that no guest has open. If a growth is requested while the guest starts, the guest
 * has it open with its earlier size. A guest that only reads it cannot grow it.
 */
async function growOpenVolumes(host: HostContext, vm: VmSpec): Promise<void> {
  if (!vm.disks.some((disk) => disk.rbd)) return;
  const domain = await host.driver.hypervisor.read(vm.id);
  if (domain?.state !== 'running') return;
  for (const disk of vm.disks) {
    if (isTooSmall(domain, disk)) await host.driver.hypervisor.growDisk(vm.id, disk);
  }
}

/** Attaches missing disks to a running guest and detaches the others, without a restart. */
async function ensureAttachedDisks(host: HostContext, vm: VmSpec): Promise<void> {
  const domain = await host.driver.hypervisor.read(vm.id);
  if (domain?.state !== 'running') return;
  const { hypervisor } = host.driver;
  const wanted = new Set(vm.disks.map((disk) => disk.id));
  const attached = new Set(domain.disks.map((disk) => disk.id));
  for (const id of attached) {
    if (!wanted.has(id)) await hypervisor.detachDisk(vm.id, id);
  }
  for (const disk of vm.disks) {
    if (!attached.has(disk.id)) await hypervisor.attachDisk(vm.id, disk);
  }
  await growOpenVolumes(host, vm);
  for (const disk of vm.disks) {
    if (isLimitedOtherwise(domain, disk)) await hypervisor.limitDisk(vm.id, disk);
  }
}

/** The rules are in force before the interfaces exist and until they are gone. */
async function ensureInterfaces(host: HostContext, vm: VmSpec): Promise<void> {
  // Recorded before they exist, so that a crash leaves no interface without rules.
  await host.ledger.updateFacts(vm.id, { interfaces: vm.interfaces });
  await host.firewall.ensure();
  await host.driver.network.ensureInterfaces(vm.id, vm.interfaces);
}

async function removeInterfaces(host: HostContext, vm: VmTakeDown): Promise<void> {
  await host.driver.network.removeInterfaces(vm.id);
  await host.ledger.updateFacts(vm.id, { interfaces: [] });
}

async function ensureDomain(host: HostContext, vm: VmSpec): Promise<void> {
  // Defined every time, because a definition with this revision may have been changed outside the
  // agent.
  await defineDomain(host, vm);
  if ((await host.driver.hypervisor.read(vm.id))?.state === 'running') return;
  // Recorded before the start, so that a host that goes down during the start can be told from a
  // guest that crashes.
  await keepRunning(host, vm.id, vm.generation);
  await host.driver.hypervisor.start(vm.id, vm.generation);
  await growOpenVolumes(host, vm);
}

/**
 * The hardware is recorded before the first start, so that a guest boots with the same again after
 * a reboot of the host, a crash, or the loss of its definition. Only a take-down ends this.
 */
async function defineDomain(host: HostContext, vm: VmSpec): Promise<void> {
  const { hardware: kept = null } = host.ledger.facts(vm.id);
  const hardware = await host.driver.hypervisor.define(vm, kept);
  if (!isDeepStrictEqual(hardware, kept)) await host.ledger.updateFacts(vm.id, { hardware });
}

async function removeDomain(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void> {
  if (vm.graceful) await letEnd(host, vm, removal);
  if (removal.isOutdated()) return;
  const left = await host.driver.hypervisor.read(vm.id);
  if (left && isActive(left.state)) await host.driver.hypervisor.powerOff(vm.id);
  // Also if the domain is gone, because files stored for it may remain.
  await host.driver.hypervisor.undefine(vm.id);
  if (host.ledger.facts(vm.id).hardware) await host.ledger.updateFacts(vm.id, { hardware: null });
}

/** Asks the guest once, and waits until it has ended or its time is over: also over a restart. */
async function letEnd(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void> {
  const { clock, timings, driver, ledger } = host;
  while (!removal.isOutdated() && (await host.driver.hypervisor.read(vm.id))?.state === 'running') {
    const { shutdownAskedMs } = ledger.facts(vm.id);
    if (shutdownAskedMs === 0) {
      await driver.hypervisor.askShutdown(vm.id);
      await ledger.updateFacts(vm.id, { shutdownAskedMs: clock.nowMs() });
      continue;
    }
    const leftMs = shutdownAskedMs + timings.shutdownMs - clock.nowMs();
    if (leftMs <= 0) return;
    await removal.rest(leftMs);
  }
}

/**
 * Records the generation for which the VM runs or is about to run, unless it is recorded already.
 */
export async function keepRunning(
  host: HostContext,
  vmId: string,
  generation: string,
): Promise<void> {
  const facts = host.ledger.facts(vmId);
  const { hostBootId } = host;
  if (facts.generation === generation && facts.hostBootId === hostBootId && !facts.crashed) return;
  await host.ledger.updateFacts(vmId, { generation, hostBootId, crashed: false });
}
