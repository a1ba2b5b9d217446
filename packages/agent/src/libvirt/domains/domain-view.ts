import type { Connection } from 'node-libvirt/connection';
import { HostFailure } from '../../base/failure.ts';
import { isActive } from '../../host-driver.ts';
import { type DomainLines, isUnresponsive, type Silence } from './domain-lines.ts';
import { type FoundDomain, findDomain, hasDisk, listDomainIds } from './libvirt-domains.ts';

/** A domain as it was last read. */
export type SeenDomain = {
  vmId: string;
  /** Null if it was never read. */
  last: FoundDomain | null;
  silence: Silence | null;
  /** Disks that libvirt was asked to attach and has neither attached nor refused yet. */
  attaching: ReadonlySet<string>;
};

/** A domain that has a disk open. */
export type DiskUser = { vmId: string; readOnly: boolean };

type Known = {
  last: FoundDomain | null;
  /** Counts the events about the domain and our changes of it. */
  changes: number;
  /** The count when it was last read. */
  readAt: number;
};

/** Whether no event and no change of ours came after the domain was read. */
function isCurrent({ last, changes, readAt }: Known): boolean {
  return last !== null && changes === readAt;
}

type DomainViewOptions = {
  /** The connection that receives the events. Waits for a restart of libvirt. */
  connection(): Promise<Connection>;
  /** Throws a HostFailure if libvirt does not reply. */
  requireReply(): Promise<void>;
  lines: DomainLines;
};

/** The line for listing domains. */
const EVERY_DOMAIN = 'all domains';

/**
 * What libvirt's domains were when they were last read. It shows all domains also while some of them do not
 * reply. Only libvirt's reply that there is no such domain removes a domain from the view.
 *
 * All domains are listed once for each connection, and from then on events name the new ones. Listing them
 * again would be harmful: while libvirt waits for a locked domain to list it, it can define and undefine no
 * other domain either.
 */
export class DomainView {
  readonly #options: DomainViewOptions;
  readonly #known = new Map<string, Known>();
  readonly #attaching = new Map<string, Set<string>>();
  /** The connection that reports events to `noticed`. */
  #subscribedOn: Connection | null = null;
  /** The connection on which all domains were listed after its events were subscribed. */
  #listedOn: Connection | null = null;

  constructor(options: DomainViewOptions) {
    this.#options = options;
  }

  /** From now on every event of this connection is passed to `noticed`. */
  subscribed(connection: Connection): void {
    this.#subscribedOn = connection;
    for (const vmId of this.#known.keys()) this.noticed(vmId);
  }

  /** The domain was changed or may have been changed: what was read before is outdated. */
  noticed(vmId: string): void {
    const known = this.#known.get(vmId);
    if (known) known.changes += 1;
    else this.#known.set(vmId, { last: null, changes: 1, readAt: 0 });
  }

  /** Until libvirt has replied, the domain counts as having the disk. */
  async whileAttaching(vmId: string, diskId: string, attach: () => Promise<void>): Promise<void> {
    const attaching = this.#attaching.get(vmId) ?? new Set();
    this.#attaching.set(vmId, attaching.add(diskId));
    try {
      await attach();
    } finally {
      if (this.#options.lines.silenceOf(vmId) === null) this.replied(vmId);
    }
  }

  /** libvirt has replied to everything that it was asked about the domain. */
  replied(vmId: string): void {
    this.#attaching.delete(vmId);
    this.noticed(vmId);
  }

  /** Returns what is known if no event says otherwise. Throws if the domain does not reply. */
  async latest(vmId: string): Promise<FoundDomain | null> {
    const known = this.#known.get(vmId);
    return known && isCurrent(known) ? known.last : await this.read(vmId);
  }

  /** Asks libvirt. Throws if the domain does not reply. */
  async read(vmId: string): Promise<FoundDomain | null> {
    const { lines } = this.#options;
    return await lines.run(vmId, 'read', async (connection) => {
      const readAt = this.#known.get(vmId)?.changes ?? 0;
      const last = await findDomain(connection, vmId);
      const changes = this.#known.get(vmId)?.changes ?? 0;
      if (last) this.#known.set(vmId, { last, changes, readAt });
      // An event since then may be about a new domain with this id.
      else if (changes === readAt) this.#known.delete(vmId);
      return last;
    });
  }

  async list(): Promise<SeenDomain[]> {
    const { connection, requireReply } = this.#options;
    // Otherwise a daemon that hangs would look like one without news.
    await requireReply();
    await this.#listIds(await connection());
    const seen = await Promise.all([...this.#known.keys()].map((vmId) => this.#look(vmId)));
    return seen.filter((domain) => domain !== null);
  }

  async mayUseDisk(diskId: string): Promise<boolean> {
    return (await this.usersOf(diskId)).length > 0;
  }

  /**
   * Returns the domains that may have the disk open. Only domains that had the disk, or were never read, are asked. One
   * that does not reply counts as running with the disk, and as writing to it.
   */
  async usersOf(diskId: string): Promise<DiskUser[]> {
    const users = (await this.list()).map(async ({ vmId, last, attaching }) => {
      if (attaching.has(diskId)) return { vmId, readOnly: false };
      if (last !== null && !hasDisk(last, diskId)) return null;
      try {
        const now = await this.read(vmId);
        if (now === null || !hasDisk(now, diskId) || !isActive(now.state)) return null;
        const devices = [...now.facts.disks, ...now.facts.filesystems];
        return { vmId, readOnly: devices.some(({ id, readOnly }) => id === diskId && readOnly) };
      } catch (error) {
        if (isUnresponsive(error)) return { vmId, readOnly: false };
        throw error;
      }
    });
    return (await Promise.all(users)).filter((user) => user !== null);
  }

  /** Returns the domains that were paused by an error of their storage, as they were last read. */
  stoppedByStorage(): string[] {
    return [...this.#known].flatMap(([vmId, { last }]) => (last?.isStoppedByStorage ? [vmId] : []));
  }

  async #listIds(connection: Connection): Promise<void> {
    if (this.#listedOn === connection) return;
    try {
      await this.#options.lines.run(EVERY_DOMAIN, 'read', async (line) => {
        if (this.#listedOn === connection) return;
        const hasEvents = this.#subscribedOn === connection;
        for (const vmId of await listDomainIds(line)) this.noticed(vmId);
        if (hasEvents) this.#listedOn = connection;
      });
    } catch (error) {
      if (!isUnresponsive(error)) throw error;
      const message = 'libvirt does not list its domains: it waits for one of them';
      throw new HostFailure('libvirt_unresponsive', message, { cause: error });
    }
  }

  /**
   * Reads a domain about which there was an event. Returns null if it is gone. Does not wait for a domain that
   * is being changed, which can take minutes.
   */
  async #look(vmId: string): Promise<SeenDomain | null> {
    const known = this.#known.get(vmId);
    if (known && isCurrent(known)) return { ...this.#about(vmId), last: known.last };
    const { lines } = this.#options;
    try {
      const last = lines.isChanging(vmId) ? undefined : await this.read(vmId);
      if (last === null) return null;
      if (last) return { ...this.#about(vmId), last };
    } catch (error) {
      if (!isUnresponsive(error)) throw error;
    }
    return { ...this.#about(vmId), last: known?.last ?? null };
  }

  #about(vmId: string): Pick<SeenDomain, 'vmId' | 'silence' | 'attaching'> {
    const silence = this.#options.lines.silenceOf(vmId);
    return { vmId, silence, attaching: this.#attaching.get(vmId) ?? new Set() };
  }
}
