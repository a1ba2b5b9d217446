import type { Sql } from '../../connect.ts';
import { readVm, readVms, type VmKey, type VmRow } from './vms.ts';

/**
 * Reads VMs outside of transactions. Reads that are asked for in the same turn of the event loop share one
 * statement, because most of the cost of a statement does not depend on how many VMs it reads. The statement is
 * sent after the last of them was asked for, so each read sees everything that was committed before it. If the
 * statement fails, all of its reads fail.
 */
export type VmReader = (vm: VmKey) => Promise<VmRow | undefined>;

type Read = {
  vm: VmKey;
  resolve: (row: VmRow | undefined) => void;
  reject: (error: unknown) => void;
};

export function createVmReader(sql: Sql): VmReader {
  let waiting: Read[] = [];

  const readWaiting = async () => {
    const reads = waiting;
    waiting = [];
    const vms = reads.map(({ vm }) => vm);
    try {
      const [only] = vms;
      const rows = only && vms.length === 1 ? [await readVm(sql, only)] : await readVms(sql, vms);
      for (const [index, { resolve }] of reads.entries()) resolve(rows[index]);
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  };

  return (vm) =>
    new Promise((resolve, reject) => {
      waiting.push({ vm, resolve, reject });
      // The rest of this turn comes first: other requests that arrived with this one.
      if (waiting.length === 1) setImmediate(readWaiting);
    });
}
