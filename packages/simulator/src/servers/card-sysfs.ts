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

/** The kernel's number of a link type (ARPHRD_ETHER, ARPHRD_INFINIBAND) and the start of interface names. */
const LINKS = { ethernet: { type: '1', prefix: 'ens' }, infiniband: { type: '32', prefix: 'ibs' } };

type Port = { speedMbps: number; link?: keyof typeof LINKS };

/** What the kernel shows of a network card whose link is up. */
export function nicSysfs({ speedMbps, link = 'ethernet' }: Port) {
  const { type, prefix } = LINKS[link];
  return ({ path, address, index }: CardPlace): SysfsTree => {
    const name = `${prefix}${index + 1}np0`;
    const folder = `${path}/net/${name}`;
    return {
      ...below(folder, {
        address: `02:00:00:00:00:0${index}`,
        type,
        speed: `${speedMbps}`,
        mtu: '9000',
        operstate: 'up',
      }),
      // The kernel's link ends with the address of the card.
      [`${folder}/device`]: { link: `../../../${address}` },
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
