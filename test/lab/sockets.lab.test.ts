import { labAgent } from '@gantry/testkit/lab/cloud/lab-agent';
import { offerType, serialLog, succeeded } from '@gantry/testkit/lab/cloud/lab-vms';
import {
  HOST,
  type LabCloud,
  LOCATION,
  startLabCloud,
} from '@gantry/testkit/lab/cloud/start-lab-cloud';
import { TOPOLOGY_LOOK } from '@gantry/testkit/lab/image/guest-look';
import { labArchitecture } from '@gantry/testkit/lab/image/lab-architecture';
import { bootDirectly } from '@gantry/testkit/lab/machine/boot-directly';
import type { LabSlot } from '@gantry/testkit/lab/machine/slots';
import type { Lab } from '@gantry/testkit/lab/machine/start-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CARD = 'bochs-display,romfile=';
const SLOTS: readonly LabSlot[] = [
  { id: 'pair', node: 0, behindSwitch: [CARD, CARD], isIsolated: true },
  { id: 'alone', node: 1, functions: [CARD] },
];
/**
 * Each node has two cores and 4 GiB, of which the kernel reserves a page of 1 GiB when it boots. A kernel at a
 * random address may be in the way of the page.
 */
const MACHINE = {
  memoryMib: 8 * 1024,
  kernelArguments: 'nokaslr hugepagesz=1G hugepages=0:1,1:1',
  topology: { sockets: 2, coresPerSocket: 2, threadsPerCore: 1 },
  slots: SLOTS,
};

/** With Debian 12's firmware for arm64, Linux ignores all NUMA nodes, on the host and in guests. */
describe.skipIf(labArchitecture() !== 'x64')('a server with two sockets', () => {
  let cloud: LabCloud;

  beforeAll(async () => {
    cloud = await startLabCloud({ ...MACHINE, agentOf: agentWithHugepages });
  });
  afterAll(() => cloud?.stop());

  const show = async () => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find(({ name }: { name: string }) => name === HOST);
  };

  it('offers the cores, the memory and the GPUs of each node', async () => {
    await expect.poll(show).toMatchObject({ state: 'ready', connected: true, trouble: '' });
    await expect.poll(async () => (await show()).gpus).toHaveLength(3);
    const { numa_nodes: nodes, gpus } = await show();
    const files = '/sys/devices/system/node/node*/hugepages/hugepages-1048576kB/nr_hugepages';
    const pages = (await cloud.lab.ask(`cat ${files}`)).trim().split('\n').map(Number);
    expect(Math.min(...pages)).toBeGreaterThanOrEqual(1);
    expect(nodes).toMatchObject([
      { node: 0, cores: 2, memory_mib: (pages[0] ?? 0) * 1024 },
      { node: 1, cores: 2, memory_mib: (pages[1] ?? 0) * 1024 },
    ]);
    const [upper, lower] = cloud.lab.addresses('pair');
    const [alone] = cloud.lab.addresses('alone');
    expect(gpus).toMatchObject([
      { pci_address: upper, numa_node: 0 },
      { pci_address: lower, numa_node: 0 },
      { pci_address: alone, numa_node: 1 },
    ]);
    expect(gpus[0].pcie_switch).not.toBe('');
    expect(gpus[1].pcie_switch).toBe(gpus[0].pcie_switch);
    expect(gpus[2].pcie_switch).not.toBe(gpus[0].pcie_switch);
  });

  it('gives a VM that spans both nodes the cores, hugepages and GPUs of each', async () => {
    const { client, lab } = cloud;
    const fields = { gpu: '1234:1111', gpus: 3, cores: 2, memoryGb: 2, maySplit: true };
    await offerType(client, { name: 'lab.span', ...fields });
    const freePages = await readFreePages(lab);
    await bootDirectly(lab, TOPOLOGY_LOOK);
    const operation = await client.createVm({
      ...{ name: 'span', type: 'lab.span', location: LOCATION, image: 'tiny' },
    });
    const { id } = await succeeded(client, operation);

    expect(await readFreePages(lab)).toEqual(freePages.map((pages) => pages - 1));
    // Cores 0 and 1 are on the first node, 2 and 3 on the second.
    const [first = '', second = ''] = await readVcpuThreads(lab, id);
    expect(first).toMatch(/^[01]$/);
    expect(second).toMatch(/^[23]$/);

    await expect.poll(() => serialLog(client, id)).toContain('SEEN all');
    const seen = (await serialLog(client, id))
      .split(/\r?\n/)
      .filter((it) => it.startsWith('SEEN '));
    const nodes = seen.filter((line) => line.startsWith('SEEN node'));
    expect(nodes).toEqual([
      expect.stringMatching(/^SEEN node 0 cpus 0 memory \d{6,7}$/),
      expect.stringMatching(/^SEEN node 1 cpus 1 memory \d{6,7}$/),
    ]);
    const cards = seen.filter((line) => line.startsWith('SEEN card')).map(readCard);
    expect(cards.map(({ node }) => node)).toEqual([1, 0, 0]);
    // Two cards below one switch have all bridges in common but the port of the switch.
    const [alone, upper, lower] = cards.map(({ bridges }) => bridges);
    expect(upper).toHaveLength(4);
    expect(upper?.slice(0, 3)).toEqual(lower?.slice(0, 3));
    expect(upper).not.toEqual(lower);
    expect(alone?.[0]).not.toBe(upper?.[0]);
    expect(seen.join()).not.toContain('SEEN flag');
  });
});

