import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import { upsertDeviceReadings } from '@gantry/db/queries/hosts/device-readings';
import {
  type KnownDevice,
  lockHostForInventory,
  updateInventory,
  updateMissingDevices,
  upsertDevices,
} from '@gantry/db/queries/hosts/inventories';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { transact } from '@gantry/db/transact';
import { DEVICE_WORDS } from '@gantry/model/host-states';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { HealthRule } from '../health/health-rules.ts';
import { fingerprintRules } from '../health/read-rules.ts';
import { changedReadings } from './changed-readings.ts';
import { completeFacts, differences, factsOf, type HostFacts } from './host-facts.ts';
import { type HostParts, hostPartsOf, storageAddressOf, underlayAddressOf } from './host-parts.ts';
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
 * Records a host's inventory if it differs from the stored one: its hardware, the health of its
 * devices, and the differences from the hardware that an operator accepted (the drift).
 */
export async function recordInventory(recording: Recording): Promise<void> {
  const { log, rules, hostId, streamEpoch } = recording;
  const { inventory, inventoryJson } = withoutNullCharacters(recording.inventory);
  const judgedBy = fingerprintRules(rules);
  const underlayAddress = underlayAddressOf(inventory);
  await transact(recording.sql, async (sql) => {
    const known = await lockHostForInventory(sql, {
      hostId,
      streamEpoch,
      inventoryJson,
      judgedBy,
    });
    if (!known) return;
    const parts = hostPartsOf(inventory);
    const facts = factsOf(inventory);
    // The first inventory of an enrolled host is accepted as it is.
    const accepted = (known.host.accepted_facts as HostFacts | null) ?? facts;
    const drift = differences(accepted, facts);
    await updateInventory(sql, {
      hostId,
      inventoryJson,
      judgedBy,
      facts,
      drift,
      underlayAddress,
      storageAddress: storageAddressOf(inventory),
      numaNodes: parts.numaNodes,
      sharedStorage: parts.sharedStorage,
      enforcesBandwidth: parts.enforcesBandwidth,
      lacksNesting: parts.lacksNesting,
      storageGib: parts.storageGib,
      acceptedFacts: drift.length === 0 ? completeFacts(accepted, facts) : accepted,
    });
    const before = known.host.inventory as Inventory__Output | null;
    const judged = judgeDevices({ rules, before, now: inventory, known: known.devices });
    await writeDevices(sql, { hostId, parts, judged });
    const readings = changedReadings(before, inventory);
    if (readings.length > 0) await upsertDeviceReadings(sql, { hostId, readings });
    await notifyOwners(sql, judged);
    if (drift.join() !== known.host.drift.join())
      log.warn({ host_id: hostId, drift }, 'host drift changed');
    for (const device of devicesTakenByHost(known.devices, parts))
      log.error({ host_id: hostId, ...device }, 'the host uses a device that a VM has claimed');
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

/** Adds an event for each new problem. The VM keeps running and its owner decides what to do. */
async function notifyOwners(
  sql: Queryable,
  judged: ReadonlyMap<string, JudgedDevice>,
): Promise<void> {
  const events = [...judged.values()].flatMap(({ kind, address, owner, newlyBlocking }) => {
    if (!owner) return [];
    return newlyBlocking.map(({ message }) => ({
      projectId: owner.projectId,
      resourceType: 'vm' as const,
      resourceId: owner.vmId,
      type: 'vm_device_unhealthy' as const,
      message: `the ${DEVICE_WORDS[kind]} at ${address} is not healthy: ${message}. The VM keeps running; STOP and START give it another device`,
    }));
  });
  await insertEvents(sql, events);
}

/**
 * Returns the claimed devices that the host has begun to use itself. They are only logged: neither the
 * VM nor the host can be stopped without the loss of data.
 */
function devicesTakenByHost(known: readonly KnownDevice[], { devices }: HostParts) {
  return known.flatMap(({ pci_address, state, vm_id }) => {
    const uses = devices.find(({ pciAddress }) => pciAddress === pci_address)?.uses ?? [];
    if (vm_id === null || uses.length === 0 || state === 'used_by_host') return [];
    return [{ pci_address, vm_id, uses }];
  });
}

/** PostgreSQL cannot store the character U+0000, which JSON allows. */
function withoutNullCharacters(inventory: Inventory__Output) {
  const inventoryJson = JSON.stringify(inventory);
  if (!inventoryJson.includes('\\u0000')) return { inventory, inventoryJson };
  const cleaned = JSON.stringify(inventory, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  );
  return { inventory: JSON.parse(cleaned) as Inventory__Output, inventoryJson: cleaned };
}
