import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@gantry/testkit/processes/client';
import type {
  Api,
  Environment,
  Fleet,
  Process,
  Processes,
  Scheduler,
} from '@gantry/testkit/processes/start-processes';
import { ENROLLED } from './stand-in-programs.ts';

/**
 * What `systemctl` and `journalctl` do in the world of the documentation: the units of the control plane are its
 * processes, and `gantry-agent` is the agent of the host on which the command is executed.
 */
const UNITS = ['gantry-api', 'gantry-scheduler'] as const;
type Unit = (typeof UNITS)[number];
type Places = { credentials: string; dropIns: string; fleet: string };
type Target = { names: string[]; server: string };
type Units = Awaited<ReturnType<typeof startUnits>>;

/** The world as people in the data centre see it. */
export type Surroundings = {
  units: Units;
  processes: Processes;
  client: Client;
  databaseUrl: string;
  hosts: string[];
};

export async function startUnits(processes: Processes, places: Places) {
  const common = { CREDENTIALS_DIRECTORY: places.credentials };
  const ofScheduler = { ...common, GANTRY_UNREACHABLE_AFTER_MS: '3000' };
  const api = await processes.startApi(common);
  const scheduler = await processes.startScheduler(ofScheduler);
  const running: Record<Unit, Api | Scheduler> = {
    'gantry-api': api,
    'gantry-scheduler': scheduler,
  };
  /** All that ran, because a journal also has what ended. */
  const logs: { unit: string; process: Process }[] = UNITS.map((unit) => ({
    ...{ unit, process: running[unit] },
  }));
  let fleet: Fleet | undefined;
  let startFleet: () => Promise<Fleet>;

  const start = async (unit: Unit) => {
    if (running[unit].isRunning()) return;
    const dropped = await readDropIns(unit, places);
    running[unit] =
      unit === 'gantry-api'
        ? await processes.startApi({
            ...{ ...common, ...dropped, GANTRY_PORT: new URL(api.url).port },
            GANTRY_METRICS_PORT: String(api.metricsPort),
          })
        : await processes.startScheduler({
            ...{ ...ofScheduler, ...dropped, GANTRY_FLEET_PORT: String(scheduler.port) },
            GANTRY_METRICS_PORT: String(scheduler.metricsPort),
          });
    logs.push({ unit, process: running[unit] });
  };
  const order = async (host: string, verb: string): Promise<string> => {
    if (!host || !fleet) throw new Error(`${verb}: on which host?`);
    await fleet.order(host, verb);
    return '';
  };
  const addFleet = (started: Fleet, again: () => Promise<Fleet>) => {
    fleet = started;
    startFleet = again;
    logs.push({ unit: 'gantry-agent', process: started });
  };
  /** Simulated hosts read their identities when the fleet starts, so it is started again after one was enrolled. */
  const restartAgent = async (host: string) => {
    const mark = path.join(places.fleet, ENROLLED);
    if (!existsSync(mark)) {
      await order(host, 'kill-agent');
      await order(host, 'start-agent');
      return;
    }
    await rm(mark);
    await fleet?.kill();
    addFleet(await startFleet(), startFleet);
  };
  return {
    ...{ api, scheduler, addFleet, order },
    async perform(verb: string, { names, server }: Target): Promise<string> {
      if (verb === 'daemon-reload') return '';
      for (const name of names) {
        if (name === 'gantry-agent' && verb === 'stop') await order(server, 'kill-agent');
        else if (name === 'gantry-agent' && verb === 'restart') await restartAgent(server);
        else if (verb === 'status') return describe(running, names);
        else await change(verb, name);
      }
      return '';
    },
    async readLogs(args: string[]): Promise<string> {
      const units = args.flatMap((each, index) => (each === '-u' ? [args[index + 1]] : []));
      const limit = Number(args[args.indexOf('-n') + 1]);
      const lines = logs
        .filter(({ unit }) => units.includes(unit))
        .flatMap(({ process: each }) => each.log().split('\n').filter(Boolean));
      return `${(args.includes('-n') ? lines.slice(-limit) : lines).join('\n')}\n`;
    },
  };

  async function change(verb: string, name: string): Promise<void> {
    const unit = UNITS.find((each) => each === name);
    if (!unit) throw new Error(`there is no unit ${name}`);
    if (!['start', 'stop', 'restart'].includes(verb)) throw new Error(`systemctl ${verb}?`);
    if (verb !== 'start') await running[unit].kill();
    if (verb !== 'stop') await start(unit);
  }
}

function describe(running: Record<Unit, Process>, names: string[]): string {
  return names
    .map((name) => {
      const unit = UNITS.find((each) => each === name);
      if (!unit?.length) throw new Error(`there is no unit ${name}`);
      return `${name}.service: ${running[unit].isRunning() ? 'active' : 'inactive'}\n`;
    })
    .join('');
}

/** The settings and credentials that operators have added to a unit. */
async function readDropIns(unit: string, { credentials, dropIns }: Places): Promise<Environment> {
  const folder = path.join(dropIns, `${unit}.service.d`);
  if (!existsSync(folder)) return {};
  const texts = (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8'));
  const text = (await Promise.all(texts)).join('\n');
  for (const [, name = '', file = ''] of text.matchAll(/^LoadCredential=([^:\n]+):(.+)$/gm)) {
    const there = path.join(credentials, name);
    if (file !== there) await copyFile(file, there);
  }
  const set = [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)];
  return Object.fromEntries(
    set.map(([, name = '', value = '']) => [name, value.replaceAll('%d', credentials)]),
  );
}
