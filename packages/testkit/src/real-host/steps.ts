import type { HostDriver } from '@gantry/agent/host-driver';

/** The methods that change a host; all others only read. */
const CHANGES = new Set([
  ...['define', 'start', 'reset', 'askShutdown', 'powerOff', 'undefine'],
  ...[
    'attachDisk',
    'detachDisk',
    'growDisk',
    'limitDisk',
    'freezeGuest',
    'thawGuest',
    'create',
    'grow',
    'remove',
  ],
  ...['bind', 'release', 'ensureInterfaces', 'removeInterfaces', 'applyFirewall', 'ensure'],
]);

export type StepWatcher = {
  before(step: string): Promise<void> | void;
  after(step: string): Promise<void> | void;
};

/** The same driver; every change is announced before it begins and after it has ended. */
export function withSteps(driver: HostDriver, watcher: StepWatcher): HostDriver {
  const announce = <T extends object>(part: T, name: string): T =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        const method = value.bind(target);
        if (!CHANGES.has(String(key))) return method;
        const step = `${name}.${String(key)}`;
        return async (...args: unknown[]) => {
          await watcher.before(step);
          const result = await method(...args);
          await watcher.after(step);
          return result;
        };
      },
    });
  const { hypervisor, volumes, snapshots, devices, network, seeds } = driver;
  return {
    readBootId: () => driver.readBootId(),
    readInventory: () => driver.readInventory(),
    hypervisor: announce(hypervisor, 'hypervisor'),
    volumes: announce(volumes, 'volumes'),
    snapshots: announce(snapshots, 'snapshots'),
    devices: announce(devices, 'devices'),
    network: announce(network, 'network'),
    seeds: announce(seeds, 'seeds'),
  };
}
