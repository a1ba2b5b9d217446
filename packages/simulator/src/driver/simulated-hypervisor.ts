import { HostFailure } from '@gantry/agent/base/failure';
import {
  type Domain,
  type DomainState,
  type DomainWatcher,
  type Hypervisor,
  isActive,
} from '@gantry/agent/host-driver';
import type { DiskCopying } from '@gantry/agent/host-snapshots';
import { type DiskSpec, isBelow, type VmSpec } from '@gantry/agent/spec';
import type { DriverStep } from './faults.ts';
import type { HostParts } from './host-parts.ts';
import { addLines, bootLines } from './serial-console.ts';
import { SimulatedConsole } from './simulated-console.ts';
import { SimulatedCopies } from './simulated-copies.ts';
import { SimulatedDomain } from './simulated-domain.ts';

/** Throws if a part is missing that a domain needs to start. */
type Requirements = (vm: VmSpec) => void;

export class SimulatedHypervisor implements Hypervisor {
  readonly #host: HostParts;
  readonly #require: Requirements;
  readonly #domains = new Map<string, SimulatedDomain>();
  readonly #copies: SimulatedCopies;
  /** Almost always one watcher: the host's agent. */
  #watchers: readonly DomainWatcher[] = [];

  constructor(host: HostParts, require: Requirements) {
    this.#host = host;
    this.#require = require;
    this.#copies = new SimulatedCopies(host);
  }

  /** For tests and faults that bypass the agent. */
  domain(vmId: string): SimulatedDomain | undefined {
    return this.#domains.get(vmId);
  }

