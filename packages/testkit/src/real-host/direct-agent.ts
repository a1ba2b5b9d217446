import { type AgentOptions, startAgent } from '@gantry/agent/agent';
import type { HostDriver } from '@gantry/agent/host-driver';
import { ledgerFile } from '@gantry/agent/ledger/ledger-file';
import type { LinkPeer } from '@gantry/agent/link/link';
import type { HostSpec } from '@gantry/agent/spec';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { SnapshotReport } from '@gantry/proto/generated/gantry/v1/SnapshotReport';
import type { VmReport } from '@gantry/proto/generated/gantry/v1/VmReport';
import { testLog } from './real-host-driver.ts';

/** The agent of a host without a control plane. Tests send it specs and read its reports. */
export type DirectAgent = {
  give(spec: HostSpec): void;
  /** Returns the VM of the last report if the report is about that revision. */
  stateOf(vmId: string, revision: string): string | undefined;
  /** Returns the VM of the last report. */
  vm(vmId: string): VmReport | undefined;
  /** Returns a snapshot of the last report. */
  snapshot(id: string): SnapshotReport | undefined;
  /** Returns the refusal of the last report. */
  refusal(): string | undefined;
  stop(): Promise<void>;
};

export async function startDirectAgent(options: {
  driver: HostDriver;
  stateDirectory: string;
  timings?: AgentOptions['timings'];
  onReport?: (agent: DirectAgent) => void;
}): Promise<DirectAgent> {
  let link: LinkPeer | undefined;
  let report: HostReport = {};
  const agent = await startAgent({
    driver: options.driver,
    ledger: ledgerFile(options.stateDirectory),
    log: testLog,
    ...(options.timings === undefined ? {} : { timings: options.timings }),
    connect: (peer) => {
      link = peer;
      return {
        send: (sent) => {
          report = sent;
          options.onReport?.(direct);
          return true;
        },
        openConsole: () => null,
        reattach: () => {},
        end: () => {},
      };
    },
  });
  const direct: DirectAgent = {
    give: (spec) => link?.received(spec),
    stateOf(vmId, revision) {
      const vm = report.vms?.find(({ id }) => id === vmId);
      // Without a generation it is still being started.
      if (vm?.revision !== revision || vm.generation === '0') return undefined;
      return String(vm.state).replace('VM_OBSERVED_STATE_', '');
    },
    vm: (vmId) => report.vms?.find(({ id }) => id === vmId),
    snapshot: (id) => report.snapshots?.find((each) => each.id === id),
    refusal: () => report.refusal?.failure?.message,
    stop: () => agent.stop(),
  };
  link?.attached();
  return direct;
}
