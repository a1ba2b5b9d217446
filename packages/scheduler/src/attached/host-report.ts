import { GIB } from '@gantry/daemon/units';
import { withoutPlaces } from '@gantry/model/without-places';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';

/** A decoded report. Unset fields have their default values. */
export type HostReport = HostReport__Output;
export type VmReport = HostReport['vms'][number];
export type DeviceReceipt = HostReport['receipts'][number];

/** Spec numbers, revisions and generations that are greater were not issued by a scheduler. */
export const MAX_COUNTER = 2 ** 52;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Removes the character U+0000, which output of programs may contain and PostgreSQL cannot store. */
export function printable(text: string): string {
  return text.replaceAll('\0', '');
}

/** The reason of a host for a failure as tenants see it. */
export function reasonForTenants(message: string): string {
  return withoutPlaces(printable(message));
}

/** Rounds down to whole GiB. */
export function gib(sizeBytes: string): number {
  return Math.floor(Number(sizeBytes) / GIB);
}
