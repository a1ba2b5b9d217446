import { setTimeout as delay } from 'node:timers/promises';
import type { HostSight } from '@gantry/simulator/fleet/host-sight';
import type { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import { disagreements, watchClaims } from '@gantry/testkit/faults/invariants/agreement';
import { brokenRules } from '@gantry/testkit/faults/invariants/one-owner';
import { watchRunningTime, wrongUsage } from '@gantry/testkit/faults/invariants/usage';
import { type Kind, SECRET_SCRIPT } from './verbs.ts';
import type { Acknowledged, Workload } from './workload.ts';

/**
 * What must hold after every schedule. Each function returns sentences about what does not hold.
 * `INVARIANTS` names them for docs/reliability.md.
 */
export const INVARIANTS = [
  'a GPU, drive, address, disk and VM has at most one owner or place',
  'every acknowledged write is there, once, and a repeated key has one effect',
  'every operation has ended, and one that succeeded has its effect',
  'desired and observed state are equal when the cloud is quiet',
  'nothing is on a host that the database does not know',
  'metered time equals running time to the second',
  'no log contains a secret',
  'no process has ended by itself',
];

/** Long enough for two busy cores and for the limits of dead connections. */
const QUIET_LIMIT_MS = 90_000;

export class Checker {
  readonly #cloud: FaultyCloud;
  readonly #workload: Workload;
  #checked = 0;

  private constructor(cloud: FaultyCloud, workload: Workload) {
    this.#cloud = cloud;
    this.#workload = workload;
  }

  static async open(cloud: FaultyCloud, workload: Workload): Promise<Checker> {
    await watchClaims(cloud.sql);
    await watchRunningTime(cloud.sql);
    return new Checker(cloud, workload);
  }

  /** What holds at every moment. */
  async checkNow(): Promise<string[]> {
    return await brokenRules(this.#watched);
  }

  /** What holds once everything was healed and no client writes. */
  async checkQuiet(): Promise<string[]> {
    const problems = await this.#untilQuiet();
    const written = this.#workload.acknowledged.slice(this.#checked);
    this.#checked = this.#workload.acknowledged.length;
    return [
      ...problems,
      ...this.#workload.findings.splice(0),
      ...(await this.#lostOperations(written)),
      ...(await this.#lostResources(written)),
      ...(await wrongUsage(this.#cloud.sql)),
      ...this.#leakedSecrets(),
      ...this.#endedProcesses(),
    ];
  }

  get #watched() {
    const { sql, fleets } = this.#cloud;
    const look = async (): Promise<HostSight[]> =>
      (await Promise.all(fleets.map(({ process }) => process.sights()))).flat();
    return { sql, look };
  }

  async #untilQuiet(): Promise<string[]> {
    const endMs = performance.now() + QUIET_LIMIT_MS;
    for (;;) {
      // A host that a slow machine makes silent for a moment is unreachable, and so are its VMs.
      const problems = [...(await disagreements(this.#watched)), ...(await this.#emptyPromises())];
      if (problems.length === 0 || performance.now() > endMs) return problems;
      await delay(50);
    }
  }

  async #lostOperations(written: Acknowledged[]): Promise<string[]> {
    const ids = written.flatMap(({ operationId }) => operationId ?? []);
    const rows = await this.#cloud.sql<{ id: string; state: string; code: string | null }[]>`
      select id, state, result->>'code' as code from operations where id = any(${ids}::uuid[])`;
    const byId = new Map(rows.map((row) => [row.id, row]));
    return written.flatMap(({ operationId, verb, resourceId }) => {
      if (operationId === null) return [];
      const row = byId.get(operationId);
      if (!row) return [`${verb} ${resourceId} was acknowledged and its operation does not exist`];
      if (row.state === 'FAILED' && row.code === 'internal_error')
        return [`${verb} ${resourceId} failed with an internal error`];
      return [];
    });
  }

  /** What was created, and perhaps not deleted, is listed; what was deleted is not. */
  async #lostResources(written: Acknowledged[]): Promise<string[]> {
    const { sql } = this.#cloud;
    const failed = new Set(
      (
        await sql<{ id: string }[]>`select id from operations where state = 'FAILED'
          and id = any(${written.flatMap(({ operationId }) => operationId ?? [])}::uuid[])`
      ).map(({ id }) => id),
    );
    const done = written.filter(({ operationId }) => !failed.has(operationId ?? ''));
    const deleted = new Set(
      done.filter(({ verb }) => verb.startsWith('delete')).map(({ resourceId }) => resourceId),
    );
    const problems: string[] = [];
    for (const kind of new Set(written.map((one) => one.kind))) {
      const listed = new Set(await this.#workload.list(kind));
      for (const { verb, resourceId } of done.filter((one) => one.kind === kind)) {
        const isUncertain = this.#workload.uncertain.some((path) => path.includes(resourceId));
        if (deleted.has(resourceId) && listed.has(resourceId))
          problems.push(`${kind} ${resourceId} was deleted and is listed`);
        if (verb === `create ${kind}` && !deleted.has(resourceId) && !isUncertain)
          if (!listed.has(resourceId) && !(await this.#wasDeletedUnseen(kind, resourceId)))
            problems.push(`${kind} ${resourceId} was created and is not listed`);
      }
    }
    return problems;
  }

  /** A deletion whose reply was lost, and whose repetition was refused, has happened. */
  async #wasDeletedUnseen(kind: Kind, id: string): Promise<boolean> {
    if (kind !== 'VM' && kind !== 'disk' && kind !== 'rule') return false;
    const rows = await this.#cloud.sql`select from operations
      where resource_id = ${id} and name = 'DELETE' and state = 'SUCCEEDED'`;
    return rows.length > 0;
  }

  /**
   * The last operation of a VM decides its state, unless the VM ended without a request. An operation is
   * accepted after the one before it has completed; the time at which it was recorded is that at which its
   * transaction began, perhaps before.
   */
  async #emptyPromises(): Promise<string[]> {
    const rows = await this.#cloud.sql<{ id: string; state: string; name: string }[]>`
      select v.id, v.state, o.name from vms v cross join lateral (select name, state from operations
        where resource_id = v.id and name in ('CREATE', 'START', 'STOP', 'RESET', 'DELETE')
        order by completed_at desc limit 1) o where o.state = 'SUCCEEDED'`;
    const allowed: Record<string, string[]> = {
      STOP: ['STATE_SHUTOFF'],
      DELETE: [],
    };
    const up = ['STATE_RUNNING', 'STATE_CRASHED', 'STATE_ERROR'];
    return rows
      .filter(({ name, state }) => !(allowed[name] ?? up).includes(state))
      .map(({ id, name, state }) => `${name} of VM ${id} succeeded and the VM is in ${state}`);
  }

  #leakedSecrets(): string[] {
    const { processes, servers } = this.#cloud;
    const secrets = [
      ...processes.secrets,
      ...this.#workload.secrets,
      ...[servers.password, SECRET_SCRIPT.split('# ')[1] ?? ''],
      ...['BEGIN PRIVATE KEY', 'BEGIN EC PRIVATE KEY'],
    ];
    return processes
      .newLogs()
      .flatMap(({ name, text }) =>
        secrets.filter((secret) => text.includes(secret)).map(() => `${name} contains a secret`),
      );
  }

  #endedProcesses(): string[] {
    return this.#cloud.members
      .filter(({ process }) => !process.isRunning())
      .map(({ name, process }) => `${name} has ended:\n${process.log().slice(-2_000)}`);
  }
}
