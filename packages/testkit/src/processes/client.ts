import { expect, vi } from 'vitest';
import type { Api, Processes } from './start-processes.ts';

/** The API as clients use it: over HTTP, with polling for asynchronous work. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Reply = { status: number; body: any };
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Operation = any;

export type Client = {
  /** Calls a path of the project as the tenant. */
  call(method: string, path: string, body?: object): Promise<Reply>;
  /** Calls a path below /v0.1 as the operator. */
  asOperator(method: string, path: string, body?: object): Promise<Reply>;
  /** Calls a path below /admin as the operator. */
  admin(method: string, path: string, body?: object): Promise<Reply>;
  /** Returns the operation that a write opened. The write must be accepted. */
  open(method: string, path: string, body?: object): Promise<Operation>;
  read(operation: Operation): Promise<Operation>;
  /** Returns the operation when it has ended. */
  ended(operation: Operation): Promise<Operation>;
  createVm(fields: {
    name: string;
    type?: string;
    location?: string;
    image?: string;
    startup_script?: string;
  }): Promise<Operation>;
  stateOf(vmId: string): Promise<string>;
};

const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx test@example';
const OPERATION_PATHS: Record<string, string> = {
  vm: '/vms/operations',
  disk: '/disks/operations',
  snapshot: '/snapshots/operations',
  backup: '/backups/operations',
  image: '/images/operations',
  'vpc-firewall-rule': '/vpc/firewall-rules/operations',
};

/** Waits for a condition as long as a busy machine may need. Real guests need longer. */
const PATIENCE_MS = 30_000;

export async function connectClient(
  { credentials }: Pick<Processes, 'credentials'>,
  api: Pick<Api, 'url'>,
  { patienceMs = PATIENCE_MS } = {},
): Promise<Client> {
  const { project_id, access_key } = credentials;
  const token = await credentials.operator_token();
  const send = async (bearer: string, method: string, path: string, body?: object) => {
    const response = await fetch(`${api.url}/v0.1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: await response.json() };
  };
  const call: Client['call'] = (method, path, body) =>
    send(access_key, method, `/projects/${project_id}${path}`, body);
  const read: Client['read'] = async ({ operation_id, metadata }) =>
    (await call('GET', `${OPERATION_PATHS[metadata.type]}/${operation_id}`)).body;
  const open: Client['open'] = async (method, path, body) => {
    const reply = await call(method, path, body);
    expect(reply).toMatchObject({ status: 200 });
    const { operation } = reply.body;
    return operation;
  };
  return {
    ...{ call, read, open },
    asOperator: (method, path, body) => send(token, method, path, body),
    admin: (method, path, body) => send(token, method, `/admin${path}`, body),
    async ended(operation) {
      return await vi.waitFor(
        async () => {
          const now = await read(operation);
          expect(now.state).not.toBe('IN_PROGRESS');
          return now;
        },
        { timeout: patienceMs, interval: 50 },
      );
    },
    createVm: (fields) =>
      open('POST', '/vms', {
        ...{ type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
        ...{ ssh_public_key: SSH_PUBLIC_KEY, ...fields },
      }),
    async stateOf(vmId) {
      const { status, body } = await call('GET', `/vms/${vmId}`);
      return status === 200 ? body.state : String(status);
    },
  };
}

/** The same api with the key of another project. */
export async function connectToNewProject(
  processes: Pick<Processes, 'credentials'>,
  api: Pick<Api, 'url'>,
  options: { patienceMs?: number } = {},
): Promise<Client> {
  const { asOperator } = await connectClient(processes, api);
  const [organization] = (await asOperator('GET', '/organizations')).body;
  const project = { name: 'another', organization_id: organization.id };
  const { id } = (await asOperator('POST', '/projects', project)).body;
  const { body: key } = await asOperator('POST', `/projects/${id}/access-keys`, { name: 'key' });
  const credentials = { project_id: id, access_key: key.access_key };
  const known = { credentials: { ...processes.credentials, ...credentials } };
  return await connectClient(known, api, options);
}
