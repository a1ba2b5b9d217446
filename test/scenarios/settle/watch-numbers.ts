import type { Sql } from '@gantry/db/connect';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { toHostSpec } from '@gantry/scheduler/deliver/host-spec';
import { expect } from 'vitest';

export type NumberWatch = {
  /** Returns the hosts whose numbers grow because of the work. The specs of the others must not change. */
  grown(work: () => Promise<unknown>): Promise<string[]>;
  specsByHost(): Promise<Map<string, HostSpec>>;
};

export function watchNumbers(sql: Sql): NumberWatch {
  const numbers = async () => {
    const rows = await sql<{ host_id: string; number: string }[]>`
      select host_id, number from host_revisions`;
    return new Map(rows.map(({ host_id, number }) => [host_id, Number(number)]));
  };
  const specsByHost = async () => {
    const rows = await readHostSpecs(sql, [...(await numbers()).keys()]);
    // The operations of VMs are sent beside a spec, and change without a new number.
    return new Map(rows.map((row) => [row.host_id, { ...toHostSpec(row), operations: [] }]));
  };
  const grown: NumberWatch['grown'] = async (work) => {
    const before = await numbers();
    const specs = await specsByHost();
    await work();
    const after = await numbers();
    const changed = [...after].flatMap(([id, number]) =>
      number > (before.get(id) ?? 0) ? [id] : [],
    );
    for (const [id, spec] of await specsByHost())
      if (!changed.includes(id)) expect(spec).toEqual(specs.get(id));
    return changed.sort();
  };
  return { grown, specsByHost };
}
