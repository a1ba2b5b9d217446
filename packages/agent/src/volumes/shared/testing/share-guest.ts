import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderGuest } from '@gantry/testkit/lab/image/early-userspace';
import { readPlatform } from '@gantry/testkit/lab/machine/platforms';
import { execute } from '@gantry/testkit/real-host/execute';
import { describeDomain } from '../../../libvirt/domain-xml/describe-domain.ts';
import { domainName } from '../../../libvirt/domain-xml/domain-definition.ts';
import { renderDomain } from '../../../libvirt/domain-xml/render-domain.ts';
import { gpuServer, VM_ID } from '../../../libvirt/domain-xml/testing/gpu-server.ts';
import { detectPlatform } from '../../../libvirt/platform/platform.ts';
import type { DiskSpec } from '../../../spec.ts';
import { makeVm } from '../../../testing/make-spec.ts';
import type { VolumeDriver } from '../../volume-driver.ts';

/**
 * A guest with a shared volume in the lab's server. Its domain is the agent's, so libvirt starts virtiofsd as on every
 * host. Only the boot differs: the guest has a kernel and a script instead of firmware, which takes minutes in a VM of an
 * emulated server.
 */
export type ShareGuest = { readConsole(): Promise<string>; stop(): Promise<void> };

const MEMORY_MIB = 384;
const MODULES = ['virtio_pci', 'virtiofs'];
const virsh = (...args: string[]) =>
  execute('virsh', '--quiet', '--connect', 'qemu:///system', ...args);

/** Starts a guest that mounts nothing by itself, runs the script and powers off. */
export async function startShareGuest(
  volumes: Pick<VolumeDriver, 'locate'>,
  { disk, script }: { disk: DiskSpec; script: string },
): Promise<ShareGuest> {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-share-guest-'));
  // QEMU is a user of its own.
  await chmod(directory, 0o755);
  const name = domainName(VM_ID);
  const stop = async () => {
    await virsh('destroy', name).catch(() => '');
    await virsh('undefine', name).catch(() => '');
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const initramfs = join(directory, 'initramfs');
    await writeFile(initramfs, await renderGuest('/', { modules: MODULES, script }));
    const serialLogPath = join(directory, 'console.log');
    const definition = await renderForServer(volumes, { disk, serialLogPath });
    const file = join(directory, 'domain.xml');
    await writeFile(file, withKernel(definition, initramfs));
    await virsh('define', '--validate', file);
    await virsh('start', name);
    return { readConsole: () => readFile(serialLogPath, 'latin1').catch(() => ''), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function renderForServer(
  volumes: Pick<VolumeDriver, 'locate'>,
  { disk, serialLogPath }: { disk: DiskSpec; serialLogPath: string },
): Promise<string> {
  const detection = await detectPlatform();
  if (!detection.found) throw new Error(`missing: ${JSON.stringify(detection.missing)}`);
  const source = await volumes.locate(disk);
  const host = gpuServer(detection.platforms.kvm, {
    ...{ vhostNet: false, lockMemory: false, numaNodes: [], seedPath: null, mmio64Mib: 0 },
    ...{ sourceOf: () => source, serialLogPath },
  });
  const size = { cpuCores: 1, memoryMib: MEMORY_MIB };
  const parts = { disks: [disk], interfaces: [], image: null };
  return renderDomain(describeDomain(makeVm(VM_ID, { ...size, ...parts }), host));
}

function withKernel(xml: string, initramfs: string): string {
  const kernel = [
    '<kernel>/lab/guest-kernel</kernel>',
    `<initrd>${initramfs}</initrd>`,
    `<cmdline>console=${readPlatform().guest.console} quiet</cmdline>`,
  ].join('');
  return xml.replace(/<loader[\s\S]*<\/nvram>/, kernel);
}
