import type { SettingsReader } from '@gantry/daemon/settings';
import type { DeviceKind } from '@gantry/model/host-states';
import { type DriveSettings, driveKind, readDriveSettings } from './drive/drive-kind.ts';
import { type GpuSettings, gpuKind, readGpuSettings } from './gpu/gpu-kind.ts';
import type { KindDriver } from './kind-driver.ts';

/** A kind without settings uses its defaults. */
export type KindSettings = { gpu: GpuSettings; drive?: DriveSettings };

export function readKindSettings(reader: SettingsReader): KindSettings {
  return { gpu: readGpuSettings(reader), drive: readDriveSettings(reader) };
}

/** All kinds of devices. Each has its folder; `kind-driver.ts` says what a kind is. */
export function createKinds({ gpu, drive }: KindSettings): readonly KindDriver[] {
  return [gpuKind(gpu), driveKind(drive)];
}

export function kindNamed(kinds: readonly KindDriver[], name: DeviceKind): KindDriver {
  const kind = kinds.find((one) => one.kind === name);
  if (!kind) throw new Error(`BUG: there is no driver for devices of the kind ${name}`);
  return kind;
}
