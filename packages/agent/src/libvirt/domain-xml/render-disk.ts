import { element, renderXml, type XmlElement } from '../../base/xml.ts';
import { type IoTune, TUNE_NAMES } from '../../disk-limits.ts';
import type { FileSource, RbdSource } from '../../volumes/disk-source.ts';
import { monitorAddress } from '../../volumes/storage-network.ts';
import type { DiskDefinition, FilesystemDefinition } from './domain-definition.ts';
import { PCI_BUS, renderAddress } from './render-pci.ts';

/**
 * The alias on a device says which disk it is. libvirt keeps it in the running domain and in its
 * definition, so a disk that was attached just before the agent died is recognised. The prefix is
 * short because the alias is part of a socket's path for a shared directory, and such a path has at
 * most 107 characters.
 */
export const DISK_ALIAS_PREFIX = 'ua-d-';

/** Far behind the last disk, so that no disk gets the seed's name. */
const SEED_TARGET = 'vdz';

const FIRST_LETTER = 'a'.charCodeAt(0);
export const targetOfSlot = (slot: number): string =>
  `vd${String.fromCharCode(FIRST_LETTER + slot)}`;

/** For a running domain; equal to the element in its definition. */
export function renderDisk(disk: DiskDefinition): string {
  return renderXml(diskElement(disk, { isBootDisk: false }));
}

/** For a running domain; equal to the element in its definition. */
export function renderFilesystem(filesystem: FilesystemDefinition): string {
  return renderXml(filesystemElement(filesystem));
}

export function diskElement(disk: DiskDefinition, options: { isBootDisk: boolean }): XmlElement {
  const { source, blockSize } = disk;
  const isVolume = source.type === 'rbd';
  return element('disk', { type: isVolume ? 'network' : source.type, device: 'disk' }, [
    element('driver', {
      name: 'qemu',
      type: source.type === 'file' ? source.format : 'raw',
      ...(isVolume ? VOLUME_IO : localIo(disk)),
      discard: 'unmap',
      iothread: disk.iothread,
    }),
    ...sourceElements(source),
    element('target', { dev: targetOfSlot(disk.slot), bus: 'virtio' }),
    blockSize === 0
      ? null
      : element('blockio', { logical_block_size: blockSize, physical_block_size: blockSize }),
    tuneElement(disk.tune),
    disk.readOnly ? element('readonly') : null,
    element('serial', {}, disk.serial),
    options.isBootDisk ? element('boot', { order: 1 }) : null,
    aliasElement(disk.id),
    renderAddress(PCI_BUS.firstDisk + disk.slot),
  ]);
}

function tuneElement(tune: IoTune): XmlElement | null {
  const limits = TUNE_NAMES.flatMap((name) => {
    const value = tune[name];
    return value === undefined ? [] : [element(name, {}, value)];
  });
  return limits.length === 0 ? null : element('iotune', {}, limits);
}

/**
 * QEMU writes to the cluster, and no cache of the host keeps what the guest takes for written. If the pool has no space,
 * the domain is paused; `resume-when-possible.ts` resumes it. Every other error is reported to the guest.
 */
const VOLUME_IO = { cache: 'none', io: 'threads', error_policy: 'enospace' };

function localIo({ directIo }: DiskDefinition) {
  return {
    cache: directIo ? 'none' : 'writeback',
    io: directIo ? 'native' : 'threads',
    // If the file system or the thin pool is full, the guest gets an I/O error.
    error_policy: 'report',
  };
}

function sourceElements(source: DiskDefinition['source']): XmlElement[] {
  if (source.type === 'rbd') return volumeElements(source);
  if (source.type === 'block')
    return [element('source', { dev: source.path }), backingElement(null)];
  return [element('source', { file: source.path }), backingElement(source.backing)];
}

function volumeElements(source: RbdSource): XmlElement[] {
  const hosts = source.monitors.map(monitorAddress);
  return [
    element('auth', { username: source.user }, [
      element('secret', { type: 'ceph', uuid: source.secretUuid }),
    ]),
    element('source', { protocol: 'rbd', name: `${source.pool}/${source.image}` }, [
      ...hosts.map(({ host: name, port }) => element('host', { name, port })),
      element('config', { file: source.confFile }),
      source.passphraseUuid === null ? null : encryptionElement(source.passphraseUuid),
    ]),
  ];
}

/** QEMU decrypts the volume itself. librbd could too, but makes a volume too small by its header when it grows it (16.2). */
function encryptionElement(uuid: string): XmlElement {
  return element('encryption', { format: 'luks', engine: 'qemu' }, [
    element('secret', { type: 'passphrase', uuid }),
  ]);
}

/**
 * The whole chain, so that libvirt does not have to read it from the files: its helper for AppArmor may
 * not be allowed to, and QEMU then gets no access to the image. An empty element ends the chain. Images
 * keep their owner: libvirt would give them to the user of all QEMU processes, who could then write to
 * what other VMs boot from.
 */
function backingElement(backing: FileSource['backing']): XmlElement {
  if (backing === null) return element('backingStore');
  return element('backingStore', { type: 'file' }, [
    element('format', { type: backing.format }),
    element('source', { file: backing.path }, [
      element('seclabel', { model: 'dac', relabel: 'no' }),
    ]),
    element('backingStore'),
  ]);
}

/**
 * A libvirt that cannot prevent writes to a shared directory refuses `readonly`. That is intended:
 * the guest must not get the directory writable instead.
 */
export function filesystemElement(filesystem: FilesystemDefinition): XmlElement {
  return element('filesystem', { type: 'mount', accessmode: 'passthrough' }, [
    element('driver', { type: 'virtiofs' }),
    element('source', { dir: filesystem.path }),
    element('target', { dir: filesystem.id }),
    filesystem.readOnly ? element('readonly') : null,
    aliasElement(filesystem.id),
    renderAddress(PCI_BUS.firstDisk + filesystem.slot),
  ]);
}

/**
 * The seed is a disk and not an optical drive: `virt` has no such drive, and small guests have no
 * driver for it.
 */
export function seedElement(path: string): XmlElement {
  return element('disk', { type: 'file', device: 'disk' }, [
    element('driver', { name: 'qemu', type: 'raw' }),
    element('source', { file: path }),
    element('target', { dev: SEED_TARGET, bus: 'virtio' }),
    element('readonly'),
    element('serial', {}, 'seed'),
    renderAddress(PCI_BUS.seed),
  ]);
}

function aliasElement(diskId: string): XmlElement {
  return element('alias', { name: `${DISK_ALIAS_PREFIX}${diskId}` });
}
