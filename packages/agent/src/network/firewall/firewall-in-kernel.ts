import { createHash } from 'node:crypto';
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { HostFailure } from '../../base/failure.ts';
import { COMMAND_FAILED, type RunCommand } from '../kernel/run-command.ts';
import { canonicalListing } from './canonical-listing.ts';
import { type RenderedFirewall, TABLES } from './render-firewall.ts';

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
  const listings = await listTables(run);
  // A killed agent's last command runs on, and may come after ours.
  if (!listings.every((listing) => listing.includes(rendered.digest))) {
    throw new HostFailure('firewall_replaced', 'other rules took the place of those just applied');
  }
  const listed = digestOf(listings);
  const seal = sealOf(rendered, listed);
  const text = `table ${SEAL}\ndelete table ${SEAL}\ntable ${SEAL} { comment "${seal}"; }\n`;
  await run('nft', ['-f', '-'], text);
}

/** `quickly`: by the seal alone, which whoever removes all rules of the host removes too. */
export async function isInForce(
  run: RunCommand,
  rendered: RenderedFirewall,
  { quickly = false } = {},
): Promise<boolean> {
  try {
    const sealed = await run('nft', ['list', 'table', ...SEAL.split(' ')]);
    // After most changes of what is wanted the seal alone tells, without a look at the rules.
    if (!sealed.includes(`"${wantedOf(rendered)} `)) return false;
    return quickly || sealed.includes(`"${sealOf(rendered, digestOf(await listTables(run)))}"`);
  } catch (error) {
    // No such table. Where it is something else, applying fails of it as well, and says so.
    if (error instanceof HostFailure && error.code === COMMAND_FAILED) return false;
    throw error;
  }
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
function sealOf(rendered: RenderedFirewall, listed: string): string {
  return `${wantedOf(rendered)} ${listed.slice(0, 60)}`;
}

function wantedOf({ digest }: RenderedFirewall): string {
  return digest.slice(0, 60);
}

/** Fails where one of our tables is not there. */
function listTables(run: RunCommand): Promise<string[]> {
  return allSettledOrThrow(
    TABLES.map((table) => run('nft', ['-j', 'list', 'table', ...table.split(' ')])),
  );
}

function digestOf(listings: readonly string[]): string {
  const hash = createHash('sha256');
  for (const listing of listings) hash.update(canonicalListing(listing));
  return hash.digest('hex');
}
