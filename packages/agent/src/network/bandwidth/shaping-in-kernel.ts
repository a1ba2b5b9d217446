import { batch, withoutIpv6 } from '../kernel/link-commands.ts';
import { type Link, listLinks } from '../kernel/links.ts';
import type { RunCommand } from '../kernel/run-command.ts';
import {
  isEmpty,
  type PresentShaping,
  planShaping,
  type Rates,
  type Redirect,
  type ShapingPlan,
} from './plan-shaping.ts';
import { lanesOf, tapOfShaper } from './shapers.ts';

/**
 * Limits the bandwidth of taps. All state is in the kernel, so it outlives the agent and libvirt. If
 * a change is interrupted, the next one completes it; until then packets pass without a limit.
 */
export async function ensureShaping(run: RunCommand, rates: Rates): Promise<void> {
  if (rates.size === 0) return;
  const plan = await planFromKernel(run, rates, await listLinks(run));
  await batch(run, 'tc', plan.detach);
  await batch(run, 'ip', plan.links);
  await withoutIpv6(run, plan.up);
  await batch(
    run,
    'ip',
    plan.up.map((shaper) => `link set dev ${shaper} up`),
  );
  await batch(run, 'tc', plan.attach);
}

/** Returns whether the kernel limits the taps to exactly these rates. */
export async function isShaped(
  run: RunCommand,
  rates: Rates,
  links: readonly Link[],
): Promise<boolean> {
  return rates.size === 0 || isEmpty(await planFromKernel(run, rates, links));
}

/** Adds the taps that have a limit in the kernel and are not to have one. */
export function withFormerRates(rates: Rates, links: readonly Link[]): Rates {
  const limited = links.flatMap((link) => tapOfShaper(link) ?? []);
  return new Map([...limited.map((tap) => [tap, null] as const), ...rates]);
}

async function planFromKernel(
  run: RunCommand,
  rates: Rates,
  links: readonly Link[],
): Promise<ShapingPlan> {
  return planShaping(rates, await readShaping(run, rates, links));
}

async function readShaping(
  run: RunCommand,
  rates: Rates,
  links: readonly Link[],
): Promise<PresentShaping> {
  const qdiscs = JSON.parse(await run('tc', ['-json', 'qdisc', 'show'])) as QdiscListing;
  const hooked = qdiscs.filter(({ kind, dev }) => kind === 'clsact' && rates.has(dev));
  const taps = hooked.map(({ dev }) => dev);
  const paced = qdiscs.filter(({ kind, root }) => kind === 'tbf' && root === true);
  return {
    links,
    rates: new Map(paced.map(({ dev, options }) => [dev, options?.rate ?? 0])),
    redirects: await readRedirects(run, taps),
  };
}

type QdiscListing = { kind: string; dev: string; root?: boolean; options?: { rate?: number } }[];

/** Each command of a batch prints one line. */
async function readRedirects(run: RunCommand, taps: readonly string[]) {
  const hooks = taps.flatMap((tap) => lanesOf(tap).map(({ hook }) => ({ tap, hook })));
  if (hooks.length === 0) return new Map<string, Redirect[]>();
  const commands = hooks.map(({ tap, hook }) => `filter show dev ${tap} ${hook}\n`);
  const listings = (await run('tc', ['-json', '-batch', '-'], commands.join('')))
    .trim()
    .split('\n');
  const redirects = new Map<string, Redirect[]>(taps.map((tap) => [tap, []]));
  hooks.forEach(({ tap, hook }, index) => {
    const filters = JSON.parse(listings[index] || '[]') as FilterListing;
    redirects.get(tap)?.push(...parseRedirects(hook, filters));
  });
  return redirects;
}

type FilterListing = {
  pref: number;
  options?: {
    match?: { value: string; mask: string };
    actions?: { kind: string; mirred_action?: string; to_dev?: string }[];
  };
}[];

/** A filter that is not the agent's counts as a redirection to nowhere. */
function parseRedirects(hook: Redirect['hook'], filters: FilterListing): Redirect[] {
  return filters.flatMap(({ pref, options }) => {
    if (options?.match === undefined && options?.actions === undefined) return [];
    const [action, ...others] = options.actions ?? [];
    const isForAll = options.match?.value === '0' && options.match.mask === '0';
    const isRedirect = action?.kind === 'mirred' && action.mirred_action === 'redirect';
    const shaper = isForAll && isRedirect && others.length === 0 ? (action.to_dev ?? '') : '';
    return [{ hook, preference: pref, shaper }];
  });
}
