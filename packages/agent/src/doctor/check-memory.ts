import { GIB } from '@gantry/daemon/units';
import { type Finding, fail, ok, warn } from '../base/finding.ts';
import type { NumaNode } from '../inventory/numa-nodes.ts';
import type { Check } from './doctor-host.ts';

const CHECK = 'hugepages';
const GIB_PAGE_KIB = 1_048_576;
const PAGES_OF_2M_PER_GIB = 512;
/** The host itself needs a tenth of a node, and at least this much. */
const HOST_SHARE = 0.1;
const HOST_LEAST_GIB = 8;
/** Above this share nothing is left for the host and for QEMU's own memory. */
const MOST_IN_PAGES = 0.97;

export const checkHugepages: Check = async ({ numaNodes, files }) => {
  const nodes = numaNodes.filter(({ memoryBytes }) => memoryBytes > 0);
  const without = nodes.filter((node) => pagesBytes(node) === 0 && sparePages(node) > 0);
  const others = nodes.filter((node) => !without.includes(node));
  const mounts = (await files.text('proc/self/mountinfo')) ?? '';
  return [
    ...(without.length > 0 ? [adviseHugepages(without)] : []),
    ...others.map(checkNode),
    ...unmountedSizes(nodes, mounts).map((size) =>
      fail(
        CHECK,
        `no hugetlbfs for pages of ${size}: libvirt cannot use them`,
        `add default_hugepagesz=${size} to the kernel command line, or mount one with pagesize=${size}`,
      ),
    ),
  ];
};

function checkNode(node: NumaNode): Finding {
  if (pagesBytes(node) <= node.memoryBytes * MOST_IN_PAGES) return ok(CHECK, describe(node));
  const advice = 'leave more to the host itself: it runs out of memory otherwise';
  return warn(CHECK, describe(node), advice);
}

/** One line for all nodes, because the kernel accepts one list. */
function adviseHugepages(nodes: readonly NumaNode[]): Finding {
  const hasGib = nodes.every(({ hugepages }) =>
    hugepages.some(({ pageKib }) => pageKib === GIB_PAGE_KIB),
  );
  const size = hasGib ? '1G' : '2M';
  const perGib = hasGib ? 1 : PAGES_OF_2M_PER_GIB;
  const counts = nodes.map((node) => `${node.id}:${sparePages(node) * perGib}`).join(',');
  return warn(
    CHECK,
    `${nodes.map(describe).join(', ')}: guests are slower and start more slowly without`,
    `add default_hugepagesz=${size} hugepagesz=${size} hugepages=${counts} to the kernel command line`,
  );
}

function describe(node: NumaNode): string {
  const [set, all] = [pagesBytes(node), node.memoryBytes].map((bytes) => Math.floor(bytes / GIB));
  return `${set} of ${all} GiB on node ${node.id}`;
}

function pagesBytes({ hugepages }: NumaNode): number {
  return hugepages.reduce((sum, { total, pageKib }) => sum + total * pageKib * 1_024, 0);
}

/** In GiB: what a node has beyond the host's own needs. */
function sparePages({ memoryBytes }: NumaNode): number {
  const memoryGib = memoryBytes / GIB;
  return Math.max(0, Math.floor(memoryGib - Math.max(HOST_LEAST_GIB, memoryGib * HOST_SHARE)));
}

/** systemd mounts one for the default size only. The kernel writes 1 GiB as 1024M. */
function unmountedSizes(nodes: readonly NumaNode[], mountinfo: string): string[] {
  const pools = nodes.flatMap(({ hugepages }) => hugepages).filter(({ total }) => total > 0);
  const sizes = new Set(pools.map(({ pageKib }) => pageKib / 1_024));
  const isMounted = (mib: number) =>
    mountinfo.split('\n').some((line) => {
      const isHugetlbfs = line.includes(' - hugetlbfs ');
      return isHugetlbfs && line.split(/[ ,]/).includes(`pagesize=${mib}M`);
    });
  return [...sizes]
    .filter((mib) => !isMounted(mib))
    .map((mib) => (mib === 1_024 ? '1G' : `${mib}M`));
}
