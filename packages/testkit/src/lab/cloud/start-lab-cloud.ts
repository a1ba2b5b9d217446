import path from 'node:path';
import { expect } from 'vitest';
import { type Client, connectClient } from '../../processes/client.ts';
import { runAgentCommand } from '../../processes/run-commands.ts';
import {
  type Api,
  type Processes,
  type Scheduler,
  startProcesses,
} from '../../processes/start-processes.ts';
import { type Lab, type LabOptions, startLab } from '../machine/start-lab.ts';
import { installGuestFirmware } from './guest-firmware.ts';
import { type LabAgent, labAgent } from './lab-agent.ts';
import { buildLabGuest } from './lab-guest.ts';
import { serveImage } from './serve-image.ts';

/**
 * A cloud with one host, which is a lab: PostgreSQL, the API and the scheduler run beside the test, the
 * agent runs in the machine. It reaches them and the image server through QEMU's user network, which
 * maps an address to the outer loopback.
 */
export type LabCloud = {
  lab: Lab;
  agent: LabAgent;
  client: Client;
  processes: Processes;
  api: Api;
  scheduler: Scheduler;
  stop(): Promise<void>;
};

export type LabCloudOptions = LabOptions & {
  /** The agent's environment. */
  environment?: Record<string, string>;
  /** How the agent is started. Absent: as a process of the test. */
  agentOf?: typeof labAgent;
};

export const LOCATION = 'eu-north-a';
export const HOST = 'lab';
/** The machine's address for the loopback of the computer that emulates it. */
const OUTSIDE = '10.0.2.2';

/** Vendors of the emulated display controllers. Only the first is also a vendor of real GPUs. */
const GPU_VENDORS = '1002,1af4,1234';

export async function startLabCloud(options: LabCloudOptions = {}): Promise<LabCloud> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  const held = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    endings.push(started.stop);
    return started;
  };
  try {
    // Concurrently: the machine's boot takes longest.
    const starting = {
      lab: held(startLab(options)),
      processes: held(startProcesses()),
      guest: buildLabGuest(),
    };
    // If one fails, the others are stopped too.
    await Promise.allSettled(Object.values(starting));
    const lab = await starting.lab;
    const processes = await starting.processes;
    const guest = await starting.guest;
    const api = await processes.startApi();
    const scheduler = await processes.startScheduler({
      GANTRY_FLEET_NAMES: `localhost,127.0.0.1,${OUTSIDE}`,
      GANTRY_UNREACHABLE_AFTER_MS: '600000',
    });
    const client = await connectClient(processes, api);
    const images = await held(serveImage(guest.path));
    const image = {
      ...{ name: 'tiny', sha256: guest.sha256, locations: [LOCATION] },
      source_url: `http://${OUTSIDE}:${images.port}/tiny.raw`,
    };
    expect(await client.admin('POST', '/images', image)).toMatchObject({ status: 200 });
    const agent = (options.agentOf ?? labAgent)(lab, {
      GANTRY_SCHEDULERS: `${OUTSIDE}:${scheduler.port}`,
      GANTRY_GPU_VENDORS: GPU_VENDORS,
      GANTRY_LOG_LEVEL: 'debug',
      // Guests write a few megabytes, so several fit on the small disk of the machine.
      GANTRY_STORAGE_OVERCOMMIT_PERCENT: '100000',
      ...options.environment,
    });
    await enroll({ client, lab, scheduler });
    await installGuestFirmware(lab);
    await agent.start();
    return { lab, agent, client, processes, api, scheduler, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Enrols the host outside the machine, where that is fast, and copies the host's identity, which is a
 * directory, into the machine.
 */
async function enroll({ client, lab, scheduler }: Pick<LabCloud, 'client' | 'lab' | 'scheduler'>) {
  const { body } = await client.admin('POST', '/join-tokens', { location: LOCATION });
  const token = ['--token', body.token, '--ca-sha256', body.ca_sha256];
  const where = ['--server', `localhost:${scheduler.port}`, '--name', HOST];
  const state = path.join(lab.share, 'state');
  const enrolled = await runAgentCommand(['enroll', ...where, ...token], {
    GANTRY_STATE_DIRECTORY: state,
  });
  expect(enrolled).toMatchObject({ code: 0 });
  await lab.ask('mkdir -p /var/lib && cp -a /share/state /var/lib/gantry && sync');
}
