import { type InventoryOptions, readInventory } from './inventory.ts';

type Streams = { out: (text: string) => void; err: (text: string) => void };
type Invocation = { args: readonly string[]; env: NodeJS.ProcessEnv } & Streams;

const USAGE = `usage: gantry-agent <command>

commands:
  inventory   print what this host is made of, as JSON

environment:
  GANTRY_SYSFS_ROOT      where sysfs is mounted (/sys)
  GANTRY_GPU_VENDORS     PCI vendor ids of GPUs, separated by commas (10de,1002)
  GANTRY_LIBVIRT_SOCKET  libvirt's socket (/run/libvirt/libvirt-sock)
`;

const USAGE_ERROR = 2;

/** Runs one command and returns the exit status. */
export async function runCli({ args, env, out, err }: Invocation): Promise<number> {
  const [command, ...rest] = args;
  if (command !== 'inventory' || rest.length > 0) {
    err(USAGE);
    return USAGE_ERROR;
  }
  const inventory = await readInventory({
    ...inventoryOptions(env),
    warn: (message) => err(`gantry-agent: ${message}\n`),
  });
  out(`${JSON.stringify(inventory, null, 2)}\n`);
  return 0;
}

/** An empty variable counts as unset. */
function inventoryOptions(env: NodeJS.ProcessEnv): Omit<InventoryOptions, 'warn'> {
  // NVIDIA and AMD.
  const vendors = env['GANTRY_GPU_VENDORS'] || '10de,1002';
  return {
    sysfsRoot: env['GANTRY_SYSFS_ROOT'] || '/sys',
    gpuVendorIds: vendors.split(',').map((id) => id.trim().toLowerCase()),
    libvirtSocket: env['GANTRY_LIBVIRT_SOCKET'] || '/run/libvirt/libvirt-sock',
  };
}
