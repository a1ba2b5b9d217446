import type { VmState } from '@gantry/model/vm-life/states';
import type { Queryable } from '../../connect.ts';

export type ConsoleVmRow = {
  state: VmState;
  host_id: string | null;
  /** Address of the scheduler that has the host's stream; empty or null if there is none. */
  scheduler_address: string | null;
};

/** Returns how to reach a VM's console, or undefined if the project has no such VM. */
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
  loginId: string;
  /** Null for a key. */
  tokenGeneration: number | null;
  expiresAt: Date;
};

export async function insertConsoleTicket(sql: Queryable, ticket: ConsoleTicket): Promise<void> {
  await sql`insert into console_tickets (hash, vm_id, actor_type, actor_id, login_id, token_generation, expires_at)
    values (${ticket.hash}, ${ticket.vmId}, ${ticket.actorType}, ${ticket.actorId}, ${ticket.loginId},
      ${ticket.tokenGeneration}, ${ticket.expiresAt})`;
}

type TakenTicket = {
  vm_id: string;
  type: 'user' | 'access_key';
  id: string;
  login_id: string;
  token_generation: number | null;
};

/** Uses up a ticket. Returns undefined if it was used before or has expired. */
export async function claimConsoleTicket(
  sql: Queryable,
  hash: string,
): Promise<TakenTicket | undefined> {
  const [row] = await sql<TakenTicket[]>`
    delete from console_tickets where hash = ${hash} and expires_at > now()
    returning vm_id, actor_type as type, actor_id as id, login_id, token_generation::float8 as token_generation`;
  return row;
}
