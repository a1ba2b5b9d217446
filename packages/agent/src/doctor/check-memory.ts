import { GIB, KIB } from '@gantry/daemon/units';
import { type Finding, fail, ok, warn } from '../base/finding.ts';
import { pagesToReserve } from '../capacity/node-memory.ts';
import type { NumaNode } from '../inventory/numa-nodes.ts';
import type { Check } from './doctor-host.ts';

const CHECK = 'hugepages';
/** Above this share nothing is left for the host and for QEMU's own memory. */
const MOST_IN_PAGES = 0.97;
/** The kernel may give somewhat less, because a page must lie in one piece of free memory. */
const LEAST_OF_WANTED = 0.98;
const UNIT = 'gantry-hugepages.service';

export const checkHugepages: Check = async ({ numaNodes, files, settings }) => {
  const wanted = pagesToReserve(numaNodes, settings.capacity);
  const nodes = numaNodes
    .map((node, index) => ({ ...node, wantedBytes: wantedBytes(wanted[index]) }))
    .filter(({ memoryBytes }) => memoryBytes > 0);
  const mounts = (await files.text('proc/self/mountinfo')) ?? '';
  return [
    ...nodes.map(checkNode),
    ...unmountedSizes(nodes, mounts).map((size) =>
      fail(
        CHECK,
        `no hugetlbfs for pages of ${size}: libvirt cannot use them`,
        size === '1G'
          ? 'install and start dev-hugepages1G.mount, then restart libvirtd'
          : `mount one with pagesize=${size}, then restart libvirtd`,
      ),
    ),
  ];
};

type CheckedNode = NumaNode & { wantedBytes: number };

function checkNode(node: CheckedNode): Finding {
  const reserved = reservedBytes(node);
  const found = `${gib(reserved)} of ${gib(node.memoryBytes)} GiB on node ${node.id}`;
  if (reserved > node.memoryBytes * MOST_IN_PAGES) {
    const advice = 'leave more to the host itself: it runs out of memory otherwise';
    return warn(CHECK, found, advice);
  }
  if (reserved >= node.wantedBytes * LEAST_OF_WANTED) return ok(CHECK, found);
  if (reserved === 0) {
    const advice = `enable ${UNIT} and reboot: it reserves ${gib(node.wantedBytes)} GiB of this node`;
    return warn(CHECK, `${found}: guests are slower and start more slowly without`, advice);
  }
  return warn(
    CHECK,
    `${found}, and VMs are offered only these; ${gib(node.wantedBytes)} GiB can be reserved`,
    `enable ${UNIT} and reboot; the host keeps GANTRY_HOST_MEMORY_GIB and GANTRY_HOST_MEMORY_PERCENT`,
  );
}

function gib(bytes: number): number {
  return Math.floor(bytes / GIB);
}

function wantedBytes(wanted: { pageKib: number; pages: number } | undefined): number {
  return wanted ? wanted.pages * wanted.pageKib * KIB : 0;
}

function reservedBytes({ hugepages }: NumaNode): number {
  return hugepages.reduce((sum, { total, pageKib }) => sum + total * pageKib * KIB, 0);
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
