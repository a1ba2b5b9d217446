import { connect } from 'node-libvirt/connect';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import { AFFECT, BLOCK_RESIZE } from 'node-libvirt/flags';
import {
  domainAttachDeviceFlags,
  domainBlockResize,
  domainDetachDeviceAlias,
  domainGetXmlDesc,
  domainLookupByName,
} from 'node-libvirt/generated/procedures';

/** A disk of a running domain, attached and detached by libvirt alone. */
export type OwnDisk = {
  id: string;
  attach(): Promise<void>;
  /** Resolves when the guest has released it. */
  detach(): Promise<void>;
  growTo(sizeGib: number): Promise<void>;
  close(): Promise<void>;
};

export async function openOwnDisk(options: {
  socketPath: string;
  domain: string;
  id: string;
}): Promise<OwnDisk> {
  const connection = await connect({ socketPath: options.socketPath });
  const { dom } = await connection.call(domainLookupByName, { name: options.domain });
  const { xml } = await connection.call(domainGetXmlDesc, { dom, flags: 0 });
  const own = xml.match(/<disk [\s\S]*?<\/disk>/g)?.find((disk) => disk.includes(options.id)) ?? '';
  const read = (pattern: RegExp) => own.match(pattern)?.[1] ?? '';
  const alias = read(/<alias name='([^']+)'/);
  const target = read(/<target dev='([^']+)'/);
  return {
    id: options.id,
    async attach() {
      await connection.call(domainAttachDeviceFlags, { dom, xml: own, flags: AFFECT.live });
    },
    async detach() {
      let released = () => {};
      const outcome = new Promise<void>((resolve) => {
        released = resolve;
      });
      const subscription = await subscribe(connection, DOMAIN_EVENT.deviceRemoved, {
        domain: dom,
        listener: (event) => event.alias === alias && released(),
      });
      await connection.call(domainDetachDeviceAlias, { dom, alias, flags: AFFECT.live });
      await outcome;
      await subscription.stop();
    },
    async growTo(sizeGib) {
      const size = { size: BigInt(sizeGib) * 2n ** 30n, flags: BLOCK_RESIZE.bytes };
      await connection.call(domainBlockResize, { dom, disk: target, ...size });
    },
    close: () => connection.close(),
  };
}
