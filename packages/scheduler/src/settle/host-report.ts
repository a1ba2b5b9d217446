import { GIB } from '@gantry/daemon/units';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';

/** A report as it was received: every field is there, unset ones with their default. */
export type HostReport = HostReport__Output;
export type VmReport = HostReport['vms'][number];
export type DeviceReceipt = HostReport['receipts'][number];

/** What a host says is text of anything it ran; the database takes no character zero. */
export function printable(text: string): string {
  return text.replaceAll('\0', '');
}

/** Whole GiB; what is not whole yet does not count. */
export function gib(sizeBytes: string): number {
  return Math.floor(Number(sizeBytes) / GIB);
}
