import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { type IsoFile, renderIso9660 } from '@gantry/agent/seed/iso9660';
import { freePort } from '../free-port.ts';
import { sendJson } from '../json-socket.ts';

/** A guest on QEMU without libvirt, to test the image itself and how long it takes. */
export type PlainGuest = {
  /** On loopback, forwarded to the guest's port 22. */
  sshPort: number;
  readConsole(): Promise<string>;
  type(line: string): Promise<void>;
  /** Runs a command of the guest agent and returns its result. */
  askAgent(command: string): Promise<unknown>;
  /** Adds a raw file as another disk. */
  plugDisk(file: string): Promise<void>;
  pressPowerButton(): Promise<void>;
  /** Resolves with QEMU's exit code. */
  readonly ended: Promise<number | null>;
  readonly pid: number;
  kill(): void;
};

export type PlainGuestOptions = {
  directory: string;
  /** A copy of the image that the guest writes to. */
  disk: string;
  seed: readonly IsoFile[];
};

const PLATFORMS = {
  arm64: {
    emulator: 'qemu-system-aarch64',
    driver: ['-machine', 'virt,gic-version=3', '-cpu', 'cortex-a72'],
    firmware: ['/usr/share/AAVMF/AAVMF_CODE.fd', '/usr/share/AAVMF/AAVMF_VARS.fd'],
  },
  x64: {
    emulator: 'qemu-system-x86_64',
    driver: ['-machine', 'q35', '-cpu', 'max'],
    firmware: ['/usr/share/OVMF/OVMF_CODE_4M.fd', '/usr/share/OVMF/OVMF_VARS_4M.fd'],
  },
};

/**
 * Otherwise the firmware waits some seconds for a key press: libvirt's <bootmenu enable='yes'
 * timeout='0'/>.
 */
const BOOT_AT_ONCE = ['-boot', 'menu=on,splash-time=0'];

const INTERFACE_MAC = '52:54:00:00:00:0a';
/** The addresses that QEMU's user network gives to its only guest. */
export const INTERFACE_LINE = `${INTERFACE_MAC} 10.0.2.15/24 10.0.2.2\n`;

export async function startPlainGuest(options: PlainGuestOptions): Promise<PlainGuest> {
  const { directory } = options;
  const file = (name: string) => path.join(directory, name);
  const platform = PLATFORMS[process.arch === 'x64' ? 'x64' : 'arm64'];
  const [code = '', variables = ''] = platform.firmware;
  await copyFile(variables, file('variables'));
  await writeFile(file('console.log'), '');
  await writeFile(file('seed.iso'), renderIso9660({ label: 'cidata', files: options.seed }));
  const sshPort = await freePort();
  const flash = `if=pflash,format=raw`;
  const socket = (id: string, more = '') => [
    '-chardev',
    `socket,id=${id},path=${file(id)},server=on,wait=off${more}`,
  ];
  const args = [
    ...platform.driver,
    ...['-accel', 'tcg,tb-size=256', '-smp', '1', '-m', '256', '-nodefaults', '-display', 'none'],
    ...[
      '-drive',
      `${flash},readonly=on,file=${code}`,
      '-drive',
      `${flash},file=${file('variables')}`,
    ],
    ...BOOT_AT_ONCE,
    ...rootPorts(6),
    ...['-drive', `if=none,id=os,format=raw,file=${options.disk}`],
    ...['-device', 'virtio-blk-pci,drive=os,bootindex=1,bus=port0'],
    ...['-drive', `if=none,id=seed,format=raw,readonly=on,file=${file('seed.iso')}`],
    ...['-device', 'virtio-blk-pci,drive=seed,bus=port1'],
    ...['-netdev', `user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:${sshPort}-:22`],
    ...['-device', `virtio-net-pci,netdev=net,romfile=,mac=${INTERFACE_MAC},bus=port2`],
    ...['-device', 'virtio-serial-pci,bus=port3', ...socket('agent')],
    ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ...['-device', 'virtio-rng-pci,bus=port4'],
    ...[...socket('console', `,logfile=${file('console.log')}`), '-serial', 'chardev:console'],
    ...[...socket('monitor'), '-mon', 'chardev=monitor,mode=control'],
  ];
  // QEMU ends with this process, even if it is killed.
  const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', platform.emulator, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return describe({ qemu, file, sshPort });
}

type Running = { qemu: ChildProcess; file: (name: string) => string; sshPort: number };

function describe({ qemu, file, sshPort }: Running): PlainGuest {
  const ended = new Promise<number | null>((resolve, reject) => {
    qemu.once('error', reject);
    qemu.once('exit', resolve);
  });
  const askMonitor = (command: object) =>
    sendJson(file('monitor'), [{ execute: 'qmp_capabilities' }, command]);
  return {
    sshPort,
    ended,
    pid: qemu.pid ?? 0,
    readConsole: () => readFile(file('console.log'), 'utf8'),
    type: (line) => write(file('console'), `${line}\r`),
    askAgent: (command) => sendJson(file('agent'), [{ execute: command }]),
    async plugDisk(disk) {
      const source = { driver: 'file', filename: disk, 'node-name': 'plugged' };
      const device = { driver: 'virtio-blk-pci', drive: 'plugged', bus: 'port5', id: 'plugged' };
      await askMonitor({ execute: 'blockdev-add', arguments: source });
      await askMonitor({ execute: 'device_add', arguments: device });
    },
    async pressPowerButton() {
      await askMonitor({ execute: 'system_powerdown' });
    },
    kill: () => qemu.kill('SIGKILL'),
  };
}

/** One device each, as in the agent's domains. */
function rootPorts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => [
    '-device',
    `pcie-root-port,id=port${index},chassis=${index + 1}`,
  ]);
}

function write(place: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(place, () => socket.end(text, () => resolve()));
    socket.once('error', reject);
  });
}
