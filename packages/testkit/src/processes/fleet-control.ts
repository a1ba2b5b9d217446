import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { HostSight } from '@gantry/simulator/fleet/host-sight';

/** A client of the control socket of gantry-fleet. */
export type FleetControl = {
  hosts(): Promise<ControlledHost[]>;
  /** Everything on the hosts, read without their agents. */
  sights(): Promise<HostSight[]>;
  /** Returns the host that has, or is assigned, the VM's domain. */
  hostOf(vmId: string): Promise<string>;
  order(host: string, verb: string, body?: object): Promise<void>;
};
export type ControlledHost = {
  name: string;
  host_id: string;
  agent: 'running' | 'killed';
  /** Steps in which its agent waits without end. */
  hanging: string[];
  vms: { id: string; state: string }[];
};

export function controlOf(socketPath: string): FleetControl {
  const hosts = async () =>
    (await send<{ items: ControlledHost[] }>({ socketPath, method: 'GET', path: '/hosts' })).items;
  return {
    hosts,
    sights: async () =>
      (await send<{ items: HostSight[] }>({ socketPath, method: 'GET', path: '/sights' })).items,
    async hostOf(vmId) {
      const found = (await hosts()).find(({ vms }) => vms.some(({ id }) => id === vmId));
      if (!found) throw new Error(`no simulated host has VM ${vmId}`);
      return found.name;
    },
    async order(host, verb, body = {}) {
      await send({ socketPath, method: 'POST', path: `/hosts/${host}/${verb}`, body });
    },
  };
}

type Request = { socketPath: string; method: string; path: string; body?: object };

async function send<Reply>({ socketPath, method, path, body }: Request): Promise<Reply> {
  const { status, said } = await new Promise<{ status: number; said: string }>(
    (resolve, reject) => {
      // A connection of its own: the fleet may close an idle one at the moment it is used again.
      const sent = request({ socketPath, method, path, agent: false }, (response) => {
        text(response).then((said) => resolve({ status: response.statusCode ?? 0, said }), reject);
      });
      sent.once('error', reject);
      sent.end(body ? JSON.stringify(body) : undefined);
    },
  );
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${said}`);
  return JSON.parse(said) as Reply;
}
