import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';

/** A process that only owns an embedded server, so that tests can kill it. */
const [home, binariesDirectory] = process.argv.slice(2);
if (!home || !binariesDirectory) throw new Error('usage: owner HOME BINARIES');
const { databaseUrl, pid, dataDirectory } = await startEmbeddedPostgres({
  home,
  binariesDirectory,
});
process.stdout.write(`${JSON.stringify({ databaseUrl, pid, dataDirectory })}\n`);
setInterval(() => {}, 60_000);
