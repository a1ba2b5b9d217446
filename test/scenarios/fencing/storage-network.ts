import { execute } from '@gantry/testkit/real-host/execute';
import {
  addNamespace,
  ownName,
  removeAbandoned,
  removeNamespace,
} from '@gantry/testkit/real-host/namespaces';

export const STORAGE_ADDRESS = '10.98.0.1';

/** A network of its own with a storage cluster and hosts, each in a namespace with an address. */
export class StorageNetwork {
  readonly namespace = ownName('storage');
  readonly #namespaces: string[] = [];

  async begin(): Promise<void> {
    await removeAbandoned();
    await this.#add(this.namespace);
    await this.#ip(this.namespace, 'link', 'add', 'br0', 'type', 'bridge');
    await this.#ip(this.namespace, 'addr', 'add', `${STORAGE_ADDRESS}/24`, 'dev', 'br0');
    await this.#ip(this.namespace, 'link', 'set', 'br0', 'up');
  }

  async addHost(number: number): Promise<{ namespace: string; address: string }> {
    const namespace = ownName(`storage-host-${number}`);
    const address = `10.98.0.${10 + number}`;
    await this.#add(namespace);
    const end = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace];
    await this.#ip(this.namespace, 'link', 'add', `host${number}`, ...end);
    await this.#ip(this.namespace, 'link', 'set', `host${number}`, 'master', 'br0', 'up');
    await this.#ip(namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await this.#ip(namespace, 'link', 'set', 'eth0', 'up');
    return { namespace, address };
  }

  /** Cuts the link of a host, or connects it again. */
  async setLink(namespace: string, state: 'up' | 'down'): Promise<void> {
    await this.#ip(namespace, 'link', 'set', 'eth0', state);
  }

  async end(): Promise<void> {
    for (const namespace of this.#namespaces.splice(0)) await removeNamespace(namespace);
  }

  async #add(namespace: string): Promise<void> {
    this.#namespaces.push(namespace);
    await addNamespace(namespace);
  }

  async #ip(namespace: string, ...args: string[]): Promise<void> {
    await execute('ip', '-n', namespace, ...args);
  }
}
