import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { programRunner, type RunProgram } from '../../base/run-program.ts';
import { Sysfs } from '../../base/sysfs.ts';
import { writeSysfsTree } from '../../base/sysfs-tree.ts';
import type { EarlyBootFiles } from '../kinds/drive/early-boot.ts';
import type { GpuCleaner } from '../kinds/gpu/clean-memory.ts';
import type { InventoryDevice } from '../kinds/kind-driver.ts';
import { createKinds } from '../kinds/kinds.ts';
import type { PciControl } from '../pci/pci-control.ts';
import { readDevices } from '../read-devices.ts';
import type { VfioOptions } from '../vfio-devices.ts';
import { ImitatedNvme, type ImitatedSetup, zero } from './imitated-nvme.ts';

type Card = {
  deviceClass: string;
  driver?: string;
  group?: number;
  resetMethods?: string;
  /** The bridges above it, the root port last. */
  bridge?: string;
};
type Drive = { serial: string; bytes: number };
/** The reaction of a program or the kernel to a request, by the first words of the request. */
type Reactions = Partial<{
  reset(method: string): void;
  format(path: string): Promise<void>;
  sanitize(): Promise<void>;
}>;

const BRIDGE = '0000:40:01.0';
const DEVICES = 'bus/pci/devices';
const DRIVERS = 'bus/pci/drivers';
/** A config space of vendor 10de and device 2235, with the bridge control register. */
const CONFIG = Buffer.concat([Buffer.from([0xde, 0x10, 0x35, 0x22]), Buffer.alloc(60)]);

/**
 * A server in a directory. Its kernel reacts to writes like a real one as far as passthrough needs
 * it: drivers are bound, resets are counted, drives are files. The lab has real ones.
 */
export class ImitatedServer {
  readonly root: string;
  /** Every request to it, in order. */
  readonly asked: string[] = [];
  reactions: Reactions = {};
  /** The capabilities that the drives report. */
  abilities = { oacs: 0x2, sanicap: 0 };
  readonly nvme = new ImitatedNvme();
  drivesAsBlocks = false;
  /** The operator's program for the memory of GPUs. */
  cleaner: GpuCleaner | undefined;
  /** The number of requests until the calling process is killed; -1: never. */
  livesFor = -1;
  /** Called when it is killed. */
  died: () => void = () => undefined;
  readonly #drivers = new Map<string, string>();
  readonly #drives = new Map<string, Drive & { name: string }>();

  constructor(root: string) {
    this.root = root;
  }

