import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { waitUntil } from '@gantry/local/base/wait-until';
import { sendJson } from '../../real-host/json-socket.ts';
import { ownName, removeAbandoned } from '../../real-host/namespaces.ts';
import { buildLabImage } from '../image/build-lab-image.ts';
import type { LabImage } from '../image/lab-image.ts';
import { type CommandChannel, type CommandResult, openCommandChannel } from './command-channel.ts';
import { withPciDomain } from './pci-domain.ts';
import { type LabTopology, type Machine, qemuCommand } from './qemu-arguments.ts';
import { DEFAULT_SLOTS, type LabSlot, slotAddresses } from './slots.ts';
import { writeBootVolume } from './write-boot-volume.ts';

/**
 * A GPU server under emulation: a real kernel with an IOMMU, KVM and libvirt, and emulated cards and
 * drives. Invariants: QEMU ends with this process, even if the process is killed; the image is not
 * changed; the next run removes what a killed run has left behind.
 */
export type Lab = {
  /** Runs a shell command in the machine, as root. */
  run(command: string, options?: { limitSeconds?: number }): Promise<CommandResult>;
  /** Runs a shell command and returns its output. Throws if the command fails. */
  ask(command: string, options?: { limitSeconds?: number }): Promise<string>;
  /** A folder that the machine mounts as /share. */
  share: string;
  /** The PCI addresses of a slot's functions. */
  addresses(slotId: string): string[];
  /** The file with the content of a slot's drive. */
  driveFile(slotId: string): string;
  readConsole(): Promise<string>;
  /** Runs a command of QEMU's monitor (QMP). */
  monitor(execute: string, args?: object): Promise<unknown>;
  /** Unplugs a card. The kernel is asked first, as with the attention button of a slot. */
  unplug(id: string): Promise<void>;
  /** Presses the reset button: data that is not on disk is lost. Returns when the machine is up. */
  reset(): Promise<void>;
  /** Pulls the plug for good. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

export type LabOptions = {
  /** Builds what the machine boots from. Absent: the smallest host, which boots fastest. */
  image?: () => Promise<LabImage>;
  slots?: readonly LabSlot[];
  /** The machine can run the tests of this checkout: see `run-tests.ts`. */
  hasSource?: boolean;
  memoryMib?: number;
  /** Absent: one socket with two cores. */
  topology?: LabTopology;
  kernelArguments?: string;
  /** The number of the PCI domain; only on a platform with a device tree. */
  pciDomain?: number;
};

/** On a busy computer an emulated machine needs minutes to boot. */
const BOOT_LIMIT_MS = 1_200_000;
/** The kernel waits some seconds, because a second press of the button cancels the first. */
const UNPLUG_LIMIT_MS = 120_000;
const DEFAULT_TOPOLOGY: LabTopology = { sockets: 1, coresPerSocket: 2, threadsPerCore: 1 };
const COMMAND_LIMIT_SECONDS = 900;
const checkout = fileURLToPath(new URL('../../../../..', import.meta.url));
const agentBundle = fileURLToPath(new URL('../../../../agent/dist', import.meta.url));

