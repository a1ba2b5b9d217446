import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execute } from '../real-host/execute.ts';
import { freePort } from '../real-host/free-port.ts';
import { type CephLayout, type CephOptions, renderCephConfig } from './ceph-config.ts';
import { type CephDaemon, makeCephDaemon } from './ceph-daemon.ts';
import { makeCephxKey, renderKey } from './cephx-key.ts';

/**
 * A Ceph cluster of its own, with one mon, in a temporary directory. It accepts writes after about two seconds.
 *
 * Nothing stays behind: the daemons end with this process, even if it is killed, and a shell that waits for that removes
 * the directory.
 */
export type TestCeph = {
  directory: string;
  configFile: string;
  fsid: string;
  /** Addresses with a port, as `connectCeph` expects them. */
  monitors: string[];
  /** The administrator `client.admin`. */
  userName: string;
  key: string;
  mon: CephDaemon;
  osds: CephDaemon[];
  mgr: CephDaemon | undefined;
  mds: CephDaemon | undefined;
  /** The environment of programs that use the cluster. */
  environment: Record<string, string>;
  /** Runs `ceph`, `rbd` or another client as the administrator, in the network of the cluster. */
  run(program: string, ...args: string[]): Promise<string>;
  /**
   * Makes OSDs, all unless their numbers are given, behave as if they had no space, or no more. Resolves when clients of a
   * pool see it.
   */
  setFull(isFull: boolean, osds?: readonly number[]): Promise<void>;
  stop(): Promise<void>;
};

/** The longest directory with which the admin sockets of daemons have paths that a socket can have. */
const LONGEST_DIRECTORY = 70;

