import { DEVICE_KINDS } from '@gantry/model/host-states';
import { childrenNamed, descend, parseXml } from '../../base/parse-xml.ts';
import type { XmlElement } from '../../base/xml.ts';
import type { IoTune } from '../../disk-limits.ts';
import type { GuestHardware, Volume } from '../../host-driver.ts';
import type { DeviceRef } from '../../spec.ts';
import { DISK_SLOTS, DOMAIN_NAMESPACE, type DomainMetadata } from './domain-definition.ts';
import { DISK_ALIAS_PREFIX } from './render-disk.ts';
import { PCI_BUS } from './render-pci.ts';

/**
 * What the XML of a domain contains. The domain may be running or only defined, and need not be
 * Gantry's.
 */
export type DomainFacts = {
  name: string;
  uuid: string;
  /** Null: not Gantry's domain, or a copy of one that was made under another UUID. */
  metadata: DomainMetadata | null;
  /** In the order of their targets. */
  disks: readonly DiskFacts[];
  filesystems: readonly FilesystemFacts[];
  interfaces: readonly { mac: string; tap: string }[];
  /** PCI addresses of all functions of the assigned host devices. */
  hostdevs: readonly string[];
  /** Null: it has no UEFI firmware, so it is not Gantry's. */
  hardware: GuestHardware | null;
  memoryKib: number;
  /** For each vCPU the host CPUs it runs on, in the kernel's list format. Empty text: any. */
  vcpuPins: readonly string[];
  /** The file with the console output. Empty: none. */
  serialLogPath: string;
  iothreads: number;
};

export type DiskFacts = {
  /** Null: it has no alias of Gantry's; the seed is an example. */
  id: string | null;
  /** Null: it is in none of the disk slots. */
  slot: number | null;
  target: string;
  /** Path of the file or device, or pool and name of a volume. Empty: none. */
  path: string;
  /** The libvirt secret with the key of a volume of a storage cluster. Null: it is no such volume. */
  secretUuid: string | null;
  /** The secret with the passphrase of an encrypted volume. Null: it is not encrypted. */
  passphraseUuid: string | null;
  serial: string;
  readOnly: boolean;
  /** The limits of what the guest reads and writes. Empty: none. */
  tune: IoTune;
};

export type FilesystemFacts = {
  /** Null: it is in none of the disk slots. */
  id: string | null;
  slot: number | null;
  path: string;
  readOnly: boolean;
};

/**
 * A cache by XML text: a domain is read about once a second and stays the same for days, and
 * parsing takes 5 ms.
 */
const REMEMBERED = 64;
const KIB_PER_UNIT = new Map([
  ['KiB', 1],
  ['MiB', 1_024],
  ['GiB', 1_024 * 1_024],
]);
const remembered = new Map<string, DomainFacts>();

export function readDomain(xml: string): DomainFacts {
  const facts = remembered.get(xml) ?? readElement(parseXml(xml));
  // Moved to the end, so that the least recently used entry is dropped first.
  remembered.delete(xml);
  remembered.set(xml, facts);
  for (const oldest of remembered.keys()) {
    if (remembered.size <= REMEMBERED) break;
    remembered.delete(oldest);
  }
  return facts;
}

function readElement(domain: XmlElement): DomainFacts {
  const devices = descend(domain, 'devices');
  const uuid = textOf(domain, 'uuid').toLowerCase();
  const metadata = readMetadata(domain);
  return {
    name: textOf(domain, 'name'),
    uuid,
    metadata: metadata?.vmId.toLowerCase() === uuid ? metadata : null,
    disks: childrenNamed(devices, 'disk').map(readDisk).sort(byTarget),
    filesystems: childrenNamed(devices, 'filesystem').map(readFilesystem),
    interfaces: childrenNamed(devices, 'interface').map((iface) => ({
      mac: attributeOf(iface, 'mac', 'address'),
      tap: attributeOf(iface, 'target', 'dev'),
    })),
    hostdevs: childrenNamed(devices, 'hostdev').flatMap(readHostdev),
    hardware: readHardware(domain),
    memoryKib: readMemory(domain),
    vcpuPins: readVcpuPins(domain),
    serialLogPath: devices ? (descend(devices, 'serial', 'log')?.attributes['file'] ?? '') : '',
    iothreads: Number(textOf(domain, 'iothreads')) || 0,
  };
}

/** libvirt writes the version of a machine type, also if the definition named the newest. */
function readHardware(domain: XmlElement): GuestHardware | null {
  const os = descend(domain, 'os');
  const cpu = descend(domain, 'cpu');
  if (os === undefined || cpu === undefined || textOf(os, 'loader') === '') return null;
  const mode = cpu.attributes['mode'] ?? '';
  return {
    machineType: attributeOf(os, 'type', 'machine'),
    cpu: mode === 'custom' ? textOf(cpu, 'model') : mode,
    accel: domain.attributes['type'] === 'kvm' ? 'kvm' : 'tcg',
    loader: textOf(os, 'loader'),
    nvramTemplate: attributeOf(os, 'nvram', 'template'),
  };
}

/** libvirt itself always writes KiB. */
function readMemory(domain: XmlElement): number {
  const memory = descend(domain, 'memory');
  const unit = memory?.attributes['unit'] ?? 'KiB';
  const factor = KIB_PER_UNIT.get(unit) ?? 0;
  return factor * (Number(textOf(domain, 'memory')) || 0);
}

