import { posix } from 'node:path';
import type { SysfsTree } from '@gantry/agent/base/sysfs-tree';
import type { CardPlace } from './server-model.ts';

/** What the kernel shows of an NVMe drive on its driver. */
export function driveSysfs(drive: { model: string; firmware: string; sectors: number }) {
  return ({ path, address, index }: CardPlace): SysfsTree =>
    below(`${path}/nvme/nvme${index}`, {
      // The value for the model; each host gets its own.
      serial: `S64GNE0R${address.replace(/\W/g, '').toUpperCase()}`,
      model: drive.model,
      firmware_rev: drive.firmware,
      [`nvme${index}n1/size`]: `${drive.sectors}`,
    });
}

/** What the kernel shows of a network card whose link is up. */
export function nicSysfs({ speedMbps }: { speedMbps: number }) {
  return ({ path, numaNode }: CardPlace): SysfsTree => {
    const name = `ens${numaNode + 1}np0`;
    const folder = `${path}/net/${name}`;
    return {
      ...below(folder, {
        address: `02:00:00:00:00:0${numaNode}`,
        speed: `${speedMbps}`,
        mtu: '9000',
        operstate: 'up',
      }),
      ...linked(`${folder}/device`, path),
      ...linked(`class/net/${name}`, folder),
    };
  };
}

export function below(folder: string, tree: SysfsTree): SysfsTree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => [`${folder}/${name}`, value]),
  );
}

/** Links in sysfs are relative to their directory. */
export function linked(from: string, to: string): SysfsTree {
  return { [from]: { link: posix.relative(posix.dirname(from), to) } };
}