  static async make(): Promise<ImitatedServer> {
    const server = new ImitatedServer(await mkdtemp(join(tmpdir(), 'gantry-devices-')));
    await writeSysfsTree(server.root, {
      'proc/self/mountinfo': '1 1 8:1 / / rw - ext4 /dev/sda1 rw',
      'proc/swaps': 'Filename Type Size Used Priority',
    });
    await mkdir(join(server.root, 'dev'));
    await mkdir(server.earlyBoot.hooks);
    await mkdir(join(server.#sys, DEVICES), { recursive: true });
    await server.#addBridge(BRIDGE);
    for (const driver of ['vfio-pci', 'nvme', 'nouveau', 'snd_hda_intel', 'e1000e']) {
      await writeSysfsTree(server.#sys, { [`${DRIVERS}/${driver}/new_id`]: '' });
    }
    return server;
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  options(): VfioOptions {
    return {
      sysfs: new Sysfs(this.#sys),
      control: this.#control(),
      procRoot: join(this.root, 'proc'),
      devRoot: join(this.root, 'dev'),
      directory: join(this.root, 'data'),
      kinds: createKinds({
        gpu: { vendorIds: ['10de'], cleaner: this.cleaner },
        drive: {
          ...{ tenantDrivesFile: this.tenantDrivesFile, earlyBoot: this.earlyBoot },
          asBlocks: this.drivesAsBlocks,
        },
      }),
    };
  }

  get tenantDrivesFile(): string {
    return join(this.root, 'rules.d/10-tenants.rules');
  }

  get earlyBoot(): EarlyBootFiles {
    return { hooks: join(this.root, 'hooks'), rules: join(this.root, 'early-boot.rules') };
  }

  /** Reads the devices as the agent does for its inventory. */
  async readDevices(): Promise<InventoryDevice[]> {
    const { kinds, procRoot, devRoot } = this.options();
    const warn = () => undefined;
    return await readDevices({ kinds, procRoot, devRoot, sysfsRoot: this.#sys, warn });
  }

  /** Assembles a RAID of one drive, which the host's udev does if the drive has the metadata. */
  async assemble(name: string, address: string): Promise<void> {
    const member = basename(this.drivePath(address));
    await writeSysfsTree(this.#sys, {
      [`class/block/${member}/holders/${name}`]: '',
      [`class/block/${name}/slaves/${member}`]: '',
      [`class/block/${name}/dev`]: '9:127',
    });
  }

  async add(address: string, card: Card): Promise<void> {
    const { driver = '', group, bridge = BRIDGE } = card;
    const device = `devices/pci0000:40/${bridge}/${address}`;
    await writeSysfsTree(this.#sys, {
      [`${device}/class`]: `0x${card.deviceClass}`,
      [`${device}/vendor`]: '0x10de',
      [`${device}/device`]: '0x2235',
      [`${device}/reset_method`]: card.resetMethods ?? 'flr bus',
      [`${device}/driver_override`]: '(null)',
      [`${DEVICES}/${address}`]: { link: `../../../${device}` },
    });
    await writeFile(join(this.#sys, device, 'config'), CONFIG);
    this.#drivers.set(address, driver);
    if (driver !== '') await this.#setDriver(address, driver);
    if (group === undefined) return;
    await mkdir(join(this.#sys, `kernel/iommu_groups/${group}/devices/${address}`), {
      recursive: true,
    });
    const link = join(this.#sys, device, 'iommu_group');
    await symlink(join(this.#sys, `kernel/iommu_groups/${group}`), link);
  }

  async #addBridge(address: string): Promise<void> {
    const device = `devices/pci0000:40/${address}`;
    await writeSysfsTree(this.#sys, {
      [`${device}/class`]: '0x060400',
      [`${DEVICES}/${address}`]: { link: `../../../${device}` },
    });
    await writeFile(join(this.#sys, device, 'config'), CONFIG);
    // The services of the port are below it too, but are not devices.
    await mkdir(join(this.#sys, device, `${address}:pcie001`));
  }

  async addDrive(address: string, drive: Drive & { group: number }): Promise<string> {
    const name = `nvme${this.#drives.size}`;
    this.#drives.set(address, { ...drive, name });
    const file = this.drivePath(address);
    await writeFile(file, Buffer.alloc(drive.bytes, 'tenant data '));
    await this.add(address, {
      ...{ deviceClass: '010802', driver: 'nvme', group: drive.group, bridge: '0000:40:03.1' },
    });
    return file;
  }

  drivePath(address: string): string {
    return join(this.root, 'dev', `${this.#drives.get(address)?.name}n1`);
  }

  /** Writes as a tenant who has the whole drive can. */
  async changeDrive(
    address: string,
    change: { firmware?: string; bytes?: number } & Partial<ImitatedSetup>,
  ): Promise<void> {
    const drive = this.#drives.get(address);
    if (!drive) throw new Error(`no drive ${address}`);
    const { firmware: _, bytes: __, ...setup } = change;
    this.nvme.change(setup);
    this.#firmware = change.firmware ?? this.#firmware;
    if (change.bytes !== undefined) await truncate(this.drivePath(address), change.bytes);
    drive.bytes = change.bytes ?? drive.bytes;
  }

  /** The memory of a card as its second region shows it. */
  memoryPath(address: string): string {
    return join(this.#sys, DEVICES, address, 'resource1');
  }

  async driverOf(address: string): Promise<string> {
    return (await new Sysfs(this.#sys).linkName(`${DEVICES}/${address}/driver`)) ?? '';
  }

  async loseConfig(address: string): Promise<void> {
    await writeFile(join(this.#sys, DEVICES, address, 'config'), Buffer.alloc(64, 0xff));
  }

  async mount(major: string, at: string): Promise<void> {
    const line = `2 1 ${major} / ${at} rw - ext4 /dev/x rw`;
    await writeFile(join(this.root, 'proc/self/mountinfo'), `${line}\n`);
  }

  /** Starts a process that has a file open, as QEMU does. */
  async open(file: string, program = 'qemu-system-x86'): Promise<void> {
    await writeSysfsTree(this.root, {
      'proc/4711/comm': program,
      'proc/4711/fd/9': { link: file },
    });
  }

  /** Ends the process that `open` started. */
  async close(): Promise<void> {
    await rm(join(this.root, 'proc/4711'), { recursive: true });
  }

  get #sys(): string {
    return join(this.root, 'sys');
  }

  #firmware = '1.0';

  async #setDriver(address: string, driver: string): Promise<void> {
    const device = join(this.#sys, DEVICES, address);
    await rm(join(device, 'driver'), { force: true });
    await rm(join(device, 'nvme'), { recursive: true, force: true });
    if (driver !== '') await symlink(join(this.#sys, DRIVERS, driver), join(device, 'driver'));
    const drive = this.#drives.get(address);
    if (driver !== 'nvme' || !drive) return;
    await writeSysfsTree(this.#sys, {
      [`${DEVICES}/${address}/nvme/${drive.name}/serial`]: drive.serial,
      [`${DEVICES}/${address}/nvme/${drive.name}/firmware_rev`]: this.#firmware,
      [`${DEVICES}/${address}/nvme/${drive.name}/${drive.name}n1/nsid`]: '1',
      [`class/block/${drive.name}n1/size`]: String(drive.bytes / 512),
      [`class/block/${drive.name}n1/dev`]: `259:${[...this.#drives.keys()].indexOf(address)}`,
    });
  }

  /** A call after the last permitted step never returns, as if the process had been killed. */
  async #ask(what: string): Promise<void> {
    if (this.livesFor === 0) {
      this.died();
      await new Promise(() => undefined);
    }
    if (this.livesFor > 0) this.livesFor -= 1;
    this.asked.push(what);
  }

  #control(): PciControl {
    const configOf = (address: string) => join(this.#sys, DEVICES, address, 'config');
    return {
      write: ({ path, value }) => this.#write(path, value),
      unfinishedWrite: async () => null,
      readConfig: (address) => readFile(configOf(address)),
      writeConfig: async (address, { offset, bytes }) => {
        await this.#ask(`config ${address} ${offset} ${Buffer.from(bytes).toString('hex')}`);
      },
      run: (program, args, options) => this.#run(program, args, options),
    };
  }

  async #write(path: string, value: string): Promise<void> {
    await this.#ask(`${path.replace(`${DEVICES}/`, '')} ${value.trim()}`);
    const address = basename(dirname(path));
    const name = basename(path);
    if (name === 'unbind') return await this.#setDriver(basename(dirname(dirname(path))), '');
    if (name === 'drivers_probe') return await this.#probe(value);
    if (name === 'reset') {
      const method = await new Sysfs(this.#sys).text(`${DEVICES}/${address}/reset_method`);
      return this.reactions.reset?.(method ?? '');
    }
    if (name === 'remove') return await rm(join(this.#sys, DEVICES, address));
    if (name === 'rescan') return await this.#rescan(path === 'bus/pci/rescan' ? BRIDGE : address);
    if (name === 'reset_method' && value === 'default') return;
    await writeFile(join(this.#sys, path), value);
  }

  async #probe(address: string): Promise<void> {
    const device = join(this.#sys, DEVICES, address);
    const override = (await readFile(join(device, 'driver_override'), 'utf8')).trim();
    const own = this.#drives.has(address) ? 'nvme' : (this.#drivers.get(address) ?? '');
    await this.#setDriver(address, /^\w/.test(override) ? override : own);
  }

  async #rescan(bridge: string): Promise<void> {
    const below = join(this.#sys, 'devices/pci0000:40', bridge);
    for (const address of (await readdir(below)).filter((name) => /^\w+:/.test(name))) {
      const link = join(this.#sys, DEVICES, address);
      await rm(link, { force: true });
      await symlink(`../../../devices/pci0000:40/${bridge}/${address}`, link);
    }
  }

  async #run(
    program: string,
    args: readonly string[],
    options: Parameters<RunProgram>[2],
  ): Promise<string> {
    await this.#ask([program, ...args].join(' ').replaceAll(`${this.root}/`, '/'));
    if (program === 'timeout') return await programRunner('device_failed')(program, args, options);
    const [command = '', path = ''] = args;
    if (program === 'nvme') return await this.#nvme(command, path, args);
    if (program === 'mdadm' && command === '--stop') await this.#disassemble(basename(path));
    if (program === 'blkdiscard' && args.includes('--zeroout')) await zero(args.at(-1) ?? '');
    return '';
  }

  async #disassemble(name: string): Promise<void> {
    const blocks = join(this.#sys, 'class/block');
    for (const member of await readdir(join(blocks, name, 'slaves'))) {
      await rm(join(blocks, member, 'holders', name));
    }
    await rm(join(blocks, name), { recursive: true });
  }

  async #nvme(command: string, path: string, args: readonly string[]): Promise<string> {
    const reply = this.nvme.reply(command, args);
    if (reply !== null) return reply;
    if (command === 'id-ctrl') return JSON.stringify(this.abilities);
    if (command === 'sanitize-log') return JSON.stringify({ [basename(path)]: { sstat: 1 } });
    if (command === 'sanitize') await this.reactions.sanitize?.();
    if (command === 'format') {
      this.nvme.format(args);
      await (this.reactions.format ?? zero)(path);
    }
    return '';
  }
}
