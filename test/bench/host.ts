import { parseArgs } from 'node:util';
import { measureCalls } from './host/calls.ts';
import { measureIdle } from './host/idle.ts';
import { measureStarts } from './host/starts.ts';
import { runParts } from './run-parts.ts';

/**
 * Measures the cost of the agent on a host that runs real VMs, in three parts that can be run one
 * by one: from a spec to a running guest, libvirt calls compared with virsh, and an idle agent.
 * Needs root and what `deploy/prepare-host.sh` installs.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    starts: { type: 'string', default: '9' },
    rounds: { type: 'string', default: '5' },
    domains: { type: 'string', default: '20' },
    idle: { type: 'string', default: '60' },
    vms: { type: 'string', default: '2' },
  },
});
/** Idle rounds have the requested length. There are three, the fewest that give a median. */
const IDLE_ROUNDS = 3;
const [rounds, domains] = [Number(values.rounds), Number(values.domains)];
const rest = { rounds: IDLE_ROUNDS, seconds: Number(values.idle), vms: Number(values.vms) };

await runParts(
  {
    starts: (signal) => measureStarts({ rounds: Number(values.starts), signal }),
    calls: (signal) => measureCalls({ rounds, domains, signal }),
    idle: (signal) => measureIdle({ ...rest, signal }),
  },
  positionals,
);
