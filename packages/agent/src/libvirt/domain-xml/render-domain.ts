import { element, renderXml, type XmlElement } from '../../base/xml.ts';
import {
  type DomainDefinition,
  domainName,
  type InterfaceDefinition,
} from './domain-definition.ts';
import { cardElements, cliqueElements } from './render-card.ts';
import { cpuElements } from './render-cpu.ts';
import { diskElement, filesystemElement, seedElement } from './render-disk.ts';
import { metadataElement } from './render-metadata.ts';
import { PCI_BUS, type PciPlan, planPci, renderAddress } from './render-pci.ts';

/** The limit for one of QEMU's translation caches; the default is one GiB per guest. */
const TCG_CACHE_MIB = 256;
const QEMU_NAMESPACE = 'http://libvirt.org/schemas/domain/qemu/1.0';

/** Returns the complete XML of a domain, for virDomainDefineXML. */
export function renderDomain(definition: DomainDefinition): string {
  const { metadata, vm, platform, interfaces, cards } = definition;
  const mmio64Mib = windowMibOf(definition);
  const pci = planPci({ interfaceCount: interfaces.length, cards, mmio64Mib });
  const cliques = cliqueElements(
    cards.map((card, index) => ({ card, bus: pci.cardBuses[index] ?? 0 })),
  );
  const attributes = {
    type: platform.accel === 'kvm' ? 'kvm' : 'qemu',
    ...((mmio64Mib > 0 || cliques.length > 0) && { 'xmlns:qemu': QEMU_NAMESPACE }),
  };
  const domain = element('domain', attributes, [
    element('name', {}, domainName(metadata.vmId)),
    element('uuid', {}, metadata.vmId),
    vm.name === '' ? null : element('title', {}, vm.name),
    metadataElement(metadata),
    ...cpuElements(definition),
    osElement(definition),
    featuresElement(definition),
    clockElement(definition),
    element('on_poweroff', {}, 'destroy'),
    element('on_reboot', {}, 'restart'),
    // The domain stays down after a crash, so that the agent sees the crash; only a later generation
    // starts the domain again.
    element('on_crash', {}, 'destroy'),
    powerManagementElement(definition),
    devicesElement(definition, pci),
    mmio64Mib === 0 ? null : firmwareWindowElement(mmio64Mib),
    cliques.length === 0 ? null : element('qemu:override', {}, cliques),
  ]);
  return renderXml(domain);
}

function windowMibOf({ platform, mmio64Mib }: DomainDefinition): number {
  return platform.machine === 'q35' ? mmio64Mib : 0;
}

function osElement({ platform, nvramPath }: DomainDefinition): XmlElement {
  const { loader, nvramTemplate } = platform.firmware;
  return element('os', {}, [
    element('type', { arch: platform.arch, machine: platform.machineType }, 'hvm'),
    element('loader', { readonly: 'yes', type: 'pflash' }, loader),
    element('nvram', { template: nvramTemplate }, nvramPath),
    // Otherwise the firmware waits seven seconds for a key press.
    element('bootmenu', { enable: 'yes', timeout: 0 }),
  ]);
}

/**
 * OVMF does not detect the size of QEMU's window and must be told. libvirt's own element for such
 * values does not accept this name, so it is passed as a QEMU argument.
 */
function firmwareWindowElement(mmio64Mib: number): XmlElement {
  return element('qemu:commandline', {}, [
    element('qemu:arg', { value: '-fw_cfg' }),
    element('qemu:arg', { value: `name=opt/ovmf/X-PciMmio64Mb,string=${mmio64Mib}` }),
  ]);
}

function featuresElement({ platform }: DomainDefinition): XmlElement {
  const isQ35 = platform.machine === 'q35';
  const cache = element('tb-cache', { unit: 'MiB' }, String(TCG_CACHE_MIB));
  return element('features', {}, [
    element('acpi'),
    isQ35 ? element('apic') : element('gic', { version: platform.gic }),
    isQ35 ? element('vmport', { state: 'off' }) : null,
    platform.accel === 'tcg' ? element('tcg', {}, [cache]) : null,
  ]);
}

function clockElement({ platform }: DomainDefinition): XmlElement {
  const timers = [
    element('timer', { name: 'rtc', tickpolicy: 'catchup' }),
    element('timer', { name: 'pit', tickpolicy: 'delay' }),
    element('timer', { name: 'hpet', present: 'no' }),
  ];
  return element('clock', { offset: 'utc' }, platform.machine === 'q35' ? timers : []);
}

/** A guest that suspends itself would stay suspended, because nothing wakes it. */
function powerManagementElement({ platform }: DomainDefinition): XmlElement | null {
  if (platform.machine !== 'q35') return null;
  return element('pm', {}, [
    element('suspend-to-mem', { enabled: 'no' }),
    element('suspend-to-disk', { enabled: 'no' }),
  ]);
}

function devicesElement(definition: DomainDefinition, pci: PciPlan): XmlElement {
  const { platform, disks, filesystems, seedPath, interfaces, cards } = definition;
  return element('devices', {}, [
    element('emulator', {}, platform.emulator),
    ...disks.map((disk, index) => diskElement(disk, { isBootDisk: index === 0 })),
    seedPath === null ? null : seedElement(seedPath),
    ...pci.controllers,
    element('controller', { type: 'usb', model: 'none' }),
    element('controller', { type: 'virtio-serial', index: 0 }, [renderAddress(PCI_BUS.serial)]),
    ...filesystems.map(filesystemElement),
    ...interfaces.map((iface, index) => interfaceElement(iface, PCI_BUS.firstInterface + index)),
    serialElement(definition.serialLogPath),
    element('channel', { type: 'unix' }, [
      element('target', { type: 'virtio', name: 'org.qemu.guest_agent.0' }),
    ]),
    ...cards.flatMap((card, index) => cardElements(card, cardPlace(pci, cards, index))),
    element('memballoon', { model: 'none' }),
    element('rng', { model: 'virtio' }, [
      element('backend', { model: 'random' }, '/dev/urandom'),
      renderAddress(PCI_BUS.rng),
    ]),
  ]);
}

/** Its bus, and its index among the drives that are passed as blocks. */
function cardPlace(
  { cardBuses }: { cardBuses: readonly number[] },
  cards: DomainDefinition['cards'],
  index: number,
) {
  const driveIndex = cards.slice(0, index).filter((card) => 'path' in card).length;
  return { bus: cardBuses[index] ?? 0, driveIndex };
}

/**
 * The agent creates the tap with its rules, and libvirt only opens it: without the tap the domain
 * does not start.
 */
function interfaceElement(iface: InterfaceDefinition, bus: number): XmlElement {
  return element('interface', { type: 'ethernet' }, [
    element('mac', { address: iface.mac }),
    element('target', { dev: iface.tap, managed: 'no' }),
    element('model', { type: 'virtio' }),
    element('driver', {
      name: iface.vhost ? 'vhost' : 'qemu',
      queues: iface.queues,
    }),
    iface.mtu === 0 ? null : element('mtu', { size: iface.mtu }),
    // VMs do not boot from a network, and the ROM file may not be installed.
    element('rom', { enabled: 'no' }),
    renderAddress(bus),
  ]);
}

/** libvirt shows it as the console too. */
function serialElement(logPath: string): XmlElement {
  return element('serial', { type: 'pty' }, [
    element('log', { file: logPath, append: 'on' }),
    element('target', { port: 0 }),
  ]);
}
