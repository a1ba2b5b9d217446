import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { ReceiptProperty } from '@gantry/model/receipt-property';
import { HostFailure } from '../../../base/failure.ts';
import { untilTrue } from '../../../base/until-true.ts';
import type { CleaningOutcome } from '../../../host-driver.ts';
import { bindToHost } from '../../pci/bind-driver.ts';
import type { AssigningHost, DeviceIdentity, KindDriver, ReturnedDevice } from '../kind-driver.ts';
import {
  type BoundDrive,
  changeOf,
  NVME_DRIVER,
  READY_TIMEOUT_MS,
  readDrive,
  untilDrive,
} from './bound-drive.ts';
import { DRIVE_CHECKS } from './check-drives.ts';
import { dismantle } from './dismantle.ts';
import { type DriveHealthReader, driveHealthReader } from './drive-health.ts';
import { readSetup, restoreSetup, setupChange } from './drive-setup.ts';
import { readDriveUses } from './drive-uses.ts';
import { EARLY_BOOT_FILES, type EarlyBootFiles, hideFromEarlyBoot } from './early-boot.ts';
import { eraseDrive } from './erase-drive.ts';
import { readDrives } from './read-drives.ts';
import { markTenantDrives } from './tenant-drives.ts';

export type DriveSettings = {
  /** Whether guests get block devices instead of the PCI devices, which stay on the host's driver. */
  asBlocks?: boolean;
  /** Absent: the health of drives is not read. */
  healthOf?: DriveHealthReader;
  /** The udev rules file that lists the drives of tenants. */
  tenantDrivesFile?: string;
  /** Where the host's initramfs gets its rules from. */
  earlyBoot?: EarlyBootFiles;
};

/** Mass storage, non-volatile memory. */
const STORAGE_CLASS = '0108';
const TENANT_DRIVES_FILE = '/etc/udev/rules.d/10-gantry-tenant-drives.rules';

/** NVMe drives: passed through whole or as blocks, and erased after a VM. */
export function driveKind(settings: DriveSettings = {}): KindDriver {
  const { asBlocks = false, healthOf, tenantDrivesFile = TENANT_DRIVES_FILE } = settings;
  const { earlyBoot = EARLY_BOOT_FILES } = settings;
  return {
    kind: 'drive',
    pciClass: STORAGE_CLASS,
    holdsData: true,
    ...(asBlocks && { hostDriver: NVME_DRIVER }),
    read: (host) => readDrives(host, healthOf),
    requireUnused,

    async identify(host, address) {
      const drive = await readDrive(host, address);
      if (drive === null) return null;
      const { serial, firmware, sizeBytes } = drive;
      const setup = await readSetup(host.control.run, drive);
      return { serial, firmware, sizeBytes, setup };
    },

    async filesOf(host, address) {
      const drive = await readDrive(host, address);
      return (drive?.namespaces ?? []).map(({ path }) => path);
    },

    markAssigned: ({ control }, drives) =>
      markTenantDrives({ file: tenantDrivesFile, run: control.run }, drives),

    hideFromBoot: ({ control }, drives) =>
      hideFromEarlyBoot({ files: earlyBoot, run: control.run }, drives),

    dismantle: ({ sysfs, control }, device) => dismantle({ sysfs, run: control.run, ...device }),

    clean,

    /** A drive on the host's driver is one whose blocks the guest gets: one part per namespace. */
    async guestParts(host, address) {
      const drive = await readDrive(host, address);
      if (drive === null) return null;
      return drive.namespaces.map(({ path }) => ({ path, serial: drive.serial }));
    },

    checks: DRIVE_CHECKS,
  };
}

export function readDriveSettings(reader: SettingsReader): DriveSettings {
  const mode = reader.text('GANTRY_NVME_MODE', 'vfio');
  if (mode !== 'vfio' && mode !== 'block') {
    throw new SettingsError(`GANTRY_NVME_MODE must be vfio or block, not "${mode}"`);
  }
  return { asBlocks: mode === 'block', healthOf: driveHealthReader() };
}

/** The content of a drive that the VM already has is not read: its tenant may have written anything. */
async function requireUnused(
  { sysfs, procRoot, devRoot }: AssigningHost,
  { address, isOwn }: { address: string; isOwn: boolean },
): Promise<void> {
  const uses = await readDriveUses({ sysfs, procRoot, ...(!isOwn && { devRoot }) }, address);
  if (uses.length === 0) return;
  const message = `the drive ${address} is in use by the host: ${uses.join(', ')}`;
  throw new HostFailure('device_in_use_by_host', message);
}

async function clean(
  host: AssigningHost,
  { address, before }: ReturnedDevice,
): Promise<CleaningOutcome> {
  await bindToHost(host, { address, driver: NVME_DRIVER });
  await restore(host, { address, before });
  const drive = await untilDrive(host, address);
  if (drive === null) return silent(address);
  const outcome = await eraseDrive(host.control, drive);
  if (outcome.failure) return outcome;
  const now = await untilDrive(host, address);
  if (now === null) return silent(address);
  const change = before?.identity ? await changeSince(host, before.identity, now) : null;
  if (change === null) return { ...outcome, properties: provenOf(outcome, before) };
  const message = `the drive ${address} came back changed: ${change}`;
  return { method: outcome.method, failure: { code: 'drive_changed', message } };
}

async function changeSince(
  { control }: AssigningHost,
  before: DeviceIdentity,
  now: BoundDrive,
): Promise<string | null> {
  const change = changeOf(before, now);
  if (change !== null || before.setup === undefined) return change;
  return setupChange(before.setup, await readSetup(control.run, now));
}

/**
 * Undoes what the tenant changed, before the drive is erased: the kernel shows a namespace with an
 * unusual format without its size, and it could not be erased.
 */
async function restore(
  host: AssigningHost,
  { address, before }: Pick<ReturnedDevice, 'address' | 'before'>,
): Promise<void> {
  const setup = before?.identity?.setup;
  if (setup === undefined) return;
  const isThere = async () => (await readDrive(host, address)) !== null;
  await untilTrue(isThere, READY_TIMEOUT_MS);
  const drive = await readDrive(host, address);
  if (drive === null) return;
  const { run } = host.control;
  await restoreSetup(run, drive, { before: setup, now: await readSetup(run, drive) });
}

function provenOf(
  { method }: CleaningOutcome,
  before: ReturnedDevice['before'],
): ReceiptProperty[] {
  const { identity } = before ?? {};
  const recorded = (name: string, detail: string | undefined): ReceiptProperty =>
    detail === undefined
      ? { name, state: 'not_verified', detail: 'nothing was recorded before' }
      : { name, state: 'verified', detail };
  const { setup } = identity ?? {};
  return [
    recorded('identity', identity ? 'serial number, firmware and size are as before' : undefined),
    recorded('setup', setup && `as before, or restored: ${Object.keys(setup).join(', ')}`),
    { name: 'data', state: 'verified', detail: `${method}; random bytes written before are gone` },
  ];
}

function silent(address: string): CleaningOutcome {
  const message = `the drive ${address} shows the host no namespace`;
  return { method: 'none', failure: { code: 'drive_silent', message } };
}