function readVcpuPins(domain: XmlElement): string[] {
  const pins = childrenNamed(descend(domain, 'cputune'), 'vcpupin');
  const byVcpu = new Map(pins.map(({ attributes }) => [attributes['vcpu'], attributes['cpuset']]));
  const count = Number(textOf(domain, 'vcpu')) || 0;
  return Array.from({ length: count }, (_, vcpu) => byVcpu.get(String(vcpu)) ?? '');
}

/** Matched by namespace, because libvirt chooses the prefix. */
function readMetadata(domain: XmlElement): DomainMetadata | null {
  for (const child of descend(domain, 'metadata')?.children ?? []) {
    const prefix = prefixOf(child.name);
    const declaration = prefix === '' ? 'xmlns' : `xmlns:${prefix.slice(0, -1)}`;
    const namespace = child.attributes[declaration] ?? domain.attributes[declaration];
    if (namespace !== DOMAIN_NAMESPACE || child.name !== `${prefix}vm`) continue;
    const { id, revision, generation } = child.attributes;
    if (id === undefined || revision === undefined || generation === undefined) return null;
    if (!isNumber(revision) || !isNumber(generation)) return null;
    const devices = childrenNamed(child, `${prefix}device`).flatMap(readDevice);
    const volumes = childrenNamed(child, `${prefix}volume`).flatMap(readVolume);
    return { vmId: id, revision, generation, devices, volumes };
  }
  return null;
}

function readDevice({ attributes }: XmlElement): DeviceRef[] {
  const { address } = attributes;
  const kind = DEVICE_KINDS.find((known) => known === attributes['kind']);
  return kind === undefined || address === undefined ? [] : [{ kind, address }];
}

function readVolume({ attributes }: XmlElement): Volume[] {
  const { id, size } = attributes;
  return id === undefined || size === undefined || !isNumber(size) ? [] : [{ id, sizeBytes: size }];
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf(':') + 1);
}

function readDisk(disk: XmlElement): DiskFacts {
  const source = descend(disk, 'source')?.attributes ?? {};
  return {
    id: readDiskId(disk),
    slot: readSlot(disk),
    target: attributeOf(disk, 'target', 'dev'),
    path: source['file'] ?? source['dev'] ?? source['name'] ?? '',
    secretUuid: readSecret(disk, 'auth'),
    passphraseUuid: readSecret(disk, 'encryption'),
    serial: textOf(disk, 'serial'),
    readOnly: descend(disk, 'readonly') !== undefined,
    tune: readTune(disk),
  };
}

/** libvirt keeps the length of a burst that it has no more, which limits nothing. */
function readTune(disk: XmlElement): IoTune {
  const limits = descend(disk, 'iotune')?.children ?? [];
  const names = new Set(limits.map(({ name }) => name));
  const isEffective = ({ name }: XmlElement) =>
    !name.endsWith('_max_length') || names.has(name.slice(0, -'_length'.length));
  return Object.fromEntries(limits.filter(isEffective).map(({ name, text }) => [name, text]));
}

/** libvirt writes both elements inside of `source` if they were defined there. */
function readSecret(disk: XmlElement, name: 'auth' | 'encryption'): string | null {
  const secret = descend(disk, name, 'secret') ?? descend(disk, 'source', name, 'secret');
  return secret?.attributes['uuid']?.toLowerCase() ?? null;
}

function readFilesystem(filesystem: XmlElement): FilesystemFacts {
  return {
    id: readDiskId(filesystem),
    slot: readSlot(filesystem),
    path: attributeOf(filesystem, 'source', 'dir'),
    readOnly: descend(filesystem, 'readonly') !== undefined,
  };
}

function readDiskId(device: XmlElement): string | null {
  const alias = attributeOf(device, 'alias', 'name');
  return alias.startsWith(DISK_ALIAS_PREFIX) ? alias.slice(DISK_ALIAS_PREFIX.length) : null;
}

function readSlot(device: XmlElement): number | null {
  if (attributeOf(device, 'address', 'type') !== 'pci') return null;
  const slot = Number(attributeOf(device, 'address', 'bus')) - PCI_BUS.firstDisk;
  return Number.isInteger(slot) && slot >= 0 && slot < DISK_SLOTS ? slot : null;
}

/** In sysfs's format, 0000:41:00.0. */
function readHostdev(hostdev: XmlElement): string[] {
  const address = descend(hostdev, 'source', 'address')?.attributes;
  if (hostdev.attributes['type'] !== 'pci' || address === undefined) return [];
  const part = (name: string, digits: number) =>
    Number(address[name] ?? 0)
      .toString(16)
      .padStart(digits, '0');
  return [`${part('domain', 4)}:${part('bus', 2)}:${part('slot', 2)}.${part('function', 1)}`];
}

function byTarget(a: DiskFacts, b: DiskFacts): number {
  return a.target.length - b.target.length || (a.target < b.target ? -1 : 1);
}

function isNumber(text: string): boolean {
  return /^(0|[1-9]\d{0,19})$/.test(text);
}

function textOf(parent: XmlElement, name: string): string {
  return descend(parent, name)?.text ?? '';
}

function attributeOf(parent: XmlElement, name: string, attribute: string): string {
  return descend(parent, name)?.attributes[attribute] ?? '';
}
