import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  connectDomainEventCallbackRegisterAny,
  connectGetLibVersion,
  connectListAllDomains,
  domainCreateWithFlags,
  domainDefineXmlFlags,
  domainDestroyFlags,
  domainGetState,
  domainGetXmlDesc,
  domainIsPersistent,
  domainSetMetadata,
  domainUndefineFlags,
} from 'node-libvirt/generated/procedures';
import type { Domain as DomainHandle } from 'node-libvirt/generated/types';
import {
  argsOf,
  failureOf,
  type Reply,
  replyOf,
  replyToPings,
  servePeer,
} from 'node-libvirt/testing/peer';

/**
 * A peer that speaks libvirt's protocol and keeps domains in memory. A start lasts until the test ends it. It
 * sends no events.
 */
export type ByteLevelLibvirt = {
  socketPath: string;
  domain(vmId: string): MemoryDomain | undefined;
  /** Ends the start in progress: the domain runs. */
  finishStart(vmId: string): void;
  /** Locks a domain as libvirt does while it kills a process: no call about it gets a reply. */
  lock(vmId: string): void;
  /** Replies to the calls that wait. */
  unlock(vmId: string): void;
  /** How often all domains were listed. */
  readonly lists: number;
  close(): Promise<void>;
};

export type MemoryDomain = {
  state: 'shutoff' | 'starting' | 'running';
  /** How often it was started. */
  starts: number;
};

type Stored = MemoryDomain & {
  xml: string;
  handle: DomainHandle;
  endStart: (() => void) | null;
  /** The calls that wait for the lock; null if it is not locked. */
  waiting: (() => void)[] | null;
};

/** virDomainState and its reason. */
const STATES = {
  shutoff: { state: 5, reason: 0 },
  starting: { state: 3, reason: 11 },
  running: { state: 1, reason: 1 },
} as const;
const LIB_VERSION = 9_000_000n;

