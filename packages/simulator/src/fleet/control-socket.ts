import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { HostFailure } from '@gantry/agent/base/failure';
import type { Log } from '@gantry/daemon/log';
import { BadControlRequest, type ControlOrder, parseControlOrder } from './control-request.ts';
import { lookAtHost } from './host-sight.ts';
import type { SimulatedHost } from './simulated-host.ts';

/**
 * Injects faults into a running fleet: HTTP over a Unix socket in the fleet's directory. Every user
 * who may open that file may use it. It changes hosts without their agents, as real faults do.
 */
export type ControlSocket = { path: string; stop(): Promise<void> };

type Options = {
  directory: string;
  /** By name. */
  hosts: ReadonlyMap<string, SimulatedHost>;
  log: Log;
};
type Reply = { status: number; body: object };

export async function startControlSocket(options: Options): Promise<ControlSocket> {
  const path = join(options.directory, 'control.sock');
  // Removes the socket of a killed fleet. A directory has only one fleet at a time.
  await rm(path, { force: true });
  const server = createServer((request, response) => {
    void reply(request, options).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(body)}\n`);
    });
  });
  await listen(server, path);
  await chmod(path, 0o600);
  return {
    path,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

async function reply(request: IncomingMessage, { hosts, log }: Options): Promise<Reply> {
  try {
    if (request.method === 'GET' && request.url === '/hosts') {
      return { status: 200, body: { items: [...hosts].map(showHost) } };
    }
    if (request.method === 'GET' && request.url === '/sights') {
      return { status: 200, body: { items: [...hosts.values()].map(lookAtHost) } };
    }
    const [, name = '', verb = ''] = /^\/hosts\/([^/]+)\/([^/]+)$/.exec(request.url ?? '') ?? [];
    const host = hosts.get(name);
    if (request.method !== 'POST' || !host) {
      const message =
        'there is GET /hosts, GET /sights, and POST /hosts/{name}/{verb} for those hosts';
      return { status: 404, body: { message } };
    }
    const order = parseControlOrder(verb, await readBody(request));
    await obey(host, order);
    log.info({ host: name, ...order }, 'control request');
    return { status: 200, body: showHost([name, host]) };
  } catch (error) {
    if (!(error instanceof BadControlRequest) && !(error instanceof HostFailure)) {
      log.error({ error }, 'control request failed');
      return { status: 500, body: { message: String(error) } };
    }
    return { status: 400, body: { message: error.message } };
  }
}

function showHost([name, host]: [string, SimulatedHost]) {
  const domains = host.driver.hypervisor.look();
  return {
    ...{ name, host_id: host.id, agent: host.isRunning ? 'running' : 'killed' },
    hanging: host.driver.faults.hangingSteps(),
    vms: domains.map(({ vmId, state }) => ({ id: vmId, state })),
  };
}

async function obey(host: SimulatedHost, order: ControlOrder): Promise<void> {
  const { faults, hypervisor } = host.driver;
  switch (order.verb) {
    case 'crash':
      return host.driver.crashDomain(order.vmId);
    case 'wedge':
      return hypervisor.wedge(order.vmId);
    case 'unwedge':
      return hypervisor.unwedge(order.vmId);
    case 'fail':
      return faults.failNext(order.step, order.times, order);
    case 'hang':
      return faults.hang(order.step);
    case 'unhang':
      return faults.unhang(order.step);
    case 'clear-faults':
      faults.clear();
      for (const { vmId, unresponsive } of hypervisor.look()) {
        if (unresponsive) hypervisor.unwedge(vmId);
      }
      return;
    case 'kill-agent':
      return host.kill();
    case 'start-agent':
      return host.isRunning ? undefined : await host.start();
    case 'power-off':
      return host.powerOff();
    case 'reboot':
      return await host.reboot();
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const sent = await text(request);
  if (sent === '') return {};
  try {
    const body: unknown = JSON.parse(sent);
    if (typeof body === 'object' && body !== null) return body as Record<string, unknown>;
  } catch {
    // The error below covers this case.
  }
  throw new BadControlRequest('the body must be a JSON object');
}
