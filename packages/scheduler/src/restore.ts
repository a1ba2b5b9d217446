import { parseArgs } from 'node:util';
import { createSettingsReader } from '@gantry/daemon/settings';
import { connect } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { readDifferences } from '@gantry/db/queries/maintenance/differences';
import { beginEra } from '@gantry/db/queries/maintenance/era';
import { describeDifferences } from './restore/describe-differences.ts';
import { isIncomplete, waitForHosts } from './restore/wait-for-hosts.ts';

/**
 * Run by an operator after a backup was restored. Begins a new era, waits until the hosts have accepted
 * specs of the new era, and prints how hosts and database differ. Running it again is safe: it begins
 * another era. The exit status is 1 if hosts have not returned in time, or have not
 * reported what became of a VM.
 */
const print = (line: string) => process.stdout.write(`${line}\n`);
const { values } = parseArgs({
  options: {
    'wait-seconds': { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
});
const databaseUrl = createSettingsReader().secret('DATABASE_URL');
await migrate(databaseUrl);
// The new era sets 65,536 network numbers aside, which takes longer on a busy server.
const options = { url: databaseUrl, name: 'gantry-restore', maxConnections: 2 };
const sql = connect({ ...options, statementLimitMs: 60_000 });
try {
  const { era } = await beginEra(sql, { evenIfCurrent: true });
  if (!values.json) print(`Era ${era} has begun. Waiting for the hosts …`);
  await waitForHosts({ sql, era, limitMs: Number(values['wait-seconds']) * 1_000 });
  const differences = await readDifferences(sql, era);
  if (values.json) print(JSON.stringify({ era, ...differences }, null, 2));
  else for (const line of describeDifferences(differences)) print(line);
  process.exitCode = isIncomplete(differences) ? 1 : 0;
} finally {
  await sql.end({ timeout: 5 });
}
