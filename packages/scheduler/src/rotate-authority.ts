import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { createSettingsReader, SettingsError } from '@gantry/daemon/settings';
import { connect, type Sql } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { CloudError } from '@gantry/model/errors';
import { createFleetSecrets } from './fleet/fleet-secrets.ts';
import {
  beginRotation,
  type Rotation,
  readRotation,
  withdrawAuthority,
} from './fleet/rotate-authority.ts';

/**
 * Run by an operator to replace the fleet's authority; docs/operators/replacing-keys.md shows how.
 * `status` changes nothing, `begin` needs the fleet key. The exit status is 1 if the command was
 * refused.
 */
const USAGE = 'usage: rotate-authority status | begin | withdraw [--leave-behind] [--json]';
const print = (line: string) => process.stdout.write(`${line}\n`);

async function perform(sql: Sql, { step, leaveBehind }: { step: string; leaveBehind: boolean }) {
  const who = { sql, actor: `${userInfo().username}@${hostname()}`, now: new Date() };
  if (step === 'status') return { rotation: await readRotation(sql), refused: false };
  if (step === 'begin') {
    const fleetSecrets = createFleetSecrets({
      fleetKey: reader.secret('GANTRY_FLEET_KEY'),
      secretKey: reader.secret('GANTRY_SECRET_KEY'),
    });
    return { rotation: await beginRotation({ ...who, fleetSecrets }), refused: false };
  }
  const { withdrawn, ...rotation } = await withdrawAuthority({ ...who, leaveBehind });
  return withdrawn
    ? { rotation: { ...rotation, retiring: undefined }, refused: false }
    : { rotation, refused: true };
}

function describe({ issuing, retiring, missing }: Rotation): string[] {
  return [
    `issuing: ${issuing ?? 'none'}`,
    ...(retiring === undefined ? [] : [`retiring: ${retiring}`]),
    ...missing.map(
      ({ id, name, location, attached }) =>
        `host ${name} (${id}, ${location}) has not attached with a certificate of the issuing authority: it is ${attached ? 'attached with an older one' : 'not attached'}`,
    ),
  ];
}

const reader = createSettingsReader();
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'leave-behind': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [step = 'status', ...more] = positionals;
  if (!['status', 'begin', 'withdraw'].includes(step) || more.length > 0) {
    throw new SettingsError(USAGE);
  }
  const databaseUrl = reader.secret('DATABASE_URL');
  await migrate(databaseUrl);
  const sql = connect({ url: databaseUrl, name: 'gantry-rotate-authority', maxConnections: 2 });
  try {
    const done = await perform(sql, { step, leaveBehind: values['leave-behind'] });
    const { rotation, refused } = done;
    if (values.json) print(JSON.stringify({ ...rotation, refused }, null, 2));
    else for (const line of describe(rotation)) print(line);
    if (refused && !values.json) {
      print('Not withdrawn: wait for these hosts, fence them, or use --leave-behind.');
    }
    if (refused) process.exitCode = 1;
  } finally {
    await sql.end({ timeout: 5 });
  }
} catch (error) {
  const isExpected = error instanceof SettingsError || error instanceof CloudError;
  if (!isExpected) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
