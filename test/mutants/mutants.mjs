// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code

/**
 * Mistakes that would lose data of a tenant or give a GPU to two tenants, each as an edit of the
 * tree: `pnpm test:mutants` makes one at a time and expects the named tests to go red. A text must be
 * found exactly once, so that the list cannot rot unnoticed.
 *
 * @typedef {{ file: string, text: string, replacement: string }} Edit
 * @typedef {{ name: string, why: string, project: 'unit' | 'pg18', tests: string[], edits: Edit[] }} Mutant
 */

const PLACE_VMS = 'packages/db/sql/functions/place_vms.sql';
const JUDGE_SPEC = 'packages/agent/src/ledger/judge-spec.ts';
const SETTLE_VM = 'packages/scheduler/src/settle/settle-vm.ts';
const RACES = ['packages/scheduler/src/place/racing-schedulers.pg.test.ts'];
const VM_LIFE = ['test/scenarios/settle/vm-life.pg.test.ts'];

const DEVICE_CLAIMS = [
  "INSERT INTO device_claims (device_id, vm_id) SELECT device::uuid, (p ->> 'vm_id')::uuid",
  "    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'device_ids') device;",
].join('\n');

/** @type {Mutant[]} */
export const MUTANTS = [
  {
    name: 'pick-with-skip-locked',
    why: 'picking and claiming in one statement that skips what others lock gives stolen or short sets of GPUs',
    project: 'pg18',
    tests: RACES,
    edits: [
      {
        file: PLACE_VMS,
        text: DEVICE_CLAIMS,
        replacement: [
          "INSERT INTO device_claims (device_id, vm_id) SELECT picked.id, (p ->> 'vm_id')::uuid",
          '    FROM jsonb_array_elements(placed) p CROSS JOIN LATERAL (SELECT d.id FROM devices d',
          "      WHERE d.host_id = (p ->> 'host_id')::uuid",
          '        AND NOT EXISTS (SELECT FROM device_claims c WHERE c.device_id = d.id)',
          "      ORDER BY d.id LIMIT jsonb_array_length(p -> 'device_ids') FOR UPDATE SKIP LOCKED) picked",
          '    ON CONFLICT DO NOTHING;',
        ].join('\n'),
      },
    ],
  },
  {
    name: 'claim-conflict-ignored',
    why: 'a claim that somebody else has is not had by being silent about it',
    project: 'pg18',
    tests: ['packages/scheduler/src/place/taken-claims.pg.test.ts'],
    edits: [
      {
        file: PLACE_VMS,
        text: DEVICE_CLAIMS,
        replacement: `${DEVICE_CLAIMS.slice(0, -1)} ON CONFLICT DO NOTHING;`,
      },
    ],
  },
  {
    name: 'lease-epoch-unchecked',
    why: 'a holder that was paused and took the lease again must not finish what it began before',
    project: 'pg18',
    tests: [
      'packages/db/src/queries/placement/leases.pg.test.ts',
      'test/mutants/lease-epoch.pg.test.ts',
    ],
    edits: [
      {
        file: 'packages/db/sql/functions/lock_lease.sql',
        text: ' AND holder = lease_holder AND epoch = lease_epoch\n',
        replacement: ' AND holder = lease_holder\n',
      },
    ],
  },
  {
    name: 'spec-number-unchecked',
    why: 'a stalled scheduler would undo what a newer one did',
    project: 'unit',
    tests: [
      'packages/agent/src/ledger/judge-spec.test.ts',
      'packages/simulator/src/agent-reports.test.ts',
    ],
    edits: [
      {
        file: JUDGE_SPEC,
        text: 'if (!isBelow(spec.number, last.number)) return null;',
        replacement: 'if (last.number !== "") return null;',
      },
    ],
  },
  {
    name: 'freed-on-delete',
    why: 'a GPU would go to the next tenant while the last one still runs on it',
    project: 'pg18',
    tests: VM_LIFE,
    edits: [
      {
        file: SETTLE_VM,
        text: '  // The host will report again for the present revision.',
        replacement:
          "  if (vm.desired_state === 'deleted') return { is: 'gone' };\n  // The host will report again for the present revision.",
      },
      {
        file: SETTLE_VM,
        text: '  if (receipts.length < vm.devices.length) return;\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'receipts-not-required',
    why: "a device that nobody made clean would carry one tenant's data to the next",
    project: 'pg18',
    tests: VM_LIFE,
    edits: [
      {
        file: SETTLE_VM,
        text: '  if (receipts.length < vm.devices.length) return;\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'absence-is-an-order',
    why: 'a spec read from an empty or old database would remove every VM of a host',
    project: 'unit',
    tests: ['packages/simulator/src/agent-remembers.test.ts'],
    edits: [
      {
        file: 'packages/agent/src/ledger/with-spec.ts',
        text: '  return {\n    ...ledger,\n    spec: accepted,',
        replacement: [
          '  const named = new Set([...accepted.vms, ...accepted.takeDowns].map(({ id }) => id));',
          '  const found = [...acceptance.holdings.domains, ...acceptance.holdings.devices];',
          '  const missing = new Set(found.map(({ vmId }) => vmId).filter((id) => !named.has(id)));',
          "  const none = { revision: '1', graceful: false, devices: [], disks: [] };",
          '  for (const id of missing) accepted.takeDowns.push({ id, ...none });',
          '  return {\n    ...ledger,\n    spec: accepted,',
        ].join('\n'),
      },
    ],
  },
  {
    name: 'revision-unchecked',
    why: 'a word about what was wanted before would end what is wanted now',
    project: 'pg18',
    tests: VM_LIFE,
    edits: [
      {
        file: SETTLE_VM,
        text: 'report.revision !== vm.revision',
        replacement: "report.revision === ''",
      },
    ],
  },
  {
    name: 'stream-epoch-unchecked',
    why: 'a report that comes late by a stream that is over would overwrite a newer one',
    project: 'pg18',
    tests: VM_LIFE,
    edits: [
      {
        file: 'packages/db/src/queries/settle/settle-hosts.ts',
        text: ' and stream_epoch = ${streamEpoch}',
        replacement: ' and stream_epoch >= ${streamEpoch}',
      },
    ],
  },
  {
    name: 'ledger-after-the-act',
    why: 'an agent that dies after it acted and before it wrote would not know what it did',
    project: 'unit',
    tests: [
      'packages/agent/src/ledger/ledger.test.ts',
      'packages/simulator/src/agent-crash-safety.test.ts',
    ],
    edits: [
      {
        file: 'packages/agent/src/ledger/ledger.ts',
        text: '        await this.#store.write(next);\n        if (this.#dead) return;\n        this.#content = next;\n        for (const { done } of batch) done();\n',
        replacement:
          '        this.#content = next;\n        for (const { done } of batch) done();\n        await this.#store.write(next);\n        if (this.#dead) return;\n',
      },
    ],
  },
  {
    name: 'agent-trusts-the-spec',
    why: 'the host is the last that can refuse a device to a second VM before QEMU has to',
    project: 'unit',
    tests: [
      'packages/agent/src/ledger/judge-vms.test.ts',
      'packages/simulator/src/agent-reports.test.ts',
    ],
    edits: [
      {
        file: 'packages/agent/src/ledger/judge-vms.ts',
        text: "for (const vm of spec.vms) refuse(vm.id, 'device_in_use', deviceConflict(vm, { holders, named }));",
        replacement:
          "for (const vm of spec.vms) refuse(vm.id, 'device_in_use', holders ? null : deviceConflict(vm, { holders, named }));",
      },
    ],
  },
  {
    name: 'join-token-not-used-up',
    why: 'one leaked token would let in any number of hosts',
    project: 'pg18',
    tests: ['packages/scheduler/src/fleet/enroll.pg.test.ts'],
    edits: [
      {
        file: 'packages/db/src/queries/hosts/enrolments.ts',
        text: [
          'update join_tokens set used_at = now(), host_id = ${hostId}',
          '        where hash = ${tokenHash} and used_at is null and expires_at > now() and rejoins_id is null',
        ].join('\n'),
        replacement: [
          'update join_tokens set used_at = null, host_id = null',
          '        where hash = ${tokenHash} and expires_at > now()',
        ].join('\n'),
      },
    ],
  },
  {
    name: 'revoked-still-admitted',
    why: 'a host that an operator cut off would come back by itself',
    project: 'pg18',
    tests: ['packages/scheduler/src/fleet/fleet-server.pg.test.ts'],
    edits: [
      {
        file: 'packages/scheduler/src/fleet/admission.ts',
        text: "  if (standing?.revoked) throw badCertificate('the certificate was revoked');\n",
        replacement: '',
      },
    ],
  },
];