/** Returns the free hugepages of 1 GiB of each node. */
async function readFreePages(lab: Lab): Promise<number[]> {
  const files = '/sys/devices/system/node/node*/hugepages/hugepages-1048576kB/free_hugepages';
  return (await lab.ask(`cat ${files}`)).trim().split('\n').map(Number);
}

/** Returns the processors on which each vCPU of a VM may run, as the server's kernel says. */
async function readVcpuThreads(lab: Lab, vmId: string): Promise<string[]> {
  const tasks = `/proc/$(cat /run/libvirt/qemu/gantry-${vmId}.pid)/task/*`;
  const line = `for task in ${tasks}; do echo "$(cat $task/comm): $(grep Cpus_allowed_list $task/status)"; done`;
  const threads = (await lab.ask(line)).split('\n');
  return threads
    .filter((thread) => thread.startsWith('CPU '))
    .toSorted()
    .map((thread) => thread.split(/\s+/).at(-1) ?? '');
}

/** The bridges are those between the root of the card's PCIe tree, which comes first, and the card. */
function readCard(line: string): { node: number; bridges: string[] } {
  const [, , node, path = ''] = line.split(' ');
  const [, , , ...places] = path.split('/');
  return { node: Number(node), bridges: places.slice(0, -1) };
}

/**
 * Reserves hugepages before libvirt starts, as the unit of a stock server does, and then starts the
 * agent. The pages that the kernel has reserved stay; more are added if the memory has room.
 */
function agentWithHugepages(...[lab, environment]: Parameters<typeof labAgent>) {
  const agent = labAgent(lab, environment);
  return {
    ...agent,
    async start() {
      await lab.ask(
        'mkdir -p /dev/hugepages && mount -t hugetlbfs -o pagesize=1G pages /dev/hugepages',
      );
      const { status, stderr } = await agent.command('reserve-hugepages');
      expect(status, stderr).toBe(0);
      await lab.ask(
        'kill $(cat /run/libvirtd.pid) && while [ -e /run/libvirtd.pid ]; do sleep 0.1; done',
      );
      await lab.ask(
        'libvirtd -d && until virsh -q -c qemu:///system list >/dev/null; do sleep 0.2; done',
      );
      await agent.start();
    },
  };
}
