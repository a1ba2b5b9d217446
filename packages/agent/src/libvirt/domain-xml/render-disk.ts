import { element, renderXml, type XmlElement } from '../../base/xml.ts';
import type { FileSource } from '../../volumes/disk-source.ts';
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
  const isFile = source.type === 'file';
  return element('disk', { type: source.type, device: 'disk' }, [
    element('driver', {
      name: 'qemu',
      type: isFile ? source.format : 'raw',
      cache: disk.directIo ? 'none' : 'writeback',
      io: disk.directIo ? 'native' : 'threads',
      // If a pool is full, the guest gets an I/O error. A paused guest would stay paused, because
      // nothing resumes it.
      error_policy: 'report',
      discard: 'unmap',
      iothread: disk.iothread,
    }),
    element('source', isFile ? { file: source.path } : { dev: source.path }),
    backingElement(isFile ? source.backing : null),
    element('target', { dev: targetOfSlot(disk.slot), bus: 'virtio' }),
    blockSize === 0
      ? null
      : element('blockio', { logical_block_size: blockSize, physical_block_size: blockSize }),
    disk.readOnly ? element('readonly') : null,
    element('serial', {}, disk.serial),
    options.isBootDisk ? element('boot', { order: 1 }) : null,
    aliasElement(disk.id),
    renderAddress(PCI_BUS.firstDisk + disk.slot),
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