  /** What `list` returns without faults. */
  look(): Domain[] {
    return [...this.#domains.values()].map((domain) => domain.show(this.#host.disks));
  }

  async list(): Promise<readonly Domain[]> {
    await this.#host.faults.pass('list_domains');
    return this.look();
  }

  async read(vmId: string): Promise<Domain | null> {
    await this.#pass('list_domains', vmId);
    return this.#domains.get(vmId)?.show(this.#host.disks) ?? null;
  }

  async define(vm: VmSpec): Promise<null> {
    await this.#pass('define', vm.id);
    const existing = this.#domains.get(vm.id);
    if (existing) {
      existing.vm = vm;
      if (existing.state === 'running' && isBelow(existing.generation, vm.generation))
        existing.generation = vm.generation;
    } else this.#domains.set(vm.id, new SimulatedDomain(vm));
    this.#tell(vm.id);
    return null;
  }

  async start(vmId: string, generation: string): Promise<void> {
    await this.#pass('start', vmId);
    await this.awaitStart(vmId);
    const domain = this.#get(vmId);
    if (domain.state === 'running') return;
    this.#require(domain.vm);
    const booting = domain.boot(this.#host);
    if (domain.state === 'starting') this.#tell(vmId);
    const hasBooted = await booting;
    // The host went down in the meantime, or the domain was undefined.
    if (this.#domains.get(vmId) !== domain) return;
    if (!hasBooted) throw new HostFailure('host_failed', `the start of VM ${vmId} was ended`);
    domain.run(this.#host.disks, generation);
    domain.starts += 1;
    this.#print(domain, bootLines(domain.vm));
    this.#tell(vmId);
  }

  async awaitStart(vmId: string): Promise<void> {
    await this.#domains.get(vmId)?.awaitStart();
  }

  async reset(vmId: string, generation: string): Promise<void> {
    await this.#pass('reset', vmId);
    const domain = this.#running(vmId);
    domain.generation = generation;
    domain.resets += 1;
    domain.isFrozen = false;
    domain.isShuttingDown = false;
    this.#print(domain, bootLines(domain.vm));
    this.#tell(vmId);
  }

  async askShutdown(vmId: string): Promise<void> {
    await this.#pass('ask_shutdown', vmId);
    const domain = this.#domains.get(vmId);
    if (domain?.state !== 'running') return;
    domain.shutdownsAsked += 1;
    const { shutdownMs } = this.#host.behaviour;
    if (shutdownMs === null || domain.isShuttingDown) return;
    domain.isShuttingDown = true;
    this.#print(domain, '[ OK ] Reached target System Power Off.\n');
    if (shutdownMs === 0) this.#end(domain, 'shutoff');
    else {
      this.#host.clock.after(
        shutdownMs,
        () => domain.isShuttingDown && this.#end(domain, 'shutoff'),
      );
    }
  }

  async powerOff(vmId: string): Promise<void> {
    await this.#pass('power_off', vmId);
    const domain = this.#domains.get(vmId);
    if (domain && isActive(domain.state)) this.#end(domain, 'shutoff');
  }

  async undefine(vmId: string): Promise<void> {
    await this.#pass('undefine', vmId);
    if (isActive(this.#domains.get(vmId)?.state ?? 'shutoff')) {
      throw new HostFailure('host_failed', `the domain of VM ${vmId} runs`);
    }
    if (this.#domains.delete(vmId)) this.#tell(vmId);
  }

  async attachDisk(vmId: string, disk: DiskSpec): Promise<void> {
    await this.#pass('attach_disk', vmId);
    this.#running(vmId).attach(this.#host.disks, disk);
    this.#tell(vmId);
  }

  async detachDisk(vmId: string, diskId: string): Promise<void> {
    await this.#pass('detach_disk', vmId);
    this.#running(vmId).detach(this.#host.disks, diskId);
    this.#tell(vmId);
  }

  async growDisk(vmId: string, disk: DiskSpec): Promise<void> {
    await this.#pass('grow_attached_disk', vmId);
    const domain = this.#running(vmId);
    if (!domain.has(disk.id)) {
      throw new HostFailure('disk_missing', `VM ${vmId} does not have disk ${disk.id}`);
    }
    this.#host.disks.grow(disk, domain);
    this.#tell(vmId);
  }

  async limitDisk(vmId: string, disk: DiskSpec): Promise<void> {
    await this.#pass('limit_disk', vmId);
    this.#running(vmId).limit(disk);
    this.#tell(vmId);
  }

  async freezeGuest(vmId: string): Promise<number> {
    await this.#pass('freeze', vmId);
    const domain = this.#running(vmId);
    if (!this.#host.behaviour.hasGuestAgent) {
      throw new HostFailure('guest_agent_missing', `the guest of VM ${vmId} has no agent`);
    }
    domain.isFrozen = true;
    return 1;
  }

  async thawGuest(vmId: string): Promise<number> {
    await this.#pass('thaw', vmId);
    const domain = this.#running(vmId);
    const thawed = domain.isFrozen ? 1 : 0;
    domain.isFrozen = false;
    return thawed;
  }

  async copyDisk(vmId: string, copying: DiskCopying): Promise<void> {
    await this.#pass('copy_disk', vmId);
    await this.#copies.copy(this.#running(vmId), copying);
  }

  async readSerialLog(vmId: string): Promise<string> {
    return this.#domains.get(vmId)?.serialLog ?? '';
  }

  async openConsole(vmId: string): Promise<SimulatedConsole> {
    const domain = this.#domains.get(vmId);
    if (domain) requireReply(domain);
    if (domain?.state !== 'running') {
      throw new HostFailure('vm_not_running', `the domain of VM ${vmId} does not run`);
    }
    domain.console?.destroy();
    const opened = new SimulatedConsole((text) => this.#log(domain, text));
    opened.once('close', () => {
      if (domain.console === opened) domain.console = null;
    });
    domain.console = opened;
    return opened;
  }

  watch(watcher: DomainWatcher): () => void {
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((other) => other !== watcher);
    };
  }

  /** The guest crashes or shuts itself down. */
  crash(vmId: string, state: 'crashed' | 'shutoff' = 'crashed'): void {
    const domain = this.#running(vmId);
    this.#print(domain, '[   99.123] Kernel panic - not syncing\n');
    this.#end(domain, state);
  }

  /** From now on the hypervisor does not reply about the domain. */
  wedge(vmId: string): void {
    const message = `VM ${vmId} is unresponsive: the hypervisor did not reply`;
    this.#get(vmId).unresponsive = { message, sinceMs: this.#host.clock.nowMs() };
    this.#tell(vmId);
  }

  /** The hypervisor replies again. */
  unwedge(vmId: string): void {
    this.#get(vmId).unresponsive = undefined;
    for (const watcher of this.#watchers) watcher.domainRecovered(vmId);
  }

  /** Ends all domains without notifying the watchers. */
  losePower({ keepDomains }: { keepDomains: boolean }): void {
    for (const domain of this.#domains.values()) {
      domain.unresponsive = undefined;
      domain.end(this.#host.disks, 'shutoff');
    }
    if (!keepDomains) this.#domains.clear();
  }

  /** The guest writes to its console. */
  print(vmId: string, lines: string): void {
    this.#print(this.#get(vmId), lines);
  }

  /** Every call about one domain begins with this. */
  async #pass(step: DriverStep, vmId: string): Promise<void> {
    await this.#host.faults.pass(step);
    const domain = this.#domains.get(vmId);
    if (domain) requireReply(domain);
  }

  #end(domain: SimulatedDomain, state: DomainState): void {
    domain.end(this.#host.disks, state);
    this.#tell(domain.vm.id);
  }

  #print(domain: SimulatedDomain, lines: string): void {
    this.#log(domain, lines);
    domain.console?.push(lines);
  }

  #log(domain: SimulatedDomain, lines: string): void {
    domain.serialLog = addLines(domain.serialLog, lines);
    for (const watcher of this.#watchers) watcher.serialLogGrew(domain.vm.id);
  }

  #tell(vmId: string): void {
    for (const watcher of this.#watchers) watcher.domainChanged(vmId);
  }

  #get(vmId: string): SimulatedDomain {
    const domain = this.#domains.get(vmId);
    if (!domain) throw new HostFailure('host_failed', `VM ${vmId} has no domain`);
    return domain;
  }

  #running(vmId: string): SimulatedDomain {
    const domain = this.#get(vmId);
    if (domain.state === 'running') return domain;
    throw new HostFailure('host_failed', `the domain of VM ${vmId} does not run`);
  }
}

function requireReply({ unresponsive }: SimulatedDomain): void {
  if (unresponsive) throw new HostFailure('vm_unresponsive', unresponsive.message);
}
