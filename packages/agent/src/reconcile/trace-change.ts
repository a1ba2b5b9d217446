import { randomBytes } from 'node:crypto';
import type { HostContext } from './host-context.ts';

/** The change of a VM in the trace of its operation, with a span for every attempt of every part. */
export type ChangeTrace = {
  attempted(part: string, startMs: number, error?: unknown): void;
  end(isDone: boolean): void;
};

/** Returns null if there is no tracer, or if the VM is not changed for an operation. */
export function traceChange(host: HostContext, vmId: string, change: string): ChangeTrace | null {
  const { tracer, clock } = host;
  const operationId = tracer ? host.operationOf(vmId) : undefined;
  if (!tracer || !operationId) return null;
  const spanId = randomBytes(8).toString('hex');
  const startedMs = clock.nowMs();
  return {
    attempted(part, startMs, error) {
      tracer.record({
        ...{ operationId, parentId: spanId, name: part, startMs, endMs: clock.nowMs() },
        attributes: { 'gantry.vm_id': vmId },
        ...(error === undefined ? {} : { error: messageOf(error) }),
      });
    },
    end(isDone) {
      tracer.record({
        ...{ operationId, spanId, name: 'reconcile', startMs: startedMs, endMs: clock.nowMs() },
        attributes: { 'gantry.vm_id': vmId, 'gantry.change': change },
        ...(isDone ? {} : { error: 'given up, or the desired state has changed' }),
      });
    },
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
