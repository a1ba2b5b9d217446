import type { Sql } from '@gantry/db/connect';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { newId } from '@gantry/model/ids';
import { hashNetwork, hashVm } from '@gantry/proto/content-hash';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { HostReport, VmReport } from '@gantry/scheduler/attached/host-report';
import { toHostSpec } from '@gantry/scheduler/deliver/host-spec';
import { settleReport } from '@gantry/scheduler/settle/settle-report';

export type VmObservedState = VmReport['state'];
type Facts = { id: string; schedulerId: string; epoch: string };

/** A host whose reports a test writes. They begin as those of a host that has carried out its whole spec. */
export class HandDrivenHost {
  readonly id: string;
  readonly schedulerId: string;
  epoch: string;
  readonly #sql: Sql;

  constructor(sql: Sql, { id, schedulerId, epoch }: Facts) {
    this.#sql = sql;
    this.id = id;
    this.schedulerId = schedulerId;
    this.epoch = epoch;
  }

  async spec(): Promise<HostSpec> {
    const [row] = await readHostSpecs(this.#sql, [this.id]);
    if (!row) throw new Error('BUG: the host is gone');
    // The keys and passphrases of volumes stay sealed: the host opens nothing.
    return toHostSpec(row, (_kind, sealed) => sealed);
  }

  async number(): Promise<number> {
    return Number((await this.spec()).number);
  }

  /** Returns the report of a host that has reached its desired state. */
  async done(): Promise<HostReport> {
    return reportOf(await this.spec());
  }

  /** Returns false if the report was ignored. Unless stated otherwise, it proves what it says. */
  async report(report: HostReport, { isAccepted = true } = {}): Promise<boolean> {
    const proof = { isAccepted, firewallNumber: isAccepted ? report.firewallNumber : '0' };
    return await settleReport({
      ...{ sql: this.#sql, hostId: this.id, streamEpoch: this.epoch, report, proof },
    });
  }

  /** Reports the desired state. `change` makes the report say something else. */
  async obey(change: (report: HostReport) => void = () => {}): Promise<HostReport> {
    const report = await this.done();
    change(report);
    await this.report(report);
    return report;
  }

  async say(vmId: string, word: Partial<VmReport>): Promise<HostReport> {
    return await this.obey((report) => Object.assign(wordOn(report, vmId), word));
  }

  async attachAgain(): Promise<void> {
    this.epoch =
      (await openStream(this.#sql, { hostId: this.id, schedulerId: this.schedulerId })) ?? '';
  }
}

/** Opens a stream of the host to a new scheduler, which exists only in the database. */
export async function attachHandDrivenHost(sql: Sql, id: string): Promise<HandDrivenHost> {
  const schedulerId = newId();
  await sql`insert into schedulers (id) values (${schedulerId})`;
  const epoch = await openStream(sql, { hostId: id, schedulerId });
  return new HandDrivenHost(sql, { id, schedulerId, epoch: epoch ?? '' });
}

export function wordOn(report: HostReport, vmId: string): VmReport {
  const word = report.vms.find(({ id }) => id === vmId);
  if (!word) throw new Error(`the report has no word on VM ${vmId}`);
  return word;
}

export function failure(code: string, message = `it went wrong: ${code}`) {
  return { code, message, sinceMs: '1' };
}

function reportOf(spec: HostSpec): HostReport {
  const { vms = [], takeDowns = [], disks = [], deletedDisks = [] } = spec;
  const { networks = [], firewallRules = [], freezes = [] } = spec;
  const { snapshots = [], deletedSnapshots = [], diskCopies = [], diskRestores = [] } = spec;
  return {
    unchanged: false,
    acceptedEra: String(spec.era ?? 0),
    acceptedNumber: String(spec.number),
    acceptedHash: '',
    refusal: null,
    vms: [
      ...vms.map((vm) => ({
        ...word(vm, 'VM_OBSERVED_STATE_RUNNING', String(vm.generation), sizesOf(vm.disks)),
        contentHash: hashVm(vm),
      })),
      ...takeDowns.map((vm) => word(vm, 'VM_OBSERVED_STATE_TAKEN_DOWN', '0', [])),
    ],
    receipts: takeDowns.flatMap(({ id = '', revision, devices = [] }) =>
      devices.map(({ kind = '', address: pciAddress = '' }) => ({
        ...{ vmId: id, revision: String(revision), kind, pciAddress, serial: '' },
        method: kind === 'gpu' ? 'flr' : 'format_ses1',
        ...{ finishedMs: '1900000000000', failure: null },
        properties: [{ name: 'identity', state: 'verified', detail: '' }],
      })),
    ),
    disks: sizesOf([...disks, ...diskCopies.flatMap(({ disk }) => disk ?? [])]),
    deletedDisks: [...deletedDisks],
    freezes: freezes.map(({ id = '', release }) => ({
      ...{ id, failure: null },
      state: release ? ('FREEZE_STATE_RELEASED' as const) : ('FREEZE_STATE_FROZEN' as const),
    })),
    firewallNumber: String(spec.number),
    firewallHash: '',
    networks: networks.map((network) => ({
      id: network.id ?? '',
      contentHash: hashNetwork(
        network,
        firewallRules.filter(({ networkId }) => networkId === network.id),
      ),
    })),
    storedDisks: null,
    snapshots: snapshots.map(({ id = '' }) => ({
      ...{ id, failure: null, state: 'SNAPSHOT_STATE_READY' as const },
    })),
    deletedSnapshots: [...deletedSnapshots],
    diskCopies: [],
    diskRestores: diskRestores.map(({ id = '' }) => ({ id, failure: null, givenUp: false })),
    storedSnapshots: null,
    imageExports: [],
    serialLogs: [],
    inventory: null,
  };
}

function sizesOf(disks: HostSpec['disks'] = []) {
  return disks.map(({ id = '', sizeBytes }) => ({ id, sizeBytes: String(sizeBytes) }));
}

function word(
  { id = '', revision }: { id?: string; revision?: unknown },
  state: VmObservedState,
  generation: string,
  disks: VmReport['disks'],
): VmReport {
  return {
    id,
    revision: String(revision),
    generation,
    state,
    failure: null,
    known: null,
    disks,
    contentHash: '',
  };
}
