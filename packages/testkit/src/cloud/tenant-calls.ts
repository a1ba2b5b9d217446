import type { TestApi } from '../api/test-api.ts';
import { LOCATION, newName, vmBody } from '../make/request-bodies.ts';
import type { TestTenant } from '../make/tenants.ts';

/** Requests of one tenant, as the member of its project. Paths are below the project. */
export type TenantCalls = {
  call(method: string, path: string, body?: unknown): ReturnType<TestApi['call']>;
  /** Sends a write that must be accepted. Returns the ids of its operation and its resource. */
  request(method: string, path: string, body?: unknown): Promise<Requested>;
  operation(id: string): Promise<Operation>;
  /** Creates a VM with one GPU. Fields of the request can be replaced. */
  createVm(fields?: Record<string, unknown>): Promise<Requested>;
  /** Creates a disk, which only a host can finish. */
  requestDisk(type?: 'persistent-ssd' | 'shared-volume'): Promise<Requested>;
  /** Returns the VM's state, or "gone". */
  vmState(vmId: string): Promise<string>;
};

export type Requested = { operationId: string; id: string };
export type Operation = { state: string; name: string; result: Record<string, unknown> | null };

export function tenantCalls(api: TestApi, tenant: TestTenant): TenantCalls {
  const call: TenantCalls['call'] = (method, path, body) =>
    api.call(method, `/projects/${tenant.projectId}${path}`, { bearer: tenant.accessKey, body });
  const request: TenantCalls['request'] = async (method, path, body) => {
    const reply = await call(method, path, body);
    if (reply.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
    const { operation } = reply.body;
    return { operationId: operation.operation_id, id: operation.metadata.id };
  };
  return {
    call,
    request,
    async operation(id) {
      const [row] = await api.sql<
        Operation[]
      >`select state, name, result from operations where id = ${id}`;
      if (!row) throw new Error(`there is no operation ${id}`);
      return row;
    },
    createVm: (fields) => request('POST', '/vms', vmBody(fields)),
    requestDisk: (type = 'persistent-ssd') =>
      request('POST', '/disks', {
        name: newName(),
        type,
        size: '10GiB',
        location: LOCATION,
        block_size: 512,
      }),
    async vmState(vmId) {
      const { status, body } = await call('GET', `/vms/${vmId}`);
      return status === 404 ? 'gone' : body.state;
    },
  };
}
