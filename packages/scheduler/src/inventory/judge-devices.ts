import type { KnownDevice } from '@gantry/db/queries/hosts/inventories';
import type { DeviceProblem } from '@gantry/model/device-problem';
import type { DeviceKind } from '@gantry/model/host-states';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { HealthRule } from '../health/health-rules.ts';
import { judgeDevice } from '../health/judge-device.ts';
import { seenDevices } from '../health/seen-device.ts';

export type JudgedDevice = {
  address: string;
  kind: DeviceKind;
  problems: DeviceProblem[];
  /** The problems with severity `block` that the device did not have before. */
  newlyBlocking: DeviceProblem[];
  /** The VM that has claimed the device, and its project. Null if the device is not claimed. */
  owner: { vmId: string; projectId: string } | null;
};

type Judging = {
  rules: readonly HealthRule[];
  /** Null if there is no previous inventory. */
  before: Inventory__Output | null;
  now: Inventory__Output;
  known: readonly KnownDevice[];
};

/** Judges all devices of the present inventory. Returns them by address. */
export function judgeDevices({ rules, before, now, known }: Judging): Map<string, JudgedDevice> {
  const at = new Date();
  const seenBefore = seenDevices(before);
  const judged = new Map<string, JudgedDevice>();
  const rows = new Map(known.map((row) => [row.pci_address, row]));
  for (const [address, device] of seenDevices(now)) {
    const row = rows.get(address);
    const standing = row?.problems ?? [];
    const problems = judgeDevice({
      rules,
      before: seenBefore.get(address),
      now: device,
      standing,
      at,
    });
    const newlyBlocking = problems.filter(
      ({ rule, severity }) =>
        severity === 'block' &&
        !standing.some((problem) => problem.rule === rule && problem.severity === 'block'),
    );
    const owner =
      row?.vm_id && row.project_id ? { vmId: row.vm_id, projectId: row.project_id } : null;
    judged.set(address, { address, kind: device.kind, problems, newlyBlocking, owner });
  }
  return judged;
}
