import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { claimConsoleTicket } from '@gantry/db/queries/vms/consoles';
import { badCredential, type Caller, type Callers } from './caller.ts';
import { isKey } from './keys.ts';

type Redemption = { sql: Sql; callers: Callers; ticket: string; vmId: string };

/**
 * Returns the caller that created the ticket, with its current rights. Browsers cannot send a
 * bearer with a WebSocket, so the ticket is in the URL. It opens one console once.
 */
export async function redeemConsoleTicket(redemption: Redemption): Promise<Caller> {
  const { sql, callers, ticket, vmId } = redemption;
  const taken = isKey('console_ticket', ticket)
    ? await claimConsoleTicket(sql, sha256(ticket))
    : undefined;
  if (taken?.vm_id !== vmId.toLowerCase()) throw badCredential();
  const { type, id, login_id: loginId, token_generation: generation } = taken;
  return await callers.recall({
    type,
    id,
    loginId,
    ...(generation === null ? {} : { generation }),
  });
}
