import { pathToFileURL } from 'node:url';
import { waitUntil } from '@gantry/local/base/wait-until';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { expect } from 'vitest';
import { type Client, connectClient } from '../processes/client.ts';
import { runAgentCommand } from '../processes/run-commands.ts';
import {
  type Command,
  type Process,
  type Processes,
  type Scheduler,
  startProcesses,
} from '../processes/start-processes.ts';
import { tinyGuestDirectory } from './guest/tiny-guest-directory.ts';
import { type LibvirtHost, startLibvirtHost } from './host.ts';
import { writeStandIns } from './stand-ins.ts';

/**
 * A cloud whose hosts run real VMs: api, scheduler and agents as processes, a libvirtd and a network
 * namespace for each host, and the tiny guest as image. Only the GPUs are stand-ins.
 */
export type RealCloud = {
  client: Client;
  /** The address of the api. */
  url: string;
  processes: Processes;
  hosts: RealHost[];
  /** The URL of a VM's console and the key for it. */
  console(vmId: string): { url: string; credentials: string };
  readonly scheduler: Scheduler;
  /** Starts the scheduler again, with the same port. */
  startScheduler(): Promise<void>;
  /** The host whose libvirt has the VM's domain. */
  hostOf(vmId: string): Promise<RealHost>;
  stop(): Promise<void>;
};

export type RealHost = LibvirtHost & {
  readonly agent: Process;
  /** Starts the agent again. */
  startAgent(): Promise<void>;
};

export const LOCATION = 'eu-north-a';
export const VM_TYPE = 'lab.1x';

/** A graceful stop can take 95 s, and everything is slower on a busy machine. */
const PATIENCE_MS = 300_000;

/** Where the scheduler runs, and how it and the hosts reach each other. */
export type Site = {
  /** The name or address at which agents reach the scheduler. */
  address: string;
  /** The environment of the api. Absent: nothing besides the usual. */
  apiEnvironment?: Record<string, string>;
  /** Called before the scheduler starts. Returns its environment. */
  prepare(processes: Processes): Promise<Record<string, string>>;
  command?: Command;
  connect(host: LibvirtHost, port: number): Promise<void>;
  agentEnvironment(host: LibvirtHost): Record<string, string>;
  /** Runs the agent of a host. Absent: in the host's network, with mounts of its own. */
  agentCommand?(host: LibvirtHost): Command;
};

/** The scheduler runs beside the test, and each host reaches its port through its own loopback. */
export const BESIDE: Site = {
  address: 'localhost',
  prepare: async () => ({}),
  connect: (host, port) => host.reachLoopback(port),
  agentEnvironment: () => ({}),
};

export async function startRealCloud(
  names: readonly string[],
  site: Site = BESIDE,
): Promise<RealCloud> {
  const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const processes = await startProcesses();
    endings.push(processes.stop);
    const api = await processes.startApi(site.apiEnvironment);
    const environment = {
      GANTRY_UNREACHABLE_AFTER_MS: '10000',
      ...(await site.prepare(processes)),
    };
    let scheduler = await processes.startScheduler(environment, site.command);
    const again = { ...environment, GANTRY_FLEET_PORT: String(scheduler.port) };
    const schedulers = `${site.address}:${scheduler.port}`;
    const client = await connectClient(processes, api, { patienceMs: PATIENCE_MS });
    await offerTinyGuest(client, { url: pathToFileURL(guest.path).href, sha256: guest.sha256 });
    const hosts: RealHost[] = [];
    for (const name of names) {
      const host = await startLibvirtHost(name);
      endings.push(host.stop);
      const sysfsRoot = await writeStandIns(host.directory);
      await site.connect(host, scheduler.port);
      await enroll(client, { host, schedulers });
      hosts.push(
        await withAgent(processes, host, site.agentCommand?.(host) ?? host.command, {
          ...host.environment,
          GANTRY_SCHEDULERS: schedulers,
          GANTRY_SYSFS_ROOT: sysfsRoot,
          GANTRY_STAND_IN_DEVICES: '1',
          GANTRY_REACHABLE_FROM_HOST: '1',
          GANTRY_LOG_LEVEL: 'debug',
          ...site.agentEnvironment(host),
        }),
      );
    }
    await untilAvailable(client);
    const hostOf = async (vmId: string) => {
      for (const host of hosts) {
        const listed = await host.libvirtd.run('virsh', 'list', '--all', '--uuid');
        if (listed.includes(vmId)) return host;
      }
      throw new Error(`no host has VM ${vmId}`);
    };
    const { project_id, access_key } = processes.credentials;
    const console = (vmId: string) => ({
      url: `${api.url.replace('http', 'ws')}/v0.1/projects/${project_id}/vms/${vmId}/console`,
      credentials: access_key,
    });
    return {
      ...{ client, url: api.url, processes, hosts, hostOf, console, stop },
      get scheduler() {
        return scheduler;
      },
      async startScheduler() {
        scheduler = await processes.startScheduler(again, site.command);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A type that fits a machine with two cores, an image, and an image with a wrong checksum. */
async function offerTinyGuest(client: Client, source: { url: string; sha256: string }) {
  const type = {
    ...{ name: VM_TYPE, description: 'One core, for trying things', locations: [LOCATION] },
    ...{ cpu_cores: 1, cpu_type: 'any', memory_gb: 1, memory_type: 'any' },
    ...{ disk_gb: 0, disk_type: 'none', disk_count: 0, network_gbps: 0 },
    ...{ gpu_count: 1, gpu_type: 'A40 48GB PCIe' },
  };
  const made = await client.admin('POST', '/vm-types', type);
  expect(made).toMatchObject({ status: 200 });
  for (const [name, sha256] of [
    ['tiny', source.sha256],
    ['forged', source.sha256.split('').reverse().join('')],
  ]) {
    const image = { name, source_url: source.url, sha256, locations: [LOCATION] };
    expect(await client.admin('POST', '/images', image)).toMatchObject({ status: 200 });
  }
}

async function enroll(
  client: Client,
  { host, schedulers }: { host: LibvirtHost; schedulers: string },
) {
  const { body } = await client.admin('POST', '/join-tokens', { location: LOCATION });
  const token = ['--token', body.token, '--ca-sha256', body.ca_sha256];
  const args = ['enroll', '--server', schedulers, '--name', host.name, ...token];
  const enrolled = await runAgentCommand(args, host.environment, host.command);
  expect(enrolled).toMatchObject({ code: 0 });
}

async function withAgent(
  processes: Processes,
  host: LibvirtHost,
  command: Command,
  env: Record<string, string>,
): Promise<RealHost> {
  const start = () => processes.startAgent({ command, env });
  let agent = await start();
  return {
    ...host,
    get agent() {
      return agent;
    },
    async startAgent() {
      agent = await start();
    },
  };
}

/** Waits until the hosts have reported their inventory and placement can use them. */
async function untilAvailable(client: Client): Promise<void> {
  const isAvailable = async () => {
    const { body } = await client.call('GET', '/availabilities');
    const offers = body.items as { type: string; available: boolean }[];
    return offers.some(({ type, available }) => type === VM_TYPE && available) || undefined;
  };
  if (await waitUntil({ limitMs: PATIENCE_MS, condition: isAvailable })) return;
  throw new Error(`no host has offered ${VM_TYPE} within ${PATIENCE_MS} ms`);
}
