import { type HostNetwork, MachineFailure } from '../machine.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { NicSpec } from '../wanted.ts';
import { allEnded } from './all-ended.ts';
import { ensureNic } from './ensure-nic.ts';
import { applyFirewall, isInForce, listCovered } from './firewall-in-kernel.ts';
import { findTaps, type Link, listLinks } from './links.ts';
import { checkVmId, type Nic, parseNic } from './parse-nic.ts';
import { removeTap, removeUnusedBridges } from './remove-tap.ts';
import { renderFirewall } from './render-firewall.ts';
import { inNamespace, type RunCommand, runCommand } from './run-command.ts';

/** Leaves room for the 50 bytes by which VXLAN wraps a packet between hosts of 1500. */
export const DEFAULT_MTU = 1450;

export type HostNetworkSettings = {
  run?: RunCommand;
  /** A named network namespace that is the host. Absent: the one the agent is in. */
  netns?: string;
  mtu?: number;
  /** The interface towards the outside. Absent: guests reach only each other. */
  uplink?: string;
  /**
   * Whether programs on the host can reach guests by their addresses, as the rules allow it. For a
   * single machine: where tenants choose the same addresses it is one of them, and a tenant's subnet
   * hides the same addresses behind the host's default route.
   */
  reachableFromHost?: boolean;
};

type Taps = { links: readonly Link[]; kept: ReadonlySet<string> };

const LINK_NAME = /^[0-9A-Za-z_.-]{1,15}$/;

/**
 * Guests' interfaces, and what may pass them. Everything that is known lies in the kernel: what is
 * ours has our prefix in its name and its owner in its alias, so an agent that was killed between any
 * two steps finds what there is and completes it. Changes come one after the other, since VMs share
 * bridges.
 */
export function createHostNetwork(settings: HostNetworkSettings = {}): HostNetwork {
  const { netns, mtu = DEFAULT_MTU, uplink = null, reachableFromHost = false } = settings;
  const outside = settings.run ?? runCommand;
  const run = netns === undefined ? outside : inNamespace(outside, netns);
  const inOrder = oneAtATime();
  if (uplink !== null && !LINK_NAME.test(uplink)) {
    throw new MachineFailure('invalid_uplink', `"${uplink}" cannot be an interface's name`);
  }

  const ensureNics = async (vmId: string, specs: readonly NicSpec[]) => {
    checkVmId(vmId);
    const nics = specs.map(parseNic);
    const [present] = await allEnded([listLinks(run), refuseUncovered(run, nics)]);
    const kept = new Set(nics.map(({ tap }) => tap));
    let links = await removeTaps(vmId, { links: present, kept });
    for (const nic of nics) {
      await ensureNic(run, { vmId, nic, links, settings: { mtu, uplink, reachableFromHost } });
      if (nic !== nics.at(-1)) links = await listLinks(run);
    }
  };

  /** Answers what is left. */
  const removeTaps = async (vmId: string, { links, kept }: Taps): Promise<Link[]> => {
    const unwanted = findTaps(links).filter((tap) => tap.vmId === vmId && !kept.has(tap.name));
    for (const tap of unwanted) await removeTap(run, tap, links);
    return links.filter(({ name }) => unwanted.every((tap) => tap.name !== name));
  };

  return {
    ensureNics: (vmId, nics) => inOrder(() => ensureNics(vmId, nics)),
    removeNics: (vmId) =>
      inOrder(async () => {
        const links = await listLinks(run);
        await removeUnusedBridges(run, await removeTaps(vmId, { links, kept: new Set() }));
      }),
    applyFirewall: async (firewall) => {
      const rendered = renderFirewall(firewall, uplink);
      await inOrder(() => applyFirewall(run, rendered));
    },
    isInForce: (firewall) => inOrder(() => isInForce(run, { firewall, uplink })),
  };
}

async function refuseUncovered(run: RunCommand, nics: readonly Nic[]): Promise<void> {
  if (nics.length === 0) return;
  const covered = await listCovered(run);
  const bare = nics.find(({ tap, mac, address }) => !covered.has(`${tap} ${mac} ${address}`));
  if (!bare) return;
  const message = `interface ${bare.id} would come up without rules: apply the firewall first`;
  throw new MachineFailure('not_filtered', message);
}
