import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  type ConsoleVmRow,
  insertConsoleTicket,
  readConsoleVm,
} from '@gantry/db/queries/vms/consoles';
import { CloudError, notFound } from '@gantry/model/errors';
import { actorOf, type Caller } from '../auth/caller.ts';
import { newKey } from '../auth/keys.ts';

/** Short, because a program opens the console right after it got the ticket. */
const TICKET_LIFETIME_MS = 30_000;

type Vm = { projectId: string; vmId: string };

/** The host of a VM, and the scheduler that is connected to the host. */
export type ConsolePlace = { hostId: string; address: string };

export async function requireRunningVm(sql: Queryable, vm: Vm): Promise<ConsoleVmRow> {
  const row = await readConsoleVm(sql, vm);
  if (!row) throw notFound('VM');
  if (row.state === 'STATE_RUNNING') return row;
  throw new CloudError('conflict', `the VM is ${row.state}; a console needs STATE_RUNNING`);
}

export function requirePlace({ host_id, scheduler_address }: ConsoleVmRow): ConsolePlace {
  if (host_id !== null && scheduler_address) return { hostId: host_id, address: scheduler_address };
  throw new CloudError('unavailable', 'the host of the VM is not connected: try again shortly');
}

export async function createConsoleTicket(
  sql: Queryable,
  { vm, caller, now }: { vm: Vm; caller: Caller; now: Date },
): Promise<{ ticket: string; expiresAt: Date }> {
  await requireRunningVm(sql, vm);
  const ticket = newKey('console_ticket');
  const expiresAt = new Date(now.getTime() + TICKET_LIFETIME_MS);
  const { type, id, loginId = '', generation = null } = actorOf(caller);
  await insertConsoleTicket(sql, {
    hash: sha256(ticket),
    vmId: vm.vmId,
    expiresAt,
    actorType: type,
    actorId: id,
    loginId,
    tokenGeneration: generation,
  });
  return { ticket, expiresAt };
}
