import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { isUnicast } from '@gantry/model/cidr';
import { HostFailure } from '../../base/failure.ts';
import type { RunCommand } from '../kernel/run-command.ts';

/** The network between hosts, from the point of view of one host. */
export type Underlay = {
  address: string;
  device: string;
  /** The largest packet it carries, in bytes. */
  mtu: number;
  /** All addresses of this host and all broadcast addresses: no other host can have one of them. */
  ownAddresses: ReadonlySet<string>;
};

/**
 * What VXLAN adds to a packet: the outer IPv4, UDP and VXLAN headers, and the inner Ethernet
 * header.
 */
const OVERHEAD_BYTES = 50;

export type UnderlayChoice = {
  /** Undefined: the uplink's address, or else the source address of the default route. */
  address: string | undefined;
  uplink: string | null;
};

/** Returns null if the host has no such address now. */
export async function readUnderlay(run: RunCommand, choice: UnderlayChoice) {
  const [addresses, routes] = await allSettledOrThrow([
    run('ip', ['-4', '-json', 'address', 'show']),
    run('ip', ['-4', '-json', 'route', 'show', 'default']),
  ]);
  return chooseUnderlay(JSON.parse(addresses || '[]'), {
    ...choice,
    routes: JSON.parse(routes || '[]'),
  });
}

type AddressListing = {
  ifname: string;
  mtu: number;
  addr_info?: { local?: string; broadcast?: string; scope?: string }[];
}[];
type RouteListing = { dev?: string; prefsrc?: string; metric?: number }[];

export function chooseUnderlay(
  links: AddressListing,
  { address, uplink, routes }: UnderlayChoice & { routes: RouteListing },
): Underlay | null {
  const found = links.flatMap(({ ifname, mtu, addr_info = [] }) =>
    addr_info.flatMap(({ local = '', scope }) => ({ device: ifname, mtu, address: local, scope })),
  );
  const ofDevice = (device: string | undefined) =>
    found.find((entry) => entry.device === device && entry.scope === 'global');
  const [route] = [...routes].sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
  const chosen =
    address !== undefined
      ? found.find((entry) => entry.address === address)
      : uplink !== null
        ? ofDevice(uplink)
        : (found.find((entry) => entry.address === route?.prefsrc) ?? ofDevice(route?.dev));
  if (!chosen || !isUnicast(chosen.address)) return null;
  const own = links.flatMap(({ addr_info = [] }) =>
    addr_info.flatMap(({ local = '', broadcast = '' }) => [local, broadcast]),
  );
  const { device, mtu } = chosen;
  return { address: chosen.address, device, mtu, ownAddresses: new Set(own) };
}

/** Returns whether the address can be another host's. */
export function isPeer(address: string, { ownAddresses }: Underlay): boolean {
  return isUnicast(address) && !ownAddresses.has(address);
}

export function refuseNarrow({ device, mtu }: Underlay, guestMtu: number): void {
  if (mtu >= guestMtu + OVERHEAD_BYTES) return;
  const message =
    `interface ${device} carries packets of ${mtu} bytes, but guests' packets (${guestMtu}) have ` +
    `${guestMtu + OVERHEAD_BYTES} between hosts: raise its MTU, or lower GANTRY_GUEST_MTU on every host`;
  throw new HostFailure('underlay_mtu_too_small', message);
}