export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const image = await (options.image ?? buildLabImage)();
  await removeAbandoned();
  const slots = options.slots ?? DEFAULT_SLOTS;
  const directory = await mkdtemp(path.join(tmpdir(), `${ownName('lab')}-`));
  const file = (name: string) => path.join(directory, name);
  const share = file('share');
  let qemu: ChildProcess | undefined;
  let channel: CommandChannel | undefined;
  const kill = async () => {
    if (!qemu || qemu.exitCode !== null || qemu.signalCode !== null) return;
    const gone = once(qemu, 'exit');
    qemu.kill('SIGKILL');
    await gone;
  };
  const stop = async () => {
    channel?.close();
    await kill();
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await mkdir(share);
    await cp(agentBundle, path.join(share, 'agent'), { recursive: true });
    for (const slot of slots)
      if ('drive' in slot) await makeDrive(file(`${slot.id}.raw`), slot.drive);
    await writeFile(file('console.log'), '');
    const machine: Machine = {
      ...{ image, slots, share, file },
      ...(options.hasSource && { source: checkout }),
      memoryMib: options.memoryMib ?? 4096,
      topology: options.topology ?? DEFAULT_TOPOLOGY,
      kernelArguments: `${image.kernelArguments} ${options.kernelArguments ?? ''}`.trim(),
    };
    if ('bootLoader' in image) await writeBootVolume(machine, image.bootLoader);
    if (options.pciDomain !== undefined) {
      machine.deviceTree = await makeDeviceTree(machine, options.pciDomain);
    }
    const [program, ...args] = qemuCommand(machine);
    qemu = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    channel = await openCommandChannel(file('commands'));
    await untilReady(channel, file('console.log'));
    const addresses = slotAddresses(slots, options.pciDomain);
    return describe({ channel, file, share, addresses, kill, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeDrive(file: string, { sizeBytes }: { sizeBytes: number }): Promise<void> {
  const handle = await open(file, 'w');
  await handle.truncate(sizeBytes);
  await handle.close();
}

/** Writes QEMU's own device tree for this machine, with the domain changed. */
async function makeDeviceTree(machine: Machine, pciDomain: number): Promise<string> {
  const path = machine.file('machine.dtb');
  const [program, ...args] = qemuCommand(machine);
  await promisify(execFile)(program, [...args, '-machine', `dumpdtb=${path}`]);
  await writeFile(path, withPciDomain(await readFile(path), pciDomain));
  return path;
}

function monitorAt(place: string): Lab['monitor'] {
  return (execute, args = {}) =>
    sendJson(place, [{ execute: 'qmp_capabilities' }, { execute, arguments: args }]);
}

async function untilReady(channel: CommandChannel, consoleLog: string): Promise<void> {
  const limit = AbortSignal.timeout(BOOT_LIMIT_MS);
  const late = () => channel.interrupt('The machine did not come up in time');
  limit.addEventListener('abort', late);
  try {
    await channel.ready();
  } catch (error) {
    const said = (await readFile(consoleLog, 'utf8')).slice(-4000);
    throw new Error(`The lab's machine is not up:\n${said}`, { cause: error });
  } finally {
    limit.removeEventListener('abort', late);
  }
}

type Running = {
  channel: CommandChannel;
  file(name: string): string;
  share: string;
  addresses: ReadonlyMap<string, string[]>;
} & Pick<Lab, 'kill' | 'stop'>;

function describe({ channel, file, share, addresses, kill, stop }: Running): Lab {
  const monitor = monitorAt(file('monitor'));
  const run: Lab['run'] = (command, { limitSeconds = COMMAND_LIMIT_SECONDS } = {}) =>
    channel.run(command, limitSeconds);
  return {
    ...{ run, monitor, share, kill, stop },
    async ask(command, options) {
      const { status, stdout, stderr } = await run(command, options);
      if (status !== 0) throw new Error(`${command}: status ${status}\n${stderr}`);
      return stdout;
    },
    addresses: (slotId) => addresses.get(slotId) ?? [],
    driveFile: (slotId) => file(`${slotId}.raw`),
    readConsole: () => readFile(file('console.log'), 'utf8'),
    async unplug(id) {
      await monitor('device_del', { id });
      const condition = async () => {
        const left = await monitor('qom-list', { path: '/machine/peripheral' });
        return (left as { name: string }[]).every(({ name }) => name !== id) || undefined;
      };
      const isOut = await waitUntil({ limitMs: UNPLUG_LIMIT_MS, condition });
      if (!isOut) throw new Error(`The machine does not let go of ${id}`);
    },
    async reset() {
      channel.interrupt('The machine was reset.');
      const up = untilReady(channel, file('console.log'));
      await monitor('system_reset');
      await up;
    },
  };
}
