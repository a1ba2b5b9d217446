import type { HostDriver } from '@gantry/agent/host-driver';
import { Connection } from 'node-libvirt/connection';

/** Called when a call begins. Returns a function to call when it has ended. */
export type Note = (name: string) => () => void;

/** Returns the same driver with every call timed. */
export function withTimings(driver: HostDriver, note: Note): HostDriver {
  const timed = <T extends object>(part: T, name: string): T =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        const method = value.bind(target);
        // `watch` only registers a listener, so it is not timed.
        if (key === 'watch') return method;
        return timing(`${name}.${String(key)}`, method, note);
      },
    });
  const { hypervisor, volumes, snapshots, devices, network, seeds } = driver;
  return {
    readBootId: () => driver.readBootId(),
    readInventory: () => driver.readInventory(),
    hypervisor: timed(hypervisor, 'hypervisor'),
    volumes: timed(volumes, 'volumes'),
    snapshots: timed(snapshots, 'snapshots'),
    devices: timed(devices, 'devices'),
    network: timed(network, 'network'),
    seeds: timed(seeds, 'seeds'),
  };
}

/** Times every libvirt call of this process from now on, by the name of its procedure. */
export function timeConnections(note: Note): void {
  const call = Connection.prototype.call as (...args: unknown[]) => Promise<unknown>;
  Object.assign(Connection.prototype, {
    call(this: Connection, procedure: { name: string }, ...args: unknown[]) {
      return timing(`libvirt.${procedure.name}`, () => call.call(this, procedure, ...args), note)();
    },
  });
}

function timing(name: string, work: (...args: unknown[]) => Promise<unknown>, note: Note) {
  return async (...args: unknown[]) => {
    const ended = note(name);
    try {
      return await work(...args);
    } finally {
      ended();
    }
  };
}
