/**
 * A program that carries out one order on a device of the machine it runs on: binds or releases it,
 * prints the result as JSON and exits with status 0. If `deaths` names a file, the program kills itself
 * with SIGKILL before the first request to the kernel that is not yet in that file.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { HostFailure } from '@gantry/agent/base/failure';
import { Sysfs } from '@gantry/agent/base/sysfs';
import { createKinds } from '@gantry/agent/devices/kinds/kinds';
import { type PciControl, pciControl } from '@gantry/agent/devices/pci/pci-control';
import { vfioDevices } from '@gantry/agent/devices/vfio-devices';
import type { Device } from '@gantry/agent/host-driver';

export type DeviceOrder = {
  order: 'bind' | 'release' | 'list';
  device: Device;
  companions?: string[];
  drivesAsBlocks?: boolean;
  deaths?: string;
};

const {
  order,
  device,
  companions = [],
  drivesAsBlocks = false,
  deaths,
} = JSON.parse(process.argv[2] ?? '{}') as DeviceOrder;

const devices = vfioDevices({
  sysfs: new Sysfs('/sys'),
  control: deaths === undefined ? pciControl('/sys') : mortal(pciControl('/sys'), deaths),
  procRoot: '/proc',
  devRoot: '/dev',
  directory: '/var/lib/gantry-data',
  kinds: createKinds({ gpu: { vendorIds: [] }, drive: { asBlocks: drivesAsBlocks } }),
});

try {
  const result = await carryOut();
  process.stdout.write(JSON.stringify({ result: result ?? null }));
} catch (error) {
  if (!(error instanceof HostFailure)) throw error;
  process.stdout.write(JSON.stringify({ refusal: { code: error.code, message: error.message } }));
}

async function carryOut(): Promise<unknown> {
  if (order === 'list') return await devices.list();
  return order === 'bind' ? await devices.bind(device, companions) : await devices.release(device);
}

function mortal(control: PciControl, file: string): PciControl {
  const pass = (point: string) => {
    const known = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n');
    if (known.includes(point)) return;
    appendFileSync(file, `${point}\n`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise<never>(() => {});
  };
  return {
    ...control,
    async write(write) {
      await pass(`write ${write.path} ${write.value.trim()}`);
      await control.write(write);
    },
    async writeConfig(address, at) {
      await pass(`config ${address} ${Buffer.from(at.bytes).toString('hex')}`);
      await control.writeConfig(address, at);
    },
    async run(program, args, options) {
      await pass(`run ${program} ${args.join(' ')}`);
      return await control.run(program, args, options);
    },
  };
}
