import { type Finding, fail, ok } from '../base/finding.ts';
import { readIommuMode } from '../inventory/iommu-mode.ts';
import type { Check, DoctorHost } from './doctor-host.ts';
import { findModule, MISSING_MODULE_ADVICE } from './kernel-modules.ts';

/** Bit of a VT-d unit's extended capabilities: it can remap interrupts. */
const INTERRUPT_REMAPPING = 0x8n;

export const checkIommu: Check = async (host) => {
  const groups = await host.sysfs.list('kernel/iommu_groups');
  if (groups.length === 0) {
    return [fail('IOMMU', 'off: no device can be given to a VM', await howToTurnOn(host))];
  }
  const mode = (await readIommuMode(host.sysfs)) || 'mode unknown';
  return [ok('IOMMU', `on: ${groups.length} groups, ${mode} for the host's own devices`)];
};

async function howToTurnOn({ architecture, files }: DoctorHost): Promise<string> {
  if (architecture === 'arm64') return 'turn on the SMMU in the firmware';
  const cpuinfo = (await files.text('proc/cpuinfo')) ?? '';
  return cpuinfo.includes('AuthenticAMD')
    ? 'turn on AMD-Vi (IOMMU) in the BIOS; if amd_iommu=off is on the kernel command line, remove it'
    : 'turn on VT-d in the BIOS and add intel_iommu=on iommu=pt to the kernel command line';
}

/** Without interrupt remapping on x64, a device could send interrupts of other devices. */
export const checkInterrupts: Check = async ({ architecture, sysfs, files }) => {
  if (architecture !== 'x64') return [];
  const check = 'interrupt remapping';
  const unsafe = await sysfs.text('module/vfio_iommu_type1/parameters/allow_unsafe_interrupts');
  if (unsafe === 'Y') {
    const advice = 'remove allow_unsafe_interrupts from /etc/modprobe.d and start the host anew';
    return [fail(check, 'VFIO is told to do without', advice)];
  }
  const commandLine = ((await files.text('proc/cmdline')) ?? '').split(/\s+/);
  if (commandLine.includes('intremap=off') || commandLine.includes('nointremap')) {
    return [fail(check, 'turned off', 'remove intremap=off from the kernel command line')];
  }
  return await checkUnits(check, sysfs);
};

/** Intel's units report it; all of AMD's can. */
async function checkUnits(check: string, sysfs: DoctorHost['sysfs']): Promise<Finding[]> {
  const units = await sysfs.list('class/iommu');
  if (units.length === 0) return [];
  for (const unit of units) {
    const capabilities = await sysfs.text(`class/iommu/${unit}/intel-iommu/ecap`);
    if (capabilities === undefined || !/^[\da-f]+$/i.test(capabilities)) continue;
    if ((BigInt(`0x${capabilities}`) & INTERRUPT_REMAPPING) === 0n) {
      return [
        fail(check, `${unit} cannot do it`, 'turn on x2APIC and interrupt remapping in the BIOS'),
      ];
    }
  }
  return [ok(check, `supported by ${units.join(', ')}`)];
}

/** Whether the module is loaded, built into the kernel, or available to load. */
export const checkVfio: Check = async (host) => {
  if ((await host.sysfs.list('bus/pci/drivers/vfio-pci')).length > 0) {
    return [ok('vfio-pci', 'loaded')];
  }
  const module = await findModule(host, 'vfio-pci');
  if (module === 'built in') return [ok('vfio-pci', 'part of the kernel')];
  if (module === 'loadable') return [ok('vfio-pci', 'loaded when it is needed')];
  return [fail('vfio-pci', `the kernel ${host.kernel} does not have it`, MISSING_MODULE_ADVICE)];
};
