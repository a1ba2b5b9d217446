import { ConfigError, type ConfigReader, readConfig } from '@gantry/daemon/config';
import { readSchedulers, readStateDirectory } from './agent-settings.ts';
import { enrollHost, OptionError, parseEnrollOptions } from './enroll-command.ts';
import { EnrolmentError } from './identity/enrolment-error.ts';
import { loadIdentity } from './identity/state-files.ts';
import { readInventory } from './inventory.ts';
import { readInventoryOptions } from './inventory-options.ts';

type Streams = { out: (text: string) => void; err: (text: string) => void };
type Invocation = { args: readonly string[]; env: NodeJS.ProcessEnv } & Streams;
type Command = { options: readonly string[]; config: ConfigReader } & Streams;

const USAGE = `usage: gantry-agent <command>

commands:
  inventory   print what this host is made of, as JSON
  enroll      make this host a member of a fleet
                --server host:port  a scheduler
                --token TOKEN       from POST /v0.1/admin/join-tokens, good for one host
                --ca-sha256 HEX     of the fleet's authority, from the same reply
                --name NAME         what the fleet calls this host (its hostname)
  run         attach to the fleet; this version has no driver for a hypervisor, says so and ends

environment of enroll and run:
  GANTRY_STATE_DIRECTORY  who this host is and what it was told (/var/lib/gantry)
environment of run:
  GANTRY_SCHEDULERS       host:port of every scheduler, separated by commas
environment of inventory:
  GANTRY_SYSFS_ROOT       where sysfs is mounted (/sys)
  GANTRY_GPU_VENDORS      PCI vendor ids of GPUs, separated by commas (10de,1002)
  GANTRY_NVLINK_PAIRS     GPUs joined by NVLink bridges (0000:41:00.0-0000:42:00.0,...)
  GANTRY_SHARED_STORAGE   1: every host of the location reaches the disks this one keeps (0)
  GANTRY_LIBVIRT_SOCKET   libvirt's socket (/run/libvirt/libvirt-sock)
`;

const FAILURE = 1;
/** Asked for in the wrong way, or for what there is not. */
const USAGE_ERROR = 2;

const COMMANDS: Record<string, (command: Command) => Promise<number>> = {
  inventory: printInventory,
  enroll: enrollThisHost,
  run: runAgent,
};

/** Runs one command and returns the exit status. */
export async function runCli({ args, env, out, err }: Invocation): Promise<number> {
  const [name = '', ...options] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    err(USAGE);
    return USAGE_ERROR;
  }
  try {
    return await command({ options, config: readConfig(env), out, err });
  } catch (error) {
    if (error instanceof UnexpectedArgument) {
      err(USAGE);
      return USAGE_ERROR;
    }
    if (error instanceof EnrolmentError) {
      err(`gantry-agent: ${error.message}\n`);
      return FAILURE;
    }
    if (!(error instanceof ConfigError) && !(error instanceof OptionError)) throw error;
    err(`gantry-agent: ${error.message}\n`);
    return USAGE_ERROR;
  }
}

class UnexpectedArgument extends Error {}

function requireNoOptions(options: readonly string[]): void {
  if (options.length > 0) throw new UnexpectedArgument();
}

async function printInventory({ options, config, out, err }: Command): Promise<number> {
  requireNoOptions(options);
  const inventory = await readInventory({
    ...readInventoryOptions(config),
    warn: (message) => err(`gantry-agent: ${message}\n`),
  });
  out(`${JSON.stringify(inventory, null, 2)}\n`);
  return 0;
}

async function enrollThisHost({ options, config, out }: Command): Promise<number> {
  const asked = parseEnrollOptions(options);
  out(`${await enrollHost(asked, readStateDirectory(config))}\n`);
  return 0;
}

/** What can be wrong with a host's settings is found out all the same. */
async function runAgent({ options, config, err }: Command): Promise<number> {
  requireNoOptions(options);
  const stateDirectory = readStateDirectory(config);
  readSchedulers(config);
  const identity = await loadIdentity(stateDirectory);
  if (!identity) {
    throw new ConfigError(
      `GANTRY_STATE_DIRECTORY: no host was enrolled in ${stateDirectory}: run gantry-agent enroll`,
    );
  }
  err(
    `gantry-agent: host ${identity.hostId} is enrolled, but this version has no driver for a hypervisor: it runs no VMs\n`,
  );
  return USAGE_ERROR;
}
