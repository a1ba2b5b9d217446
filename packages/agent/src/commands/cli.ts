import { totalmem } from 'node:os';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { createSettingsReader, SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { examine, renderFindings, statusOf } from '../doctor/examine.ts';
import { EnrolmentError } from '../identity/enrolment-error.ts';
import { readInventory } from '../inventory/inventory.ts';
import { readInventorySettings } from '../inventory/inventory-settings.ts';
import { readStoragePools } from '../volumes/storage-pools.ts';
import { readStorageSettings } from '../volumes/storage-settings.ts';
import { readStateDirectory } from './agent-settings.ts';
import { readDoctorHost } from './doctor-command.ts';
import { enrollHost, OptionError, parseEnrollOptions } from './enroll-command.ts';
import { describeReservation, reserveHugepages } from './reserve-hugepages.ts';
import { readRunSettings, runHost } from './run-command.ts';

type Streams = { out: (text: string) => void; err: (text: string) => void };
type Invocation = { args: readonly string[]; env: NodeJS.ProcessEnv } & Streams;
type Command = { options: readonly string[]; reader: SettingsReader } & Streams;

const USAGE = `usage: gantry-agent <command>

commands:
  inventory   print the hardware and software of this host as JSON
  doctor      check what a host needs, and print one line per finding with its fix
                --json              print the findings as JSON
                exit status: 0 no findings, 1 warnings, 2 failures
  enroll      add this host to a fleet
                --server host:port  a scheduler
                --token TOKEN       from POST /v0.1/admin/join-tokens; valid for one host
                --ca-sha256 HEX     fingerprint of the fleet's authority, from the same reply
                --name NAME         the host's name in the fleet (default: its hostname)
                --again             come back as the same host, with a token for this host
  reserve-hugepages
              reserve memory for VMs on every NUMA node as hugepages; the host keeps its part
  run         run the agent until SIGTERM; VMs keep running afterwards

environment of enroll:
  GANTRY_JOIN_TOKEN       the token, instead of --token; other users of the server cannot read it
environment of enroll, run and doctor:
  GANTRY_STATE_DIRECTORY  the host's identity and last accepted spec (/var/lib/gantry)
environment of run and doctor:
  GANTRY_SCHEDULERS       host:port of every scheduler, separated by commas
  GANTRY_DATA_DIRECTORY   disks, images, seeds and consoles (/var/lib/gantry-data)
  GANTRY_SHARED_DIRECTORY shared volumes (shared, in the data directory)
  GANTRY_VOLUME_DRIVER    file or lvm (file)
  GANTRY_VOLUME_GROUP     volume group for lvm
  GANTRY_THIN_POOL        thin pool for lvm, in that group; unset: disks are not thin
  GANTRY_IMAGE_CACHE_GIB  size of the image cache; above it unused images are removed (100)
  GANTRY_STORAGE_RESERVE_PERCENT
                          share of the storage that new disks leave free (5)
  GANTRY_STORAGE_OVERCOMMIT_PERCENT
                          how large all disks together may be, as a share of the storage (100)
  GANTRY_NAMESERVERS      name servers for guests, separated by commas (those that the host uses)
  GANTRY_GUEST_MTU        MTU of guests' interfaces (1450)
  GANTRY_UPLINK           the interface through which guests reach the outside
  GANTRY_REACHABLE_FROM_HOST
                          1: programs on this host reach guests if the rules allow it (0)
  GANTRY_NVME_MODE        vfio: VMs get whole drives; block: VMs get their blocks (vfio)
  GANTRY_ACCELERATOR      auto, kvm or tcg (auto). auto and kvm probe KVM; run ends if it does not work
  GANTRY_ALLOW_EMULATION  1: auto falls back to emulated VMs, which are slow (0)
  GANTRY_KVM_PROBE_SECONDS
                          how long the probe waits for a test VM (30)
  GANTRY_HUGEPAGES_ABOVE_GIB
                          VMs with more memory start only with hugepages; unset: none needs them
  GANTRY_METRICS_HOST, GANTRY_METRICS_PORT
                          where run serves metrics and health checks (127.0.0.1, 7482)
  GANTRY_STAND_IN_DEVICES 1: GPUs and drives are assigned in the device book only (0)
environment of run, doctor, inventory and reserve-hugepages:
  GANTRY_SYSFS_ROOT       where sysfs is mounted (/sys)
  GANTRY_GPU_VENDORS      PCI vendor ids of GPUs, separated by commas (10de,1002)
  GANTRY_GPU_CLEANER      a program that clears the memory of a GPU after each VM
  GANTRY_GPU_CLEANER_TIMEOUT_S
                          how long the program may take (600)
  GANTRY_GPU_CLEANER_REQUIRED
                          models that need its success: PCI ids (10de:20b5,...) or all
  GANTRY_GPU_PEERS        NVIDIA GPUs that exchange data directly: switch, root-complex or off (switch)
  GANTRY_NVLINK_PAIRS     GPUs joined by NVLink bridges (0000:41:00.0-0000:42:00.0,..., or none)
  GANTRY_CORE             what a core of a VM type is: thread, or core for a physical core (thread)
  GANTRY_HOST_CORES       physical cores that the host keeps of each NUMA node (1 if it has 4 or more)
  GANTRY_HOST_MEMORY_GIB  memory that the host keeps, in GiB, divided between its NUMA nodes (8)
  GANTRY_HOST_MEMORY_PERCENT
                          percent of each NUMA node that the host keeps in addition (2)
  GANTRY_SHARED_STORAGE   1: every host of the location reaches this host's disks (0)
  GANTRY_ENFORCE_BANDWIDTH
                          1: VMs come here only while the links have their bandwidth, and get no more (0)
  GANTRY_LIBVIRT_SOCKET   libvirt's socket (/run/libvirt/libvirt-sock)
`;

const FAILURE = 1;
/** Exit status for an unknown command or wrong arguments. */
const USAGE_ERROR = 2;

const COMMANDS: Record<string, (command: Command) => Promise<number>> = {
  inventory: printInventory,
  doctor: examineHost,
  enroll: enrollThisHost,
  'reserve-hugepages': reserveMemory,
  run: runAgent,
};

const HELP = ['--help', '-h', 'help'];

/** Runs one command and returns the exit status. */
export async function runCli({ args, env, out, err }: Invocation): Promise<number> {
  const [name = '', ...options] = args;
  if (HELP.includes(name)) {
    out(USAGE);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    err(USAGE);
    return USAGE_ERROR;
  }
  try {
    return await command({ options, reader: createSettingsReader(env), out, err });
  } catch (error) {
    if (error instanceof UnexpectedArgument) {
      err(USAGE);
      return USAGE_ERROR;
    }
    if (error instanceof EnrolmentError) {
      err(`gantry-agent: ${error.message}\n`);
      return FAILURE;
    }
    if (!(error instanceof SettingsError) && !(error instanceof OptionError)) throw error;
    err(`gantry-agent: ${error.message}\n`);
    return USAGE_ERROR;
  }
}

class UnexpectedArgument extends Error {}

function requireNoOptions(options: readonly string[]): void {
  if (options.length > 0) throw new UnexpectedArgument();
}

async function printInventory({ options, reader, out, err }: Command): Promise<number> {
  requireNoOptions(options);
  const warn = (message: string) => err(`gantry-agent: ${message}\n`);
  const storage = readStorageSettings(reader);
  const inventory = await readInventory({
    ...readInventorySettings(reader),
    readStoragePools: () => readStoragePools(storage, { warn }),
    warn,
  });
  out(`${JSON.stringify(inventory, null, 2)}\n`);
  return 0;
}

async function reserveMemory({ options, reader, out, err }: Command): Promise<number> {
  requireNoOptions(options);
  const { sysfsRoot, capacity: settings } = readInventorySettings(reader);
  const warn = (message: string) => err(`gantry-agent: ${message}\n`);
  const host = { sysfsRoot, settings, memoryBytes: totalmem(), warn };
  try {
    const reservations = await reserveHugepages(host);
    out(reservations.map((reservation) => `${describeReservation(reservation)}\n`).join(''));
    return 0;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    err(`gantry-agent: hugepages cannot be reserved: ${error.message}\n`);
    return FAILURE;
  }
}

async function examineHost({ options, reader, out }: Command): Promise<number> {
  const asJson = options.length === 1 && options[0] === '--json';
  if (!asJson) requireNoOptions(options);
  const findings = await examine(await readDoctorHost(reader));
  out(asJson ? `${JSON.stringify(findings, null, 2)}\n` : renderFindings(findings));
  return statusOf(findings);
}

async function enrollThisHost({ options, reader, out }: Command): Promise<number> {
  const asked = parseEnrollOptions(options, reader.optionalSecret('GANTRY_JOIN_TOKEN'));
  out(`${await enrollHost(asked, readStateDirectory(reader))}\n`);
  return 0;
}

/** Returns when the agent is ready; the process continues until it receives a signal. */
async function runAgent({ options, reader }: Command): Promise<number> {
  requireNoOptions(options);
  const settings = await readRunSettings(reader);
  const log = createLog({ process: 'agent', level: reader.text('GANTRY_LOG_LEVEL', 'info') });
  await runProcess({ log, start: () => runHost(settings, log) });
  return 0;
}
