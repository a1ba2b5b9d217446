import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { acceleratorEnvironment } from './accelerator.ts';
import { execute } from './execute.ts';
import { type SshKey, sshCommand } from './guest/ssh.ts';
import { shareLoopback } from './loopback.ts';
import { addNamespace, ownName, removeAbandoned, removeNamespace } from './namespaces.ts';
import { plugIn } from './outside.ts';

/**
 * One of several hosts on one machine: a network namespace with an uplink and a libvirtd of its
 * own. Invariant: everything that it started ends with this process, even if it is killed. The next
 * `startLibvirtHost` removes the namespaces and directories that a killed process left.
 */
export type LibvirtHost = {
  name: string;
  /** The name of the namespace for `ip netns`. */
  namespace: string;
  /** The address of the host in the network between the hosts. */
  address: string;
  libvirtd: PrivateLibvirtd;
  /** The directory of the host; `stop` removes it. */
  directory: string;
  dataDirectory: string;
  stateDirectory: string;
  /** The environment of an agent of this host, which `command` starts. */
  environment: Record<string, string>;
  /** Returns the program and arguments that run a command in the host's network. */
  command(program: string, ...args: string[]): [string, ...string[]];
  runIn(program: string, ...args: string[]): Promise<string>;
  /** Logs in to a guest from the host, as root. */
  ssh(address: string, key: SshKey, command: string): Promise<string>;
  /** Makes a port of the test's loopback available at the same port of the host's loopback. */
  reachLoopback(port: number): Promise<void>;
  stop(): Promise<void>;
};

export async function startLibvirtHost(name: string): Promise<LibvirtHost> {
  await removeAbandoned();
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return await build({ name, endings, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

type Building = { name: string; endings: (() => Promise<void>)[]; stop: () => Promise<void> };

async function build({ name, endings, stop }: Building): Promise<LibvirtHost> {
  const namespace = ownName(name);
  const directory = await mkdtemp(path.join(tmpdir(), `${namespace}-`));
  endings.push(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const [dataDirectory, stateDirectory] = [
    path.join(directory, 'data'),
    path.join(directory, 'state'),
  ];
  for (const place of [dataDirectory, stateDirectory]) await mkdir(place, { mode: 0o700 });
  await addNamespace(namespace);
  endings.push(() => removeNamespace(namespace));
  const { address, pull } = await plugIn(namespace);
  endings.push(pull);
  const libvirtd = await startPrivateLibvirtd({
    directory: path.join(directory, 'libvirt'),
    network: { namespace },
  });
  endings.push(libvirtd.stop);

  const command = (program: string, ...args: string[]): [string, ...string[]] => {
    return ['ip', 'netns', 'exec', namespace, program, ...args];
  };
  const runIn = (program: string, ...args: string[]) => execute(...command(program, ...args));
  return {
    ...{ name, namespace, address, libvirtd, directory, dataDirectory, stateDirectory },
    ...{ command, runIn, stop },
    environment: {
      GANTRY_LIBVIRT_SOCKET: libvirtd.socketPath,
      GANTRY_STATE_DIRECTORY: stateDirectory,
      GANTRY_DATA_DIRECTORY: dataDirectory,
      // Guests write a few megabytes, so several fit on a small machine.
      GANTRY_STORAGE_OVERCOMMIT_PERCENT: '100000',
      ...(await acceleratorEnvironment()),
    },
    ssh: (guest, key, line) => runIn(...sshCommand({ address: guest, key }, line)),
    async reachLoopback(port) {
      const socket = path.join(directory, `port-${port}`);
      endings.push(await shareLoopback({ namespace, port, socket }));
    },
  };
}