export async function startCeph(options: CephOptions = {}): Promise<TestCeph> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-ceph-'));
  const endings: (() => Promise<void>)[] = [keepClean(directory)];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    if (directory.length > LONGEST_DIRECTORY) throw new Error(`${directory} is too long a path.`);
    return await build({ options, directory, endings, stop });
  } catch (error) {
    const log = await readFile(path.join(directory, 'log/start.log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`Ceph did not start: ${log.slice(-2000)}`, { cause: error });
  }
}

type Building = {
  options: CephOptions;
  directory: string;
  endings: (() => Promise<void>)[];
  stop: () => Promise<void>;
};

async function build({ options, directory, endings, stop }: Building): Promise<TestCeph> {
  const { namespace } = options;
  const layout: CephLayout = {
    osds: options.osds ?? 1,
    copies: options.copies ?? 1,
    address: options.address ?? '127.0.0.1',
    store: options.store ?? 'bluestore',
    osdSizeBytes: options.osdSizeBytes ?? 20 * 2 ** 30,
    pools: options.pools ?? ['volumes'],
    mgr: options.mgr ?? false,
    fileSystem: options.fileSystem,
    mds: options.mds ?? options.fileSystem !== undefined,
    directory,
    fsid: randomUUID(),
    // A namespace of its own has no other cluster.
    port: namespace === undefined ? await freePort() : 3300,
  };
  const configFile = path.join(directory, 'ceph.conf');
  const environment = { ...readEnvironment(), CEPH_CONF: configFile };
  const inNetwork = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  const run = (program: string, ...args: string[]) =>
    execute('env', `CEPH_CONF=${configFile}`, ...inNetwork, program, ...args);
  const log = path.join(directory, 'log/start.log');
  const daemon = (program: string, id: string) => {
    const made = makeCephDaemon({
      command: [...inNetwork, program, '-i', id, '-f'],
      environment,
      log,
    });
    endings.push(made.kill);
    return made;
  };

  await mkdir(path.join(directory, 'run'));
  for (const each of ['log', 'crash', 'mon', 'mgr', 'mds']) await mkdir(path.join(directory, each));
  await writeFile(configFile, renderCephConfig(layout));
  const key = await writeKeys(layout);
  await makeMon(layout, run);
  const mon = daemon('ceph-mon', 'a');
  mon.start();

  const ids = Array.from({ length: layout.osds }, (_, id) => ({ id: `${id}`, uuid: randomUUID() }));
  const makeOsd = async ({ id, uuid }: { id: string; uuid: string }) => {
    await mkdir(path.join(directory, `osd${id}`));
    await run('ceph-osd', '-i', id, '--mkfs', '--osd-uuid', uuid);
  };
  const commands = [
    ...ids.map(({ id, uuid }) => `osd new ${uuid} ${id}`),
    ...layout.pools.flatMap((pool) => [
      `osd pool create ${pool} 8`,
      `osd pool application enable ${pool} rbd`,
    ]),
    ...(layout.fileSystem === undefined ? [] : fileSystemCommands(layout.fileSystem)),
  ];
  const commandFile = path.join(directory, 'commands');
  await writeFile(commandFile, `${commands.join('\n')}\n`);
  // A start of `ceph` takes half a second, so one runs all commands.
  const define = run('sh', '-c', 'exec ceph < "$1"', 'sh', commandFile);
  await Promise.all([define, ...ids.map(makeOsd)]);
  const osds = ids.map(({ id }) => daemon('ceph-osd', id));
  for (const each of osds) each.start();
  const mgr = layout.mgr ? daemon('ceph-mgr', 'a') : undefined;
  mgr?.start();
  const mds = layout.mds ? daemon('ceph-mds', 'a') : undefined;
  mds?.start();
  for (const pool of layout.pools) await run('rbd', 'pool', 'init', pool);
  if (layout.fileSystem !== undefined) await untilActive(run);
  const monitors = [`${layout.address}:${layout.port}`];
  const { fsid } = layout;
  return {
    ...{ directory, configFile, fsid, monitors, userName: 'admin', key, mon, osds },
    ...{ mgr, mds, environment, run, stop },
    setFull: (isFull, full = ids.map(({ id }) => Number(id))) =>
      setFull(isFull, { run, directory, full }),
  };
}

function fileSystemCommands(name: string): string[] {
  const metadata = `${name}-metadata`;
  return [
    `osd pool create ${metadata} 8`,
    `osd pool create ${name} 8`,
    `fs new ${name} ${metadata} ${name}`,
    // A client that was killed is forgotten after this time instead of five minutes.
    `fs set ${name} session_autoclose 60`,
  ];
}

/** A client that mounts the file system earlier would wait, and learns of the server only after seconds. */
async function untilActive(run: TestCeph['run']): Promise<void> {
  while (!(await run('ceph', 'mds', 'stat')).includes('up:active')) await setTimeout(100);
}

async function setFull(
  isFull: boolean,
  { run, directory, full }: Pick<TestCeph, 'run' | 'directory'> & { full: readonly number[] },
): Promise<void> {
  for (const id of full) {
    const socket = path.join(directory, `run/osd.${id}.asok`);
    const state = isFull ? ['full'] : ['none', '0'];
    await run('ceph', '--admin-daemon', socket, 'injectfull', ...state);
  }
  const isSeen = async () =>
    /^pool .* flags \S*\bfull\b/m.test(await run('ceph', 'osd', 'dump')) === isFull;
  while (!(await isSeen())) await setTimeout(100);
}

/** Creates all keys before the first start, because the mon then reads them at once. Returns the administrator's. */
async function writeKeys({ directory, osds, mgr, mds }: CephLayout): Promise<string> {
  const all = { mon: 'allow *', osd: 'allow *', mgr: 'allow *', mds: 'allow *' };
  const ofOsd = { mon: 'allow profile osd', osd: 'allow *', mgr: 'allow profile osd' };
  const caps: [name: string, caps: Record<string, string>][] = [
    ['mon.', { mon: 'allow *' }],
    ['client.admin', all],
    ...Array.from({ length: osds }, (_, id): [string, typeof ofOsd] => [`osd.${id}`, ofOsd]),
  ];
  if (mgr) caps.push(['mgr.a', { mon: 'allow profile mgr', osd: 'allow *' }]);
  if (mds) caps.push(['mds.a', { mon: 'allow profile mds', osd: 'allow *', mds: 'allow *' }]);
  const keys = caps.map(([name, of]) => ({ name, of, key: makeCephxKey() }));
  for (const { name, key } of keys)
    await writeFile(path.join(directory, `${name}.keyring`), renderKey(name, key));
  const text = keys.map(({ name, of, key }) => renderKey(name, key, of)).join('');
  await writeFile(path.join(directory, 'all.keyring'), text);
  return keys.find(({ name }) => name === 'client.admin')?.key ?? '';
}

async function makeMon(layout: CephLayout, run: TestCeph['run']): Promise<void> {
  const { directory, fsid, address, port } = layout;
  const map = path.join(directory, 'monmap');
  const keyring = path.join(directory, 'all.keyring');
  await run(
    ...['monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:${address}:${port}]`],
    ...(['--enable-all-features', '--set-min-mon-release', 'pacific', map] as const),
  );
  await run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring);
  await rm(keyring);
}

/** Starts a shell that removes the directory when this process ends. Returns a function that does so now. */
function keepClean(directory: string): () => Promise<void> {
  // The daemons are killed at the same moment, so one may still create a file during the first attempt.
  const script = 'cat >/dev/null; until rm -rf "$1" 2>/dev/null; do sleep 0.1; done';
  const keeper = spawn('sh', ['-c', script, 'sh', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  keeper.unref();
  return async () => {
    keeper.ref();
    keeper.stdin.destroy();
    await ended;
  };
}

function readEnvironment(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH: `${PATH}:/usr/sbin:/sbin`, HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };
}
