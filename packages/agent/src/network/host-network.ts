import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import type { Log } from '@gantry/daemon/log';
import { HostFailure } from '../base/failure.ts';
import { createQueue } from '../base/queue.ts';
import type { Firewall, HostNetwork } from '../host-driver.ts';
import type { NameServers } from '../seed/network-config.ts';
import type { Rates } from './bandwidth/plan-shaping.ts';
import { ensureShaping, isShaped, withFormerRates } from './bandwidth/shaping-in-kernel.ts';
import { applyFirewall, isInForce } from './firewall/firewall-in-kernel.ts';
import { type RenderedFirewall, renderFirewall } from './firewall/render-firewall.ts';
import { createGuestServices } from './guest-services/guest-services.ts';
import { listLinks } from './kernel/links.ts';
import { inNamespace, type RunCommand, runCommand } from './kernel/run-command.ts';
import { parseInterface, type VmInterface } from './parse-interface.ts';
import { parseNetworks } from './parse-network.ts';
import { ensureInterfaces } from './taps/ensure-interfaces.ts';
import { areNone, findLeftovers, removeLeftovers } from './taps/leftovers.ts';
import { removeTapsOf, removeUnusedBridges } from './taps/remove-tap.ts';
import { readTunnels } from './tunnels/present-tunnels.ts';
import { hasNeighbours } from './tunnels/tunnel.ts';
import { applyTunnels, areTunnelsInForce } from './tunnels/tunnels-in-kernel.ts';
import { readUnderlay, refuseNarrow } from './tunnels/underlay.ts';

/** Leaves room for the 50 bytes that VXLAN adds to a packet between hosts with an MTU of 1500. */
export const DEFAULT_MTU = 1450;

export type HostNetworkOptions = {
  run?: RunCommand;
  /** A network namespace that stands for the host. Absent: the agent's own. */
  netns?: string;
  mtu?: number;
  /** The interface to the outside. Absent: guests reach only each other. */
  uplink?: string;
  /**
   * The address to which other hosts send guests' packets. Absent: the uplink's or the default
   * route's.
   */
  underlayAddress?: string;
  /**
   * Whether programs on the host can reach guests by their addresses, if the rules allow it. For a
   * single machine: if tenants choose the same addresses, one of them is reached, and a tenant's
   * subnet hides the same addresses behind the host's default route.
   */
  reachableFromHost?: boolean;
  /** Whether no VM gets more bandwidth than its type has. Absent: VMs share the links of the host. */
  enforcesBandwidth?: boolean;
  nameservers?: NameServers;
  log?: Log;
};

export type KernelNetwork = HostNetwork & {
  /** Returns null if other hosts cannot reach this one now. */
  readUnderlayAddress(): Promise<string | null>;
  close(): Promise<void>;
};

const LINK_NAME = /^[0-9A-Za-z_.-]{1,15}$/;

/**
 * Guests' interfaces and their filters. All state is in the kernel: the agent's links have its
 * prefix in their names and their owner in their alias, so an agent that was killed between any two
 * steps finds them and completes the work. Changes are serialised because VMs share bridges.
 */
export function createHostNetwork(options: HostNetworkOptions = {}): KernelNetwork {
  const { netns, mtu = DEFAULT_MTU, uplink = null, reachableFromHost = false } = options;
  const { enforcesBandwidth = false } = options;
  const outside = options.run ?? runCommand;
  const run = netns === undefined ? outside : inNamespace(outside, netns);
  const inOrder = createQueue();
  const { nameservers = async () => [], log } = options;
  const services = createGuestServices({ nameservers, mtu, netns, log });
  // A caller that asks whether rules are in force usually applies the same rules next.
  const renderedLast = new WeakMap<Firewall, { where: string; rendered: RenderedFirewall }>();
  const underlayChoice = { address: options.underlayAddress, uplink };
  if (uplink !== null && !LINK_NAME.test(uplink)) {
    throw new HostFailure('invalid_uplink', `"${uplink}" is not a valid interface name`);
  }

  /** The underlay is read only if a network has VMs on other hosts. */
  const render = async (firewall: Firewall) => {
    const isAlone = !hasNeighbours(parseNetworks(firewall.networks ?? []));
    const underlay = isAlone ? null : await readUnderlay(run, underlayChoice);
    const where = JSON.stringify([underlay, [...(underlay?.ownAddresses ?? [])]]);
    const known = renderedLast.get(firewall);
    if (known?.where === where) return known.rendered;
    const rendered = renderFirewall(firewall, uplink, underlay);
    if (underlay !== null && rendered.tunnels.length > 0) refuseNarrow(underlay, mtu);
    renderedLast.set(firewall, { where, rendered });
    return rendered;
  };

  /** Rules come first, so that packets from a tunnel are filtered from the first one on. */
  const apply = async (firewall: Firewall) => {
    const rendered = await render(firewall);
    const { interfaces, tunnels } = rendered;
    services.beforeChange(firewall.interfaces);
    const [, present, leftovers] = await allSettledOrThrow([
      applyFirewall(run, rendered),
      readTunnels(run),
      findLeftovers(run, { interfaces, tunnels }),
    ]);
    services.inForce(firewall.interfaces);
    await applyTunnels(run, { present, wanted: { tunnels, mtu } });
    if (!areNone(leftovers)) await removeLeftovers(run, leftovers);
    await ensureShaping(run, withFormerRates(ratesOf(interfaces), leftovers.links));
  };

  const ratesOf = (interfaces: readonly VmInterface[]): Rates =>
    new Map(enforcesBandwidth ? interfaces.map((iface) => [iface.tap, iface.bandwidthMbps]) : []);

  return {
    ensureInterfaces: (vmId, specs) =>
      inOrder(async () => {
        const interfaces = specs.map(parseInterface);
        const order = { vmId, interfaces, options: { mtu, uplink, reachableFromHost } };
        await ensureInterfaces(run, order);
        await ensureShaping(run, ratesOf(interfaces));
        await services.listen();
      }),
    removeInterfaces: (vmId) =>
      inOrder(async () => {
        const links = await listLinks(run);
        const left = await removeTapsOf(run, vmId, { links, kept: new Set() });
        await removeUnusedBridges(run, left);
      }),
    applyFirewall: (firewall) => inOrder(() => apply(firewall)),
    isInForce: (firewall, { quickly = false } = {}) =>
      inOrder(async () => {
        const rendered = await render(firewall);
        const { interfaces, tunnels } = rendered;
        if (!(await isInForce(run, rendered, { quickly }))) return false;
        if (quickly) return true;
        services.inForce(firewall.interfaces);
        const [areTunnels, leftovers] = await allSettledOrThrow([
          areTunnelsInForce(run, { tunnels, mtu }),
          findLeftovers(run, { interfaces, tunnels }),
        ]);
        if (!areTunnels || !areNone(leftovers)) return false;
        const { links } = leftovers;
        return await isShaped(run, withFormerRates(ratesOf(interfaces), links), links);
      }),
    readUnderlayAddress: async () => (await readUnderlay(run, underlayChoice))?.address ?? null,
    serveGuests: (vms) => services.serveGuests(vms),
    close: () => services.close(),
  };
}
