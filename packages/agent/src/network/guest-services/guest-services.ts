import type { Socket } from 'node:dgram';
import type { Server } from 'node:http';
import { Backoff } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import type { NameServers } from '../../seed/network-config.ts';
import { hostName, renderSeedFiles } from '../../seed/nocloud.ts';
import type { InterfaceSpec, VmSpec } from '../../spec.ts';
import { assignServiceAddresses, METADATA_ADDRESS } from '../kernel/service-addresses.ts';
import { parseInterface } from '../parse-interface.ts';
import { formatDhcp, parseDhcp } from './dhcp-message.ts';
import { createMetadataServer } from './metadata-server.ts';
import { openSockets } from './open-sockets.ts';
import { replyToDhcp } from './reply-to-dhcp.ts';

export type GuestServicesOptions = {
  nameservers: NameServers;
  mtu: number;
  netns: string | undefined;
  log: Log | undefined;
};

export type GuestServices = {
  /**
   * The kernel is about to identify guests by these interfaces: guests that change get no replies.
   */
  beforeChange(interfaces: readonly InterfaceSpec[]): void;
  /** The interfaces by which the kernel identifies guests now. */
  inForce(interfaces: readonly InterfaceSpec[]): void;
  /** The VMs behind the interfaces. From now on they get replies. */
  serveGuests(vms: readonly VmSpec[]): Promise<void>;
  /** Called when a bridge may exist, and with it the address to listen on. */
  listen(): Promise<void>;
  close(): Promise<void>;
};

/** An agent that is about to end releases the address at once; another program may never do so. */
const BACKOFF = { minMs: 1_000, maxMs: 60_000, jitter: 0 };

/**
 * DHCP and metadata for the guests of a host. It stores nothing: without the agent there are no
 * replies, and the next agent gives the same ones. If it cannot listen, VMs still start, because
 * guests have a seed to read.
 */
export function createGuestServices(options: GuestServicesOptions): GuestServices {
  const { mtu, netns, log } = options;
  let interfaces: ReadonlyMap<string, InterfaceSpec> = new Map();
  let vms: ReadonlyMap<string, VmSpec> | null = null;
  let listening: { udp: Socket; http: Server } | null = null;
  let opening: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;
  const backoff = new Backoff(BACKOFF);
  let isClosed = false;

  const vmOf = (service: string) => vms?.get(interfaces.get(service)?.id ?? '');
  const readFile = async (service: string, wanted: string) => {
    const nameservers = await options.nameservers();
    const vm = vmOf(service);
    if (!vm) return undefined;
    const files = renderSeedFiles(vm, { nameservers, mtu });
    const content = files.find(({ name }) => name === wanted)?.content;
    // cloud-init requests this file, and repeats the request if there is none.
    return content ?? (wanted === 'vendor-data' ? Buffer.alloc(0) : undefined);
  };

  const replyPacket = async (packet: Buffer, service: string) => {
    const request = parseDhcp(packet);
    if (!request) return null;
    const nameservers = await options.nameservers();
    const spec = interfaces.get(service);
    if (!spec) return null;
    const vm = vmOf(service);
    const lease = { nameservers, mtu, hostName: vm ? hostName(vm) : null };
    const reply = replyToDhcp(request, { iface: parseInterface(spec), ...lease });
    return reply && formatDhcp(request, reply, METADATA_ADDRESS);
  };

  const open = async () => {
    const { udp, tcp } = await openSockets(netns);
    udp.on('message', async (packet, { address, port }) => {
      try {
        const reply = await replyPacket(packet, address);
        // If a reply cannot be sent, the client asks again.
        if (reply && !isClosed) udp.send(reply, port, address, () => undefined);
      } catch (error) {
        // No guest's request may end the agent.
        log?.warn({ error }, 'DHCP reply could not be sent');
      }
    });
    udp.on('error', (error) => log?.warn({ error }, 'DHCP packet failed'));
    const http = createMetadataServer({
      isKnown: (guest) => vmOf(guest) !== undefined,
      read: readFile,
    });
    http.listen(tcp);
    for (const socket of [udp, http]) socket.unref();
    listening = { udp, http };
    if (isClosed) await close();
  };

  const listen = async () => {
    if (vms === null || listening !== null || isClosed) return;
    clearTimeout(retry);
    opening ??= open()
      .catch((error: unknown) => {
        // There is no bridge yet; `listen` is called when there is one.
        if (codeOf(error) === 'EADDRNOTAVAIL' || isClosed) return;
        log?.warn({ error }, 'DHCP and metadata for guests could not be started; will be retried');
        retry = setTimeout(() => void listen(), backoff.nextMs()).unref();
      })
      .finally(() => {
        opening = null;
      });
    await opening;
  };

  const close = async () => {
    isClosed = true;
    clearTimeout(retry);
    const { udp, http } = listening ?? {};
    listening = null;
    udp?.close();
    http?.close();
    http?.closeAllConnections();
  };

  return {
    beforeChange(next) {
      const addresses = assignServiceAddresses(next.map(({ id }) => id));
      interfaces = new Map(
        [...interfaces].filter(([service, { id }]) => addresses.get(id) === service),
      );
    },
    inForce(next) {
      const addresses = assignServiceAddresses(next.map(({ id }) => id));
      interfaces = new Map(next.map((iface) => [addresses.get(iface.id) ?? '', iface]));
    },
    async serveGuests(next) {
      vms = new Map(next.flatMap((vm) => vm.interfaces.map(({ id }) => [id, vm])));
      await listen();
    },
    listen,
    close,
  };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
