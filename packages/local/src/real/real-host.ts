import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Settings } from '../base/settings.ts';
import { StartError } from '../base/start-error.ts';
import { buildTinyGuest, type TinyGuest } from '../guest/build-tiny-guest.ts';
import type { Connection } from '../home/credentials.ts';
import type { Home } from '../home/home.ts';
import { ensureReachable } from '../postgres/reachable-directory.ts';
import { type RunningChild, startChild } from '../processes/child-process.ts';
import { describeProblems } from './describe-problems.ts';
import { ensureEnrolled } from './enroll-host.ts';
import { describeGuestsLeft, listGuests } from './guests-left.ts';
import { type LibvirtDaemons, startLibvirtDaemons } from './libvirt-daemons.ts';
import {
  describeAccelerator,
  isReplying,
  LIBVIRT_SOCKET,
  lookAtMachine,
} from './look-at-machine.ts';
import { offerTinyGuest } from './offer-tiny-guest.ts';
import { requireOnlyOne } from './only-one.ts';
import { connectOperator } from './operator.ts';
import { ensureStandIns } from './stand-ins.ts';

/**
 * This machine as a host. In the home, `host` contains the agent's state and the stand-ins for
 * GPUs, and `host-data` contains the VMs' files, in a place that QEMU's user can reach.
 */
export type RealHost = {
  start(place: Place): Promise<Offered>;
  /** Called after the agent has stopped. Prints which VMs still run and how to stop them. */
  leave(say: (text: string) => void): Promise<void>;
};

export type Offered = { image: string; networkId: string };

type Place = {
  connection: Connection;
  schedulerPort: number;
  environment: NodeJS.ProcessEnv;
  running: { children: RunningChild[] };
  signal: AbortSignal;
};

type Preparation = { root: string; home: Home; settings: Settings; say: (line: string) => void };

/** Checked before anything starts, so that the error is one clear list. */
export async function requireRealHost({ libvirtSocket }: Settings): Promise<void> {
  const problems = describeProblems(await lookAtMachine(libvirtSocket));
  if (problems !== undefined) throw new StartError(problems);
  await requireOnlyOne();
}

export async function prepareRealHost(preparation: Preparation): Promise<RealHost> {
  const { root, home, settings, say } = preparation;
  const socketPath = settings.libvirtSocket ?? LIBVIRT_SOCKET;
  say('Building the tiny guest …');
  const guest = await buildTinyGuest({ directory: home.file('tiny-guest') });
  await mkdir(home.file('host'), { recursive: true, mode: 0o700 });
  await ensureStandIns(home.file('host/sys'));
  const dataDirectory = await ensureReachable(home, 'host-data');
  say(await describeAccelerator(settings.accelerator, dataDirectory));
  let daemons: LibvirtDaemons | undefined;
  if (!(await isReplying(socketPath))) {
    say('Starting virtlogd and libvirtd …');
    daemons = await startLibvirtDaemons(home);
  }
  const agentScript = path.join(root, 'packages/agent/dist/main.mjs');
  return {
    start: (place) =>
      start({ place, home, guest, agentScript, dataDirectory, socketPath, settings, say }),
    async leave(tell) {
      const guests = await listGuests(socketPath).catch(() => undefined);
      if (guests?.length === 0) await daemons?.stop();
      if (guests === undefined || guests.length === 0) return;
      tell(describeGuestsLeft({ guests, socketPath, daemonsLeft: daemons !== undefined }));
    },
  };
}

type Start = {
  place: Place;
  home: Home;
  guest: TinyGuest;
  agentScript: string;
  dataDirectory: string;
  socketPath: string;
  settings: Settings;
  say: (line: string) => void;
};

async function start({ place, home, guest, ...rest }: Start): Promise<Offered> {
  const { connection, schedulerPort, environment, running, signal } = place;
  const { agentScript, dataDirectory, socketPath, settings, say } = rest;
  const operator = await connectOperator(connection);
  const image = await offerTinyGuest({ operator, home, guest });
  const stateDirectory = home.file('host/state');
  await ensureEnrolled({ operator, agentScript, stateDirectory, schedulerPort, environment });
  const spec = {
    name: 'agent',
    script: agentScript,
    args: ['run'],
    logFile: home.file('agent.log'),
    environment: () => ({
      ...environment,
      GANTRY_STATE_DIRECTORY: stateDirectory,
      GANTRY_DATA_DIRECTORY: dataDirectory,
      GANTRY_LIBVIRT_SOCKET: socketPath,
      GANTRY_SCHEDULERS: `localhost:${schedulerPort}`,
      GANTRY_SYSFS_ROOT: home.file('host/sys'),
      GANTRY_STAND_IN_DEVICES: '1',
      GANTRY_ALLOW_EMULATION: settings.accelerator.allowEmulation ? '1' : '0',
      GANTRY_REACHABLE_FROM_HOST: '1',
      // Each OS disk may have 128 GiB, more than many laptops. The reserve still keeps the file system from being full.
      GANTRY_STORAGE_OVERCOMMIT_PERCENT: '100000',
    }),
    say,
  };
  running.children.push(await startChild(spec, signal));
  const networks = `/projects/${connection.project_id}/vpc/networks`;
  const { items } = await operator.call<{ items: { id: string; name: string }[] }>('GET', networks);
  const network = items.find(({ name }) => name === 'default') ?? items[0];
  if (!network) throw new StartError(`The project ${connection.project_id} has no network.`);
  return { image, networkId: network.id };
}
