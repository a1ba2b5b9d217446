import type { Log } from '@gantry/daemon/log';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import { fieldsOfEnd, type OperationEnd } from '@gantry/db/operation-ends';
import type { SpecVmRow } from '@gantry/db/queries/hosts/host-specs';

/** A VM that got a host. */
export type PlacedVm = { vmId: string; hostId: string; operationId: string | null };
/** A VM whose report was settled, and what the report meant. */
export type SettledVm = { vmId: string; operationId: string; verdict: string };
/** The moments at which a step began and ended. */
export type Period = { startMs: number; endMs: number };

/** Writes the steps of operations to the log and, if there is a tracer, to their traces. */
export type OperationFollower = {
  placed(vms: readonly PlacedVm[], period: Period): void;
  sent(hostId: string, vms: readonly SpecVmRow[], period: Period): void;
  settled(hostId: string, vms: readonly SettledVm[], period: Period): void;
  ended(end: OperationEnd): void;
};

/** A host gets its whole spec again when another of its VMs changes. Only the first time is a step. */
const MAX_REMEMBERED = 10_000;

export function followOperations(log: Log, tracer: Tracer | null = null): OperationFollower {
  const sentBefore = new Set<string>();

  const isFirst = (operationId: string, hostId: string) => {
    const key = `${operationId} ${hostId}`;
    if (sentBefore.has(key)) return false;
    if (sentBefore.size >= MAX_REMEMBERED) sentBefore.clear();
    sentBefore.add(key);
    return true;
  };

  return {
    placed(vms, period) {
      for (const { vmId, hostId, operationId } of vms) {
        const facts = { vm_id: vmId, host_id: hostId };
        log.info({ operation_id: operationId ?? undefined, ...facts }, 'VM placed');
        if (operationId)
          tracer?.record({ operationId, name: 'place', ...period, attributes: named(facts) });
      }
    },
    sent(hostId, vms, period) {
      if (!tracer) return;
      for (const { id, operation_id: operationId } of vms) {
        if (!operationId || !isFirst(operationId, hostId)) continue;
        const attributes = named({ vm_id: id, host_id: hostId });
        tracer.record({ operationId, name: 'deliver', ...period, attributes });
      }
    },
    settled(hostId, vms, period) {
      if (!tracer) return;
      for (const { vmId, operationId, verdict } of vms) {
        const attributes = named({ vm_id: vmId, host_id: hostId, verdict });
        tracer.record({ operationId, name: 'settle', ...period, attributes });
      }
    },
    ended(end) {
      const { operation_id: operationId, ...facts } = fieldsOfEnd(end);
      log.info({ operation_id: operationId, ...facts }, 'operation ended');
      tracer?.record({
        ...{ operationId, name: `${end.resource_type} ${end.name}`, isOperation: true },
        ...{ startMs: end.started_at.getTime(), endMs: end.completed_at.getTime() },
        attributes: named({ ...facts, project_id: end.project_id }),
        error: end.state === 'FAILED' ? (end.code ?? '') : undefined,
      });
    },
  };
}

/** The names of our attributes begin with the name of the product, as OpenTelemetry asks. */
function named(facts: Record<string, string | number | undefined>) {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`gantry.${name}`, value]),
  );
}
