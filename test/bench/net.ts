import { parseArgs } from 'node:util';
import { measureChanges } from './net/changes.ts';
import { measurePatches } from './net/patches.ts';
import { measureTraffic } from './net/traffic.ts';
import { runParts } from './run-parts.ts';

/**
 * Measures the cost of firewall rules in three parts that can be run one by one: from a changed
 * rule in the agent's stream to the packets, from a PATCH to the packets, and packets through a
 * host with few and with many rules. Runs in network namespaces; needs root and nftables.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changes: { type: 'string', default: '100' },
    vms: { type: 'string', default: '100' },
    rules: { type: 'string', default: '1000' },
    many: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
});
const wanted = {
  changes: Number(values.changes),
  ...{ vms: Number(values.vms), rules: Number(values.rules) },
};
const traffic = {
  rules: Number(values.many),
  ...{ rounds: Number(values.rounds), seconds: Number(values.seconds) },
};

await runParts(
  {
    changes: (signal) => measureChanges({ ...wanted, signal }),
    patches: (signal) => measurePatches({ ...wanted, signal }),
    traffic: (signal) => measureTraffic({ ...traffic, signal }),
  },
  positionals,
);
