import { createHash } from 'node:crypto';
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { HostFailure } from '../../base/failure.ts';
import { COMMAND_FAILED, type RunCommand } from '../kernel/run-command.ts';
import { canonicalListing } from './canonical-listing.ts';
import { type RenderedFirewall, TABLES } from './render-firewall.ts';

/**
 * The agent's tables in the kernel. Two digests are stored beside them in the comment of a separate
 * table, the seal: a digest of the desired rules, and a digest of the kernel's listing right after
 * the rules were applied. The seal survives a restart of the agent and disappears together with the
 * rules. A rule that was changed outside the agent makes the listing differ from its digest. If
 * applying is interrupted before the seal is written, nothing counts as in force, and applying
 * again completes it. The rules themselves are replaced atomically.
 */
const SEAL = 'inet gantry_seal';

export async function applyFirewall(run: RunCommand, rendered: RenderedFirewall): Promise<void> {
  await run('nft', ['-f', '-'], `${rendered.text}table ${SEAL}\ndelete table ${SEAL}\n`);
  const listings = await listTables(run);
  // The last command of a killed agent may still run and come after this one.
  if (!listings.every((listing) => listing.includes(rendered.digest))) {
    throw new HostFailure(
      'firewall_replaced',
      'the rules just applied were replaced by other rules; try again',
    );
  }
  const listed = digestOf(listings);
  const seal = sealOf(rendered, listed);
  const text = `table ${SEAL}\ndelete table ${SEAL}\ntable ${SEAL} { comment "${seal}"; }\n`;
  await run('nft', ['-f', '-'], text);
}

/**
 * With `quickly` only the seal is read: a program that removes all rules of the host removes it
 * too.
 */
export async function isInForce(
  run: RunCommand,
  rendered: RenderedFirewall,
  { quickly = false } = {},
): Promise<boolean> {
  try {
    const sealed = await run('nft', ['list', 'table', ...SEAL.split(' ')]);
    // After most changes of the desired rules the seal alone shows the difference.
    if (!sealed.includes(`"${wantedOf(rendered)} `)) return false;
    return quickly || sealed.includes(`"${sealOf(rendered, digestOf(await listTables(run)))}"`);
  } catch (error) {
    // There is no such table. If the cause is another one, applying fails too and reports it.
    if (error instanceof HostFailure && error.code === COMMAND_FAILED) return false;
    throw error;
  }
}

/** Returns the interfaces that are filtered now: tap, MAC and address, as `gtap… 02:… 10.0.0.5`. */
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

/** Throws if one of the agent's tables does not exist. */
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
