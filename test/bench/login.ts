import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { percentile } from './percentile.ts';
import { makeBenchProject, startProcess } from './subject.ts';

/**
 * An attacker guesses at one account a hundred times a second, each time from another network. Measures how
 * many guesses are tried, how long the owner of the account needs to log in meanwhile, and whether every
 * attempt is in the audit log.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const GUESSES_PER_SECOND = 100;
const GOALS = { guessesTried: 100, ownerMs: 2_000 };
const HOME = '192.0.2.7';

const root = path.resolve(import.meta.dirname, '../..');
const home = path.join(root, '.gantry/bench', `login-${process.pid}`);
const postgres = await startEmbeddedPostgres({ home });
const sql = connect({ url: postgres.databaseUrl, name: 'bench', statementLimitMs: 0 });
let stop = async () => {};
try {
  const { databaseUrl } = postgres;
  const { secretKey, operator } = await makeBenchProject({ root, databaseUrl, sql, vms: 0 });
  const api = await startProcess([path.join(root, 'packages/api/dist/main.mjs')], {
    ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: secretKey, GANTRY_PORT: '0' },
    GANTRY_TRUSTED_PROXIES: '1',
  });
  stop = api.stop;
  const logIn = async (password: string, from: string): Promise<number> => {
    const response = await fetch(`${api.url}/v0.1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ grant_type: 'password', email: operator.email, password }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  await logIn(operator.password, HOME);
  const guesses: Promise<number>[] = [];
  const owner: { status: number; ms: number }[] = [];
  const began = performance.now();
  for (let n = 0; n < SECONDS * GUESSES_PER_SECOND; n += 1) {
    guesses.push(logIn(`guess ${n}`, `${1 + (n % 190)}.${(n * 7) % 256}.${n >> 8}.${n % 256}`));
    if (n % GUESSES_PER_SECOND === 0) owner.push(await timed(() => logIn(operator.password, HOME)));
    await delay(began + (n * 1_000) / GUESSES_PER_SECOND - performance.now());
  }
  const statuses = await Promise.all(guesses);
  const tried = statuses.filter((status) => status === 401).length;
  const refused = statuses.filter((status) => status === 429).length;
  const times = owner.map(({ ms }) => ms);
  const loggedIn = owner.filter(({ status }) => status === 200).length;
  // Stopping writes the attempts that are not in the audit log yet.
  await api.stop();
  stop = async () => {};
  const [audit] = await sql<{ attempts: number; addresses: number }[]>`
    select sum(attempts)::int as attempts, count(distinct source_ip)::int as addresses
    from audit_logs where action = 'tokens.grant'`;
  console.log(`${statuses.length} guesses in ${SECONDS} s: ${tried} tried, ${refused} refused`);
  console.log(
    `the owner logged in ${loggedIn} of ${owner.length} times, ` +
      `half within ${Math.round(percentile(times, 0.5))} ms, all within ${Math.round(Math.max(...times))} ms`,
  );
  console.log(`audit log: ${audit?.attempts} attempts from ${audit?.addresses} addresses`);
  const isMet =
    tried <= GOALS.guessesTried &&
    loggedIn === owner.length &&
    Math.max(...times) <= GOALS.ownerMs &&
    audit?.attempts === statuses.length + owner.length + 1;
  console.log(isMet ? 'goals met' : 'goals missed');
  process.exitCode = isMet ? 0 : 1;
} finally {
  await stop();
  await sql.end({ timeout: 5 });
  await postgres.stop();
  await removeHome(home);
}

async function timed(run: () => Promise<number>): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  return { status: await run(), ms: performance.now() - began };
}
