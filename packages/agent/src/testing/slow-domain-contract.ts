import { beforeEach, describe, expect, it } from 'vitest';
import type { DomainState, HostDriver } from '../host-driver.ts';
import { makeVm } from './make-spec.ts';

/** A host whose hypervisor is as slow as a test wants it. */
export type SlowHost = {
  driver: HostDriver;
  /** Reads a domain without the driver, which may show an earlier state during a start. */
  find(vmId: string): { state: DomainState; starts: number } | undefined;
  /** A start lasts until this is called. */
  finishStart(vmId: string): void;
  /** The hypervisor does not reply about the domain until `unwedge`. */
  wedge(vmId: string): Promise<void>;
  unwedge(vmId: string): void;
};

const VM = '3f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d33';

/** What the agent relies on while a domain is being started, and while it does not reply. */
export function describeSlowDomainContract(make: () => Promise<SlowHost>): void {
  let host: SlowHost;
  let driver: HostDriver;
  const vm = makeVm(VM, { interfaces: [] });

  beforeEach(async () => {
    host = await make();
    driver = host.driver;
    for (const disk of vm.disks) await driver.volumes.create(disk, null);
    await driver.seeds.ensure(vm);
    await driver.hypervisor.define(vm);
  });

  const listed = async () =>
    (await driver.hypervisor.list()).find(({ vmId }) => vmId === VM) ?? null;
  const stateOf = async () => (await driver.hypervisor.read(VM))?.state;
  const begin = async () => {
    // The rejection of a start that is ended is handled by the test.
    const start = driver.hypervisor.start(VM, '1');
    start.catch(() => {});
    await expect.poll(() => host.find(VM)?.state).toBe('starting');
    return { start };
  };
  const run = async () => {
    const { start } = await begin();
    host.finishStart(VM);
    await start;
    expect(await stateOf()).toBe('running');
  };

  describe('a start in progress', () => {
    it('is not begun again, and those who wait for it find a running domain', async () => {
      const { start } = await begin();
      const waiting = driver.hypervisor.awaitStart(VM).then(stateOf);
      const again = driver.hypervisor.start(VM, '1');
      // Lets both calls come to the start that is in progress.
      await new Promise((resolve) => setImmediate(resolve));
      host.finishStart(VM);
      await Promise.all([start, again]);
      expect(await waiting).toBe('running');
      expect(host.find(VM)?.starts).toBe(1);
      expect(await listed()).toMatchObject({ state: 'running', generation: '1' });
    });

    it('is ended by a power-off, and the domain can be started again', async () => {
      const { start } = await begin();
      await driver.hypervisor.powerOff(VM);
      await expect(start).rejects.toThrow();
      expect(await stateOf()).toBe('shutoff');
      await run();
    });

    it('keeps the domain from being undefined', async () => {
      await begin();
      await expect(driver.hypervisor.undefine(VM)).rejects.toMatchObject({ code: 'host_failed' });
      expect(host.find(VM)?.state).toBe('starting');
      await driver.hypervisor.powerOff(VM);
      await driver.hypervisor.undefine(VM);
      expect(await listed()).toBeNull();
    });
  });

  describe('a domain that does not reply', () => {
    it('is listed as it was last known, with the reason, and every call about it fails', async () => {
      await run();
      await host.wedge(VM);
      expect(await listed()).toMatchObject({
        ...{ state: 'running', generation: '1' },
        unresponsive: { message: expect.stringContaining('did not reply') },
      });
      const { hypervisor } = driver;
      for (const call of [
        () => hypervisor.define({ ...vm, revision: '2' }),
        () => hypervisor.start(VM, '2'),
        () => hypervisor.reset(VM, '2'),
        () => hypervisor.askShutdown(VM),
        () => hypervisor.powerOff(VM),
        () => hypervisor.undefine(VM),
        () => hypervisor.read(VM),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'vm_unresponsive' });
    });

    it('is read again when the hypervisor replies, of which the watcher is told', async () => {
      await run();
      const told: string[] = [];
      const unwatch = driver.hypervisor.watch({
        ...{ reconnected: () => {}, serialLogGrew: () => {}, domainChanged: () => {} },
        domainRecovered: (vmId) => told.push(vmId),
      });
      await host.wedge(VM);
      host.unwedge(VM);
      await expect.poll(() => told).toContain(VM);
      unwatch();
      await expect.poll(listed).not.toHaveProperty('unresponsive');
      expect(await driver.hypervisor.read(VM)).toMatchObject({ state: 'running', revision: '1' });
    });
  });
}
