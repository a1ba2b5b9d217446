// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code

/**
 * Mistakes that would cost somebody their data or a second owner their GPU, each as an edit of the
 * tree: `pnpm test:mutants` makes one at a time and expects the named tests to go red. A text must be
 * found exactly once, so that the list cannot rot unnoticed.
 *
 * @typedef {{ file: string, text: string, replacement: string }} Edit
 * @typedef {{ name: string, why: string, project: 'unit' | 'pg18', tests: string[], edits: Edit[] }} Mutant
 */

const PLACEMENTS = 'packages/db/src/queries/placement/placements.ts';
const ACCEPT_SPEC = 'packages/agent/src/ledger/accept-spec.ts';
const SETTLE_VM = 'packages/scheduler/src/settle/settle-vm.ts';
const RACES = ['packages/scheduler/src/place/racing-schedulers.pg.test.ts'];
const VM_LIFE = ['test/scenarios/settle/vm-life.pg.test.ts'];

const DEVICE_CLAIMS = [
  'tx`insert into device_claims (device_id, vm_id) select *',
  '      from unnest(${devices.map(({ id }) => id)}::uuid[], ${devices.map(({ vmId }) => vmId)}::uuid[])`',
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
        file: PLACEMENTS,
        text: DEVICE_CLAIMS,
        replacement: [
          'tx`insert into device_claims (device_id, vm_id) select picked.id, p.vm_id',
          '      from unnest(${vmIds}::uuid[], ${placements.map(({ hostId }) => hostId)}::uuid[],',
          '        ${placements.map(({ deviceIds }) => deviceIds.length)}::int[]) as p (vm_id, host_id, wanted)',
          '      cross join lateral (select d.id from devices d where d.host_id = p.host_id',
          '        and not exists (select from device_claims c where c.device_id = d.id)',
          '        order by d.id limit p.wanted for update skip locked) picked',
          '      on conflict do nothing`',
        ].join('\n'),
      },
      { file: PLACEMENTS, text: '  expectCount(deviceClaims, devices.length);\n', replacement: '' },
    ],
  },
  {
    name: 'claim-conflict-ignored',
    why: 'a claim that somebody else has is not had by being silent about it',
    project: 'pg18',
    tests: ['packages/scheduler/src/place/taken-claims.pg.test.ts'],
    edits: [
      {
        file: PLACEMENTS,
        text: DEVICE_CLAIMS,
        replacement: `${DEVICE_CLAIMS.slice(0, -1)} on conflict do nothing\``,
      },
      { file: PLACEMENTS, text: '  expectCount(deviceClaims, devices.length);\n', replacement: '' },
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
        file: 'packages/db/src/queries/placement/leases.ts',
        text: ' and holder = ${lease.holder} and epoch = ${lease.epoch}\n',
        replacement: ' and holder = ${lease.holder}\n',
      },
    ],
  },
  {
    name: 'spec-number-unchecked',
    why: 'a stalled scheduler would undo what a newer one did',
    project: 'unit',
    tests: [
      'packages/agent/src/ledger/accept-spec.test.ts',
      'packages/simulator/src/agent-reports.test.ts',
    ],
    edits: [
      {
        file: ACCEPT_SPEC,
        text: 'if (isBelow(spec.number, last)) {',
        replacement: 'if (last === "") {',
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
        file: 'packages/scheduler/src/settle/match-receipts.ts',
        text: '    if (!receipt) return null;',
        replacement: '    if (!receipt) continue;',
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
        file: 'packages/scheduler/src/settle/match-receipts.ts',
        text: '    if (!receipt) return null;',
        replacement: '    if (!receipt) continue;',
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
        file: ACCEPT_SPEC,
        text: '  return { ...ledger, spec: { ...spec, consoles: [] }, vms };',
        replacement: [
          '  const missing = [...found].filter((id) => !wanted.has(id) && !takenDown.has(id));',
          "  const none = { revision: '1', graceful: false, devices: [], disks: [] };",
          '  const gone = missing.map((id) => ({ id, ...none }));',
          '  return { ...ledger, spec: { ...spec, consoles: [], takeDowns: [...spec.takeDowns, ...gone] }, vms };',
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
      'packages/agent/src/ledger/accept-spec.test.ts',
      'packages/simulator/src/agent-reports.test.ts',
    ],
    edits: [
      {
        file: ACCEPT_SPEC,
        text: 'const conflict = sharedInSpec(spec) ?? heldByAnother(spec, { ledger, holdings });',
        replacement:
          'const conflict = holdings ? null : (sharedInSpec(spec) ?? heldByAnother(spec, { ledger, holdings }));',
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
        text: 'update join_tokens set used_at = now(), host_id = ${hostId}',
        replacement: 'update join_tokens set used_at = null, host_id = null',
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
        text: "  if (standing.revoked) throw badCertificate('the certificate was revoked');\n",
        replacement: '',
      },
    ],
  },
];
