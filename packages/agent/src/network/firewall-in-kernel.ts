import { createHash } from 'node:crypto';
import type { Firewall } from '../machine.ts';
import { canonicalListing } from './canonical-listing.ts';
import { type RenderedFirewall, renderFirewall, TABLES } from './render-firewall.ts';
import type { RunCommand } from './run-command.ts';

/**
 * The agent's tables in the kernel. What was wanted and what the kernel listed right after it are
 * kept as two digests beside them, in the comment of a table of its own: a restarted agent finds
 * them, they end with the kernel as the rules do, and any rule that came or went by another hand
 * makes the listing differ. Cut off before the seal is set, nothing is in force, and applying
 * again completes it; the rules themselves are whole at every instant.
 */
const SEAL = 'inet gantry_seal';

export async function applyFirewall(run: RunCommand, rendered: RenderedFirewall): Promise<void> {
  await run('nft', ['-f', '-'], `${rendered.text}table ${SEAL}\ndelete table ${SEAL}\n`);
  const listed = await digestOfListing(run);
  const seal = sealOf(rendered, listed);
  const text = `table ${SEAL}\ndelete table ${SEAL}\ntable ${SEAL} { comment "${seal}"; }\n`;
  await run('nft', ['-f', '-'], text);
}

export async function isInForce(
  run: RunCommand,
  wanted: { firewall: Firewall; uplink: string | null },
): Promise<boolean> {
  const rendered = renderFirewall(wanted.firewall, wanted.uplink);
  const present = await listTables(run);
  if (![...TABLES, SEAL].every((table) => present.has(table))) return false;
  const listed = await digestOfListing(run);
  const sealed = await run('nft', ['list', 'table', ...SEAL.split(' ')]);
  return sealed.includes(`"${sealOf(rendered, listed)}"`);
}

/** The interfaces that are filtered now: tap, MAC and address, as `gtap… 02:… 10.0.0.5`. */
export async function listCovered(run: RunCommand): Promise<Set<string>> {
  return parseCovered(await run('nft', ['-j', 'list', 'ruleset', 'bridge']));
}

type Guests = { table: string; name: string; elem?: { concat: string[] }[] };
type SetListing = { nftables: { set?: Guests }[] };

export function parseCovered(json: string): Set<string> {
  const { nftables } = JSON.parse(json) as SetListing;
  const elements = nftables.flatMap(({ set }) =>
    set?.table === 'gantry' && set.name === 'guests' ? (set.elem ?? []) : [],
  );
  return new Set(elements.map(({ concat }) => concat.join(' ')));
}

/** A comment has at most 128 characters. */
function sealOf({ digest }: RenderedFirewall, listed: string): string {
  return `${digest.slice(0, 60)} ${listed.slice(0, 60)}`;
}

/** Fails where one of our tables is not there. */
async function digestOfListing(run: RunCommand): Promise<string> {
  const hash = createHash('sha256');
  for (const table of TABLES) {
    hash.update(canonicalListing(await run('nft', ['-j', 'list', 'table', ...table.split(' ')])));
  }
  return hash.digest('hex');
}

type TableListing = { nftables: { table?: { family: string; name: string } }[] };

async function listTables(run: RunCommand): Promise<Set<string>> {
  const { nftables } = JSON.parse(await run('nft', ['-j', 'list', 'tables'])) as TableListing;
  return new Set(nftables.flatMap(({ table }) => (table ? [`${table.family} ${table.name}`] : [])));
}
