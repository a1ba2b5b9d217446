import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  type KnownDevice,
  lockHostForInventory,
  updateInventory,
  updateMissingDevices,
  upsertDevices,
} from '@gantry/db/queries/hosts/inventories';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { transact } from '@gantry/db/transact';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { HealthRule } from '../health/health-rules.ts';
import { nameRules } from '../health/read-rules.ts';
import { differences, factsOf, type HostFacts, learnt } from './host-facts.ts';
import { type HostParts, hostPartsOf, underlayAddressOf } from './host-parts.ts';
import { type JudgedDevice, judgeDevices } from './judge-devices.ts';

type Recording = {
  sql: Sql;
  log: Log;
  rules: readonly HealthRule[];
  hostId: string;
  streamEpoch: string;
  inventory: Inventory__Output;
};

/**
 * Writes down what a host is made of, where it differs from what is known; what that says of its
 * devices' health; and whether it is still the host that was accepted.
 */
export async function recordInventory(recording: Recording): Promise<void> {
  const { log, rules, hostId, streamEpoch } = recording;
  const { inventory, inventoryJson } = withoutZeros(recording.inventory);
  const judgedBy = nameRules(rules);
  const underlayAddress = underlayAddressOf(inventory);
  await transact(recording.sql, async (sql) => {
    const known = await lockHostForInventory(sql, {
      ...{ hostId, streamEpoch, inventoryJson, judgedBy, underlayAddress },
    });
    if (!known) return;
    const parts = hostPartsOf(inventory);
    const facts = factsOf(inventory);
    // Letting a host in is accepting it as it is.
    const accepted = (known.host.accepted_facts as HostFacts | null) ?? facts;
    const drift = differences(accepted, facts);
    await updateInventory(sql, {
      ...{ hostId, inventoryJson, judgedBy, facts, drift, underlayAddress },
      ...{ numaNodes: parts.numaNodes, sharedStorage: parts.sharedStorage },
      acceptedFacts: drift.length === 0 ? learnt(accepted, facts) : accepted,
    });
    const before = known.host.inventory as Inventory__Output | null;
    const judged = judgeDevices({ rules, before, now: inventory, known: known.devices });
    await writeDevices(sql, { hostId, parts, judged });
    await tellOwners(sql, judged);
    if (drift.join() !== known.host.drift.join())
      log.warn({ hostId, drift }, 'how the host differs from what was accepted has changed');
    for (const device of takenByHost(known.devices, parts))
      log.error({ hostId, ...device }, 'the host itself uses a drive that a VM has');
  });
}

type Devices = { hostId: string; parts: HostParts; judged: ReadonlyMap<string, JudgedDevice> };

async function writeDevices(sql: Queryable, { hostId, parts, judged }: Devices): Promise<void> {
  const devices = parts.devices.map((device) => ({
    ...device,
    problems: judged.get(device.pciAddress)?.problems ?? [],
  }));
  if (devices.length > 0) await upsertDevices(sql, { hostId, devices });
  await updateMissingDevices(sql, {
    hostId,
    found: devices.map(({ pciAddress }) => pciAddress),
  });
}

/** Of what is new: the VM runs on, and its owner decides what becomes of it. */
async function tellOwners(
  sql: Queryable,
  judged: ReadonlyMap<string, JudgedDevice>,
): Promise<void> {
  const events = [...judged.values()].flatMap(({ kind, address, owner, newlyBlocking }) => {
    if (!owner) return [];
    const what = kind === 'gpu' ? 'GPU' : 'drive';
    return newlyBlocking.map(({ message }) => ({
      ...{ projectId: owner.projectId, resourceType: 'vm' as const, resourceId: owner.vmId },
      type: 'vm_device_unhealthy' as const,
      message: `the ${what} at ${address} is not healthy: ${message}. The VM runs on; STOP and START give it another`,
    }));
  });
  await insertEvents(sql, events);
}

/** Known for the first time: nothing is done to either, for each would be wrong for somebody. */
function takenByHost(known: readonly KnownDevice[], { devices }: HostParts) {
  return known.flatMap(({ pci_address, state, vm_id }) => {
    const uses = devices.find(({ pciAddress }) => pciAddress === pci_address)?.uses ?? [];
    if (vm_id === null || uses.length === 0 || state === 'used_by_host') return [];
    return [{ pciAddress: pci_address, vmId: vm_id, uses }];
  });
}

/** JSON may have the character zero, a database may not. */
function withoutZeros(inventory: Inventory__Output) {
  const inventoryJson = JSON.stringify(inventory);
  if (!inventoryJson.includes('\\u0000')) return { inventory, inventoryJson };
  const cleaned = JSON.stringify(inventory, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  );
  return { inventory: JSON.parse(cleaned) as Inventory__Output, inventoryJson: cleaned };
}
