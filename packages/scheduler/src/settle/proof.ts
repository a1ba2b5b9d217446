import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { raiseHost } from '@gantry/db/queries/maintenance/era';
import type { AttachedHost } from '../attached/attached-hosts.ts';
import { type HostReport, MAX_COUNTER } from '../attached/host-report.ts';
import { compareHost } from './compare-host.ts';

/** What a report proves. Only a spec that was sent on the report's own stream can be confirmed. */
export type Proof = {
  /** Whether the host has accepted such a spec. If not, nothing that it reports as gone is gone. */
  isAccepted: boolean;
  /** The spec up to which firewall rules are in force. "0": none. */
  firewallNumber: string;
};

type ProofsOptions = { sql: Sql; log: Log; onRaised(hostId: string): void };

/**
 * Decides what a report proves, and reacts to a host whose counters are ahead of the database, which
 * happens if the database lost commits. How such a host differs is recorded before its next spec.
 */
export function createProofs({ sql, log, onRaised }: ProofsOptions) {
  const raise = async (host: AttachedHost, report: HostReport) => {
    const { hostId } = host.stream;
    const revisions = report.vms.flatMap(({ id, revision }) =>
      Number(revision) < MAX_COUNTER ? [{ vmId: id, revision }] : [],
    );
    const number = report.acceptedNumber;
    log.warn({ host_id: hostId, spec_number: number }, 'host is ahead of the database');
    const { streamEpoch } = host;
    await compareHost({ sql, hostId, streamEpoch, report, isAhead: true });
    await raiseHost(sql, { hostId, streamEpoch, number, revisions });
    onRaised(hostId);
  };

  return {
    /** Returns undefined if the report is not to be settled. */
    async of(host: AttachedHost, report: HostReport): Promise<Proof | undefined> {
      const { sent, stream } = host;
      const accepted = { number: report.acceptedNumber, hash: report.acceptedHash };
      const firewall = { number: report.firewallNumber, hash: report.firewallHash };
      if (Number(accepted.number) > MAX_COUNTER) {
        stream.abort('the host reports a spec number that no scheduler issued');
        return undefined;
      }
      if (sent.isBeforeEra(report.acceptedEra)) {
        const era = report.acceptedEra;
        log.error({ host_id: stream.hostId, era }, 'host has a later era: run "gantry restore"');
        stream.abort('the database of this scheduler was replaced: its era is earlier');
        return undefined;
      }
      sent.noteFirst(accepted);
      if (sent.isAhead(accepted)) {
        await raise(host, report);
        return undefined;
      }
      const isAccepted = sent.isProof(accepted);
      if (isAccepted) sent.acknowledge(accepted);
      // The host has not judged a spec of this stream yet. It reports again when it has.
      if (!isAccepted && !report.refusal) return undefined;
      const firewallNumber = sent.isProof(firewall) ? firewall.number : '0';
      if (firewallNumber !== '0') sent.forgetBefore(firewallNumber);
      return { isAccepted, firewallNumber };
    },
  };
}
