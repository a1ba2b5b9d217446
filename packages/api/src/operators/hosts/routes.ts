import { listHosts, readHost } from '@gantry/db/queries/hosts/admin-hosts';
import { notFound } from '@gantry/model/errors';
import { page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import {
  acceptHost,
  changeHostAdminState,
  changeHostLabels,
  deleteHost,
  drainHost,
  fenceHost,
  liftStorageFence,
  revokeCertificates,
} from './change.ts';
import {
  ChangeHost,
  DrainingHost,
  FenceHost,
  HostDetails,
  HostPage,
  HostParams,
  HostQuery,
} from './schema.ts';
import { drainingHostView, hostDetailsView, hostView } from './view.ts';

export const adminHostRoutes = [
  route({
    id: 'admin-hosts.list',
    method: 'get',
    path: '/admin/hosts',
    summary: 'List hosts with their devices, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: HostQuery,
    reply: HostPage,
    handle: async ({ sql, query }) => {
      const rows = await listHosts(sql, {
        ...toIdListing(query),
        location: query.location ?? null,
        state: query.state ?? null,
        adminState: query.admin_state ?? null,
      });
      return page(rows, query.limit, hostView);
    },
  }),
  route({
    id: 'admin-hosts.get',
    method: 'get',
    path: '/admin/hosts/{host_id}',
    summary: 'Read a host with its devices, certificates and VMs',
    access: { level: 'operator', role: 'read-only' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params }) => {
      const host = await readHost(sql, params.host_id);
      if (!host) throw notFound('host');
      return hostDetailsView(host);
    },
  }),
  route({
    id: 'admin-hosts.change',
    method: 'patch',
    path: '/admin/hosts/{host_id}',
    summary: 'Replace the labels of a host',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    body: ChangeHost,
    reply: HostDetails,
    handle: async ({ sql, params: { host_id: hostId }, body: { labels } }) =>
      hostDetailsView(await changeHostLabels({ sql, hostId, labels })),
  }),
  route({
    id: 'admin-hosts.cordon',
    method: 'post',
    path: '/admin/hosts/{host_id}:cordon',
    summary: 'Place no new VMs on a host; its VMs stay. Ends a drain',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params: { host_id: hostId } }) =>
      hostDetailsView(await changeHostAdminState({ sql, hostId, adminState: 'cordoned' })),
  }),
  route({
    id: 'admin-hosts.uncordon',
    method: 'post',
    path: '/admin/hosts/{host_id}:uncordon',
    summary: 'Place VMs on a host again, after a cordon or a drain',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params: { host_id: hostId } }) =>
      hostDetailsView(await changeHostAdminState({ sql, hostId, adminState: 'active' })),
  }),
  route({
    id: 'admin-hosts.drain',
    method: 'post',
    path: '/admin/hosts/{host_id}:drain',
    summary:
      'Drain a host: place no new VMs on it, notify the tenants, and list the VMs that have to ' +
      'leave',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: DrainingHost,
    handle: async ({ sql, params }) =>
      drainingHostView(await drainHost({ sql, hostId: params.host_id })),
  }),
  route({
    id: 'admin-hosts.accept',
    method: 'post',
    path: '/admin/hosts/{host_id}:accept',
    summary:
      'Accept a host as it is now: this ends its drift, so that new VMs are placed on it again',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params }) =>
      hostDetailsView(await acceptHost({ sql, hostId: params.host_id })),
  }),
  route({
    id: 'admin-hosts.fence',
    method: 'post',
    path: '/admin/hosts/{host_id}:fence',
    summary:
      'Declare that a host is dead and will not return: its VMs may start elsewhere, its ' +
      'devices are not reused',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    body: FenceHost,
    reply: HostDetails,
    handle: async ({ sql, params: { host_id: hostId }, body: { confirm } }) =>
      hostDetailsView(await fenceHost({ sql, hostId, confirm })),
  }),
  route({
    id: 'admin-hosts.lift-storage-fence',
    method: 'post',
    path: '/admin/hosts/{host_id}:lift-storage-fence',
    summary:
      'State that a fenced server was switched off or erased: its fence in storage clusters is lifted',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    body: FenceHost,
    reply: HostDetails,
    handle: async ({ sql, params: { host_id: hostId }, body: { confirm } }) =>
      hostDetailsView(await liftStorageFence({ sql, hostId, confirm })),
  }),
  route({
    id: 'admin-hosts.revoke-certificates',
    method: 'post',
    path: '/admin/hosts/{host_id}:revoke-certificates',
    summary: 'Disconnect the agent of a host until it enrolls again; its VMs keep running',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params }) =>
      hostDetailsView(await revokeCertificates({ sql, hostId: params.host_id })),
  }),
  route({
    id: 'admin-hosts.delete',
    method: 'delete',
    path: '/admin/hosts/{host_id}',
    summary: 'Remove a host without VMs, and its devices',
    access: { level: 'operator', role: 'admin' },
    params: HostParams,
    reply: HostDetails,
    handle: async ({ sql, params }) =>
      hostDetailsView(await deleteHost({ sql, hostId: params.host_id })),
  }),
];
