import { isDeepStrictEqual } from 'node:util';
import { type Link, refuseForeign } from '../kernel/links.ts';
import { type Lane, lanesOf, tapOfShaper } from './shapers.ts';

/** The limit of each tap in Mbit/s, the same in both directions. Null: it has none. */
export type Rates = ReadonlyMap<string, number | null>;

export type PresentShaping = {
  links: readonly Link[];
  /** The rate of each link that a token bucket paces, in bytes per second. */
  rates: ReadonlyMap<string, number>;
  /** What the filters of each tap with filters do. */
  redirects: ReadonlyMap<string, readonly Redirect[]>;
};

/** A filter that redirects every packet at a hook of a tap to another link. */
export type Redirect = Pick<Lane, 'hook' | 'preference' | 'shaper'>;

/** What is done, in this order. */
export type ShapingPlan = {
  /** Commands for `tc`. */
  detach: string[];
  /** Commands for `ip`. */
  links: string[];
  /** The names of links to bring up. */
  up: string[];
  /** Commands for `tc`. */
  attach: string[];
};

const BYTES_PER_SECOND_PER_MBPS = 125_000;
/** The bucket holds at least the two largest packets that a guest can hand over. */
const MIN_BURST_BYTES = 2 ** 17;
const BURST_S = 0.002;
/** Packets that would wait longer are dropped, by which TCP notices the limit. */
const QUEUE_S = 0.01;

/**
 * Plans how taps get from their present limits to the desired ones. A plan without commands means
 * that nothing is missing. Packets of a tap are redirected to a link of their own for each
 * direction, which paces them and hands them back. A queue on the tap itself would pace only one
 * direction, and libvirt replaces it when it starts a VM.
 */
export function planShaping(rates: Rates, present: PresentShaping): ShapingPlan {
  const plan: ShapingPlan = { detach: [], links: [], up: [], attach: [] };
  const links = new Map(present.links.map((link) => [link.name, link]));
  for (const [tap, mbps] of rates) {
    const lanes = lanesOf(tap);
    if (mbps === null || !links.has(tap)) planRemoval(plan, { tap, lanes, links, present });
    else planLimit(plan, { tap, mbps, lanes, links, present });
  }
  return plan;
}

export function isEmpty(plan: ShapingPlan): boolean {
  return Object.values(plan).every(({ length }) => length === 0);
}

type TapOrder = {
  tap: string;
  lanes: readonly Lane[];
  links: ReadonlyMap<string, Link>;
  present: PresentShaping;
};

/** Packets pass a link until it is removed, so the redirection ends first. */
function planRemoval(plan: ShapingPlan, { tap, lanes, links, present }: TapOrder) {
  const shapers = lanes
    .map(({ shaper }) => links.get(shaper))
    .filter((link) => link !== undefined && tapOfShaper(link) === tap);
  if (shapers.length === 0) return;
  if (present.redirects.has(tap)) plan.detach.push(`qdisc del dev ${tap} clsact`);
  plan.links.push(...shapers.map((link) => `link delete dev ${link?.name}`));
}

function planLimit(plan: ShapingPlan, order: TapOrder & { mbps: number }) {
  const { tap, mbps, lanes, links, present } = order;
  for (const { shaper, alias } of lanes) {
    const found = links.get(shaper);
    refuseForeign(found, alias);
    if (!found) plan.links.push(`link add name ${shaper} type ifb`);
    if (found?.alias !== alias) plan.links.push(`link set dev ${shaper} alias ${alias}`);
    if (!found?.isUp) plan.up.push(shaper);
    if (present.rates.get(shaper) !== mbps * BYTES_PER_SECOND_PER_MBPS) {
      plan.attach.push(`qdisc replace dev ${shaper} root handle 1: ${tokenBucket(mbps)}`);
    }
  }
  const redirects = lanes.map(({ hook, preference, shaper }) => ({ hook, preference, shaper }));
  const found = present.redirects.get(tap);
  if (isDeepStrictEqual(found, redirects)) return;
  if (found) plan.detach.push(`qdisc del dev ${tap} clsact`);
  plan.attach.push(
    `qdisc add dev ${tap} clsact`,
    ...redirects.map(
      ({ hook, preference, shaper }) =>
        `filter add dev ${tap} ${hook} pref ${preference} protocol all u32 match u32 0 0 ` +
        `action mirred egress redirect dev ${shaper}`,
    ),
  );
}

function tokenBucket(mbps: number): string {
  const bytesPerSecond = mbps * BYTES_PER_SECOND_PER_MBPS;
  const burst = Math.max(MIN_BURST_BYTES, Math.round(bytesPerSecond * BURST_S));
  const limit = burst + Math.round(bytesPerSecond * QUEUE_S);
  return `tbf rate ${mbps}mbit burst ${burst} limit ${limit}`;
}
