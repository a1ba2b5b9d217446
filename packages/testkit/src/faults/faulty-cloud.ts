import { type Client, connectClient } from '../processes/client.ts';
import {
  type Api,
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '../processes/start-processes.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { ReplicatedPostgres } from './replicated-postgres.ts';

/**
 * A cloud of separate processes with a fault proxy between any two of them: apis, schedulers, fleets
 * of simulated hosts with real agents, and PostgreSQL with a replica. A member that is killed can be
 * started again; it then has another port, and the proxies lead there.
 */
export type Member<P> = {
  name: string;
  process: P;
  /** Starts the process again after it was killed, perhaps with other settings. */
  restart(env?: Environment): Promise<void>;
};
export type ApiMember = Member<Api> & { database: FaultProxy; front: FaultProxy; url: string };
export type SchedulerMember = Member<Scheduler> & { database: FaultProxy };
export type FleetMember = Member<Fleet> & {
  /** To each scheduler, in their order. */
  toSchedulers: FaultProxy[];
};

type Environment = Record<string, string>;
export type FaultyCloudOptions = {
  apis?: number;
  schedulers?: number;
  /** The hosts of each fleet, such as "eu-north-a:a40-8=2". */
  fleets?: string[];
  replica?: boolean;
  schedulerEnv?: Environment;
  apiEnv?: Environment;
  fleetEnv?: Environment;
};

export class FaultyCloud {
  readonly servers: ReplicatedPostgres;
  readonly processes: Processes;
  readonly apis: ApiMember[] = [];
  readonly schedulers: SchedulerMember[] = [];
  readonly fleets: FleetMember[] = [];
  readonly #options: FaultyCloudOptions;
  readonly #proxies: FaultProxy[] = [];

  private constructor(
    processes: Processes,
    servers: ReplicatedPostgres,
    options: FaultyCloudOptions,
  ) {
    this.processes = processes;
    this.servers = servers;
    this.#options = options;
  }

  static async start(options: FaultyCloudOptions = {}): Promise<FaultyCloud> {
    let servers: ReplicatedPostgres | undefined;
    const processes = await startProcesses({
      async startDatabase(home) {
        const started = await ReplicatedPostgres.start(home);
        servers = started;
        const { url: databaseUrl } = await started.link();
        return { databaseUrl, stop: () => started.stop() };
      },
    });
    if (!servers) throw new Error('BUG: the database was not started');
    const cloud = new FaultyCloud(processes, servers, options);
    try {
      await cloud.#addAll();
      return cloud;
    } catch (error) {
      await cloud.stop();
      throw error;
    }
  }

  /** Reaches the primary, also after a failover. */
  get sql(): Processes['sql'] {
    return this.processes.sql;
  }

  get members(): Member<Api | Scheduler | Fleet>[] {
    return [...this.apis, ...this.schedulers, ...this.fleets];
  }

  async connect(api = 0): Promise<Client> {
    const member = this.apis[api];
    if (!member) throw new Error(`there is no api ${api}`);
    return await connectClient(this.processes, member);
  }

  async stop(): Promise<void> {
    await this.processes.stop();
    for (const proxy of this.#proxies) await proxy.stop();
  }

  async #addAll(): Promise<void> {
    const { apis = 2, schedulers = 3, fleets = ['eu-north-a:a40-8=2'], replica } = this.#options;
    for (let i = 0; i < apis; i += 1) await this.#addApi();
    for (let i = 0; i < schedulers; i += 1) await this.#addScheduler();
    for (const hosts of fleets) await this.#addFleet(hosts);
    if (replica) await this.servers.addReplica();
  }

  async #addApi(): Promise<void> {
    const database = await this.servers.link();
    const start = (env: Environment = {}) =>
      this.processes.startApi({ ...this.#options.apiEnv, DATABASE_URL: database.url, ...env });
    const process = await start();
    const front = await this.#proxy(portOf(process.url));
    const member: ApiMember = {
      ...{ name: `api-${this.apis.length + 1}`, process, front, database: database.proxy },
      url: `http://127.0.0.1:${front.port}`,
      async restart(env) {
        member.process = await start(env);
        front.retarget(portOf(member.process.url));
      },
    };
    this.apis.push(member);
  }

  async #addScheduler(): Promise<void> {
    const database = await this.servers.link();
    const { schedulerEnv } = this.#options;
    const start = (env: Environment = {}) =>
      this.processes.startScheduler({ ...schedulerEnv, DATABASE_URL: database.url, ...env });
    const index = this.schedulers.length;
    const member: SchedulerMember = {
      ...{ name: `scheduler-${index + 1}`, process: await start(), database: database.proxy },
      restart: async (env) => {
        member.process = await start(env);
        for (const { toSchedulers } of this.fleets)
          toSchedulers[index]?.retarget(member.process.port);
      },
    };
    this.schedulers.push(member);
  }

  async #addFleet(hosts: string): Promise<void> {
    const toSchedulers: FaultProxy[] = [];
    for (const { process } of this.schedulers) toSchedulers.push(await this.#proxy(process.port));
    const name = `fleet-${this.fleets.length + 1}`;
    const start = (env: Environment = {}) =>
      this.processes.startFleet({
        ...{ name, hosts, schedulers: toSchedulers, api: this.#anyApi() },
        env: { ...this.#options.fleetEnv, ...env },
      });
    const member: FleetMember = {
      ...{ name, process: await start(), toSchedulers },
      async restart(env) {
        member.process = await start(env);
      },
    };
    this.fleets.push(member);
  }

  /** A fleet logs in when it starts, and needs an api that works then. */
  #anyApi(): Pick<Api, 'url'> {
    const running = this.apis.find(({ process }) => process.isRunning());
    if (!running) throw new Error('a fleet needs an api to start');
    return running;
  }

  async #proxy(port: number): Promise<FaultProxy> {
    const proxy = await startFaultProxy(port);
    this.#proxies.push(proxy);
    return proxy;
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
