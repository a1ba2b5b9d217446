import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MIB } from '@gantry/daemon/units';
import { programRunner } from '../../base/run-program.ts';
import { NO_PLACES } from '../../devices/card-places.ts';
import { openImageCache } from '../../images/image-cache.ts';
import { createSeeds } from '../../seed/iso-seeds.ts';
import type { DiskSpec, Image, VmSpec } from '../../spec.ts';
import { createVolumes } from '../../volumes/create-volumes.ts';
import { hasDirectIo } from '../direct-io.ts';
import { domainDescriber } from '../domain-xml/describe-domain.ts';
import {
  type DomainDefinition,
  type Platform,
  PROBE_VM_ID,
} from '../domain-xml/domain-definition.ts';
import { keepFirmware } from '../platform/keep-firmware.ts';
import { serialLogs } from '../serial-log.ts';

export type ProbeFiles = {
  /** Holds everything of the probe. */
  directory: string;
  /** The agent's own copies of the firmware. */
  firmwareDirectory: string;
};

const MEMORY_MIB = 256;
const IMAGE_BYTES = 16 * MIB;
const DISK: DiskSpec = {
  ...{ id: 'd0c70000-9a1e-4f6b-8c35-70726f626502', kind: 'DISK_KIND_PERSISTENT_SSD' },
  ...{ sizeBytes: String(IMAGE_BYTES), readOnly: false, blockSize: 0 },
  ...{ serialNumber: 'probe', name: 'probe', exists: false, rbd: null, cephfs: null },
};

const run = programRunner('host_failed');
const SILENT = { info: () => undefined, warn: () => undefined };

/** Makes the files of the probe VM with the parts that tenants' VMs are made with. */
export async function buildProbeVm(
  { directory, firmwareDirectory }: ProbeFiles,
  platform: Platform,
): Promise<{ definition: DomainDefinition; memoryKib: number; serialLogPath: string }> {
  const within = (name: string) => join(directory, name);
  const image = await makeImage(within('image.qcow2'));
  const volumes = createVolumes({
    ...{ driver: 'file', directory: within('volumes'), sharedDirectory: within('shared') },
    images: await openImageCache({
      ...{ directory: within('images'), limitBytes: Number.MAX_SAFE_INTEGER, log: SILENT },
      listUsed: async () => new Set(),
    }),
    isInUse: async () => false,
  });
  const seeds = createSeeds({
    directory: within('seeds'),
    nameservers: async () => [],
    mtu: 1_500,
  });
  const logs = serialLogs(within('consoles'));
  await logs.prepare();
  await mkdir(within('nvram'), { mode: 0o711 });
  const vm = probeSpec(image);
  await volumes.create(DISK, image);
  await seeds.ensure(vm);
  const { describe } = domainDescriber({
    platform: { ...platform, firmware: await keepFirmware(platform.firmware, firmwareDirectory) },
    ...{ vhostNet: false, volumes, mtu: 0, lockMemory: false },
    directIo: await hasDirectIo(directory),
    ...{ seedPath: seeds.path, serialLogPath: logs.path },
    nvramPath: (vmId) => within(`nvram/${vmId}.fd`),
    placesOf: async () => NO_PLACES,
    numaNodes: async () => [],
    offersNesting: async () => false,
    hasCliques: async () => false,
    ...{ core: 'thread', log: SILENT },
  });
  const alone = { present: null, kept: null, readOtherPins: async () => [] };
  return {
    definition: await describe(vm, alone),
    memoryKib: MEMORY_MIB * 1_024,
    serialLogPath: logs.path(vm.id),
  };
}

/** An empty image: the firmware finds nothing to boot from, which is after it has printed. */
async function makeImage(path: string): Promise<Image> {
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', path, String(IMAGE_BYTES)]);
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return { name: 'probe', url: pathToFileURL(path).href, sha256, id: '' };
}

function probeSpec(image: Image): VmSpec {
  return {
    ...{ id: PROBE_VM_ID, revision: '1', generation: '1', name: 'gantry-probe' },
    ...{ cpuCores: 1, memoryMib: MEMORY_MIB, numaShares: [], nestedVirtualization: false },
    ...{ devices: [], disks: [DISK], interfaces: [], image },
    ...{ sshPublicKey: '', sshKeys: [], startupScript: '', shutdownScript: '', userData: '' },
    ...{ projectId: '', type: '', imageId: '', needs: [] },
  };
}
