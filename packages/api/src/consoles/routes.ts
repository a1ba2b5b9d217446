import { badRequest } from '@gantry/model/errors';
import { authorize } from '../auth/authorize.ts';
import { actorOf } from '../auth/caller.ts';
import { API_PREFIX } from '../http/openapi.ts';
import { route } from '../http/route.ts';
import { VmParams } from '../vms/schema.ts';
import { dialConsole } from './dial-console.ts';
import { createConsoleTicket, requirePlace, requireRunningVm } from './open.ts';
import { ConsoleQuery, ConsoleTicket, Opened } from './schema.ts';
import { serveConsole } from './serve-console.ts';

const PATH = '/projects/{project_id}/vms/{vm_id}/console';
/** A person who types at the console can change the VM. */
const ACCESS = { level: 'project', role: 'member' } as const;

export const consoleRoutes = [
  route({
    id: 'consoles.open',
    method: 'get',
    path: PATH,
    summary: "Open a VM's serial console over a WebSocket",
    access: ACCESS,
    webSocket: true,
    params: VmParams,
    query: ConsoleQuery,
    reply: Opened,
    handle: async ({ deps, sql, caller, scope, params, upgrade }) => {
      const { callers, secrets, clock, log } = deps;
      const vmId = params.vm_id;
      const vm = await requireRunningVm(sql, { projectId: scope.projectId, vmId });
      if (!upgrade) throw badRequest([{ field: 'Upgrade', reason: 'must be "websocket"' }]);
      const dial = await dialConsole({ sql, secrets, clock, vmId, place: requirePlace(vm) });
      const requireRights = async () => {
        const again = await callers.recall(actorOf(caller));
        await authorize({ access: ACCESS, caller: again, params, callers });
      };
      upgrade((socket) =>
        serveConsole({ socket, call: dial(), requireRights, log, timings: deps.consoleTimings }),
      );
      return {};
    },
  }),
  route({
    id: 'consoles.create-ticket',
    method: 'post',
    path: PATH,
    summary:
      "Create a ticket that opens a VM's serial console once, for clients that cannot send headers",
    access: ACCESS,
    secretReply: true,
    params: VmParams,
    reply: ConsoleTicket,
    handle: async ({ deps, sql, caller, scope, params, now }) => {
      const vm = { projectId: scope.projectId, vmId: params.vm_id };
      const { ticket, expiresAt } = await createConsoleTicket(sql, { vm, caller, now });
      const path = `${API_PREFIX}/projects/${vm.projectId}/vms/${vm.vmId}/console`;
      return {
        ticket,
        url: `${deps.baseUrl().replace(/^http/, 'ws')}${path}?ticket=${ticket}`,
        expires_at: expiresAt.toISOString(),
      };
    },
  }),
];
