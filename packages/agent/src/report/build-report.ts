import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { SpecRefusal } from '@gantry/proto/generated/gantry/v1/SpecRefusal';
import type { Volume } from '../host-driver.ts';
import type { HostContext } from '../reconcile/host-context.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { entryOf } from '../spec.ts';
import type { LastKnownDomains } from './last-known-domains.ts';
import { vmReport } from './vm-report.ts';

type ReportSource = {
  host: HostContext;
  domains: LastKnownDomains;
  reconciler: Reconciler;
  refusal: SpecRefusal | null;
};

/** Returns the observed state of the host, without its inventory and serial logs. */
export async function buildReport({
  host,
  domains: lastKnown,
  reconciler,
  refusal,
}: ReportSource): Promise<HostReport> {
  const { driver, ledger, firewall } = host;
  const [snapshot, devices, made] = await Promise.all([
    lastKnown.refresh(),
    driver.devices.list(),
    readMadeDisks(host),
  ]);
  // Read after the host has replied; from here on everything is read at one moment.
  const { spec } = ledger.content;
  const wanted = [...(spec?.vms ?? []), ...(spec?.deleted ?? [])].map((vm) => vm.id);
  const domains = snapshot.domains ?? [];
  const found = [...domains, ...devices].map(({ vmId }) => vmId);
  const ids = [...new Set([...wanted, ...found])];
  // A VM that may run is left out until the domains were listed once: leaving it out proves
  // nothing.
  const isKnown = (id: string) => snapshot.domains !== null || ledger.facts(id).generation === '0';
  return {
    acceptedNumber: spec?.number ?? '0',
    refusal,
    vms: ids.filter(isKnown).map((id) =>
      vmReport({
        id,
        entry: entryOf(spec, id),
        domain: domains.find((domain) => domain.vmId === id),
        facts: ledger.facts(id),
        work: reconciler.worker(id),
        silence: snapshot.failure,
      }),
    ),
    receipts: (spec?.deleted ?? []).flatMap(({ id }) => ledger.facts(id).receipts),
    disks: [...reconciler.disks.ready, ...made],
    deletedDisks: [...reconciler.disks.removed],
    firewallNumber: firewall.number,
  };
}

/** Returns the existing disks among those that were created here for VMs in the ledger. */
async function readMadeDisks({ driver, ledger }: HostContext): Promise<Volume[]> {
  const ids = Object.values(ledger.content.vms).flatMap(({ madeDisks }) => madeDisks);
  const volumes = await Promise.all([...new Set(ids)].map((id) => driver.volumes.read(id)));
  return volumes.filter((volume) => volume !== null);
}