export async function serveLibvirt(): Promise<ByteLevelLibvirt> {
  const domains = new Map<string, Stored>();
  let lists = 0;
  const find = ({ uuid }: DomainHandle) => domains.get(uuid.toString('hex'));
  /** Handles a call about a domain; replies that there is none if so. */
  const about =
    <Args extends { dom: DomainHandle }>(
      read: (packet: Parameters<Reply>[0]) => Args,
      handle: (domain: Stored, args: Args, reply: Parameters<Reply>) => void,
    ): Reply =>
    (packet, socket) => {
      const args = read(packet);
      const domain = find(args.dom);
      if (!domain) socket.write(failureOf(packet));
      else if (domain.waiting) domain.waiting.push(() => handle(domain, args, [packet, socket]));
      else handle(domain, args, [packet, socket]);
    };

  const peer = await servePeer({
    keepalive: replyToPings,
    [connectGetLibVersion.number]: (call, socket) =>
      void socket.write(replyOf(connectGetLibVersion, call, { libVer: LIB_VERSION })),
    [connectDomainEventCallbackRegisterAny.number]: (call, socket) =>
      void socket.write(
        replyOf(connectDomainEventCallbackRegisterAny, call, { callbackId: call.serial }),
      ),
    [connectListAllDomains.number]: (call, socket) => {
      lists += 1;
      const handles = [...domains.values()].map(({ handle }) => handle);
      const ret = { domains: handles, ret: handles.length };
      socket.write(replyOf(connectListAllDomains, call, ret));
    },
    [domainGetXmlDesc.number]: about(
      (call) => argsOf(domainGetXmlDesc, call),
      ({ xml }, _args, [call, socket]) =>
        void socket.write(replyOf(domainGetXmlDesc, call, { xml })),
    ),
    [domainIsPersistent.number]: about(
      (call) => argsOf(domainIsPersistent, call),
      (_domain, _args, [call, socket]) =>
        void socket.write(replyOf(domainIsPersistent, call, { persistent: 1 })),
    ),
    [domainGetState.number]: about(
      (call) => argsOf(domainGetState, call),
      ({ state }, _args, [call, socket]) =>
        void socket.write(replyOf(domainGetState, call, STATES[state])),
    ),
    [domainSetMetadata.number]: about(
      (call) => argsOf(domainSetMetadata, call),
      (domain, { metadata, key, uri }, [call, socket]) => {
        domain.xml = withMetadata(domain.xml, { metadata: metadata ?? '', key, uri });
        socket.write(replyOf(domainSetMetadata, call, undefined));
      },
    ),
    [domainDefineXmlFlags.number]: (call, socket) => {
      const { xml } = argsOf(domainDefineXmlFlags, call);
      const handle = handleOf(xml);
      const before = find(handle);
      if (before) before.xml = xml;
      else {
        domains.set(handle.uuid.toString('hex'), {
          ...{ xml, handle, state: 'shutoff', starts: 0, endStart: null, waiting: null },
        });
      }
      socket.write(replyOf(domainDefineXmlFlags, call, { dom: handle }));
    },
    [domainCreateWithFlags.number]: about(
      (call) => argsOf(domainCreateWithFlags, call),
      (domain, _args, reply) => beginStart(domain, reply),
    ),
    [domainDestroyFlags.number]: about(
      (call) => argsOf(domainDestroyFlags, call),
      (domain, _args, [call, socket]) => {
        domain.state = 'shutoff';
        domain.endStart?.();
        socket.write(replyOf(domainDestroyFlags, call, undefined));
      },
    ),
    [domainUndefineFlags.number]: about(
      (call) => argsOf(domainUndefineFlags, call),
      (_domain, { dom }, [call, socket]) => {
        domains.delete(dom.uuid.toString('hex'));
        socket.write(replyOf(domainUndefineFlags, call, undefined));
      },
    ),
  });
  const stored = (vmId: string) => domains.get(vmId.replaceAll('-', ''));
  const require = (vmId: string) => {
    const domain = stored(vmId);
    if (!domain) throw new Error(`there is no domain ${vmId}`);
    return domain;
  };
  return {
    socketPath: peer.socketPath,
    domain: stored,
    finishStart(vmId) {
      const domain = stored(vmId);
      if (!domain?.endStart) throw new Error(`VM ${vmId} is not being started`);
      domain.state = 'running';
      domain.endStart();
    },
    lock(vmId) {
      require(vmId).waiting = [];
    },
    unlock(vmId) {
      const domain = require(vmId);
      const waiting = domain.waiting ?? [];
      domain.waiting = null;
      for (const handle of waiting) handle();
    },
    get lists() {
      return lists;
    },
    close: peer.close,
  };
}

/** The reply comes when the start ends, with success if the domain runs then. */
function beginStart(domain: Stored, [call, socket]: Parameters<Reply>): void {
  domain.state = 'starting';
  domain.starts += 1;
  domain.endStart = () => {
    domain.endStart = null;
    const isRunning = domain.state === 'running';
    write(
      socket,
      isRunning ? replyOf(domainCreateWithFlags, call, { dom: domain.handle }) : failureOf(call),
    );
  };
}

/** The client may be gone. */
function write(socket: Socket, bytes: Buffer): void {
  if (!socket.destroyed) socket.write(bytes);
}

function handleOf(xml: string): DomainHandle {
  const text = (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];
  const uuid = text('uuid') ?? randomUUID();
  return { name: text('name') ?? '', uuid: Buffer.from(uuid.replaceAll('-', ''), 'hex'), id: -1 };
}

/** Replaces the element of the namespace, and adds the prefix as libvirt does. */
function withMetadata(
  xml: string,
  { metadata, key, uri }: { metadata: string; key: string | null; uri: string | null },
): string {
  const prefixed = metadata.replaceAll(/<(\/?)(\w)/g, `<$1${key}:$2`);
  const declared = prefixed.replace(/^<([^\s/>]+)/, `<$1 xmlns:${key}="${uri}"`);
  return xml.replace(/<metadata>[\s\S]*<\/metadata>/, `<metadata>${declared}</metadata>`);
}
