import type { VmState } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

export type ConsoleVmRow = {
  state: VmState;
  host_id: string | null;
  /** Of the scheduler that holds the host's stream; empty or null: nobody hears the host now. */
  scheduler_address: string | null;
};

/** Where a VM's console can be had; undefined where the project has no such VM. */
export async function readConsoleVm(
  sql: Queryable,
  { projectId, vmId }: { projectId: string; vmId: string },
): Promise<ConsoleVmRow | undefined> {
  const [row] = await sql<ConsoleVmRow[]>`
    select v.state, p.host_id, s.address as scheduler_address
    from vms v left join placements p on p.vm_id = v.id left join hosts h on h.id = p.host_id
      left join schedulers s on s.id = h.scheduler_id
    where v.project_id = ${projectId} and v.id = ${vmId}`;
  return row;
}

export type ConsoleTicket = {
  hash: string;
  vmId: string;
  actorType: 'user' | 'access_key';
  actorId: string;
  expiresAt: Date;
};

export async function insertConsoleTicket(sql: Queryable, ticket: ConsoleTicket): Promise<void> {
  await sql`insert into console_tickets (hash, vm_id, actor_type, actor_id, expires_at)
    values (${ticket.hash}, ${ticket.vmId}, ${ticket.actorType}, ${ticket.actorId}, ${ticket.expiresAt})`;
}

type TakenTicket = { type: 'user' | 'access_key'; id: string; vm_id: string };

/** Whose it was, and for what; undefined for one that was used, or has expired. It works once. */
export async function claimConsoleTicket(
  sql: Queryable,
  hash: string,
): Promise<TakenTicket | undefined> {
  const [row] = await sql<TakenTicket[]>`
    delete from console_tickets where hash = ${hash} and expires_at > now()
    returning actor_type as type, actor_id as id, vm_id`;
  return row;
}
