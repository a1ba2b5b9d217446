import { labAgent } from '@gantry/testkit/lab/cloud/lab-agent';
import { HOST, type LabCloud, startLabCloud } from '@gantry/testkit/lab/cloud/start-lab-cloud';
import { labArchitecture } from '@gantry/testkit/lab/image/lab-architecture';
import type { LabSlot } from '@gantry/testkit/lab/machine/slots';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CARD = 'bochs-display,romfile=';
const SLOTS: readonly LabSlot[] = [
  { id: 'pair', node: 0, behindSwitch: [CARD, CARD], isIsolated: true },
  { id: 'alone', node: 1, functions: [CARD] },
];
/**
 * Each node has two cores and 4 GiB, of which the kernel reserves a page of 1 GiB when it boots. The
 * agent must not try KVM: the emulated CPU aborts QEMU 7.2 when firmware runs in a VM.
 */
const MACHINE = {
  memoryMib: 8 * 1024,
  kernelArguments: 'hugepagesz=1G hugepages=0:1,1:1',
  environment: { GANTRY_ACCELERATOR: 'tcg' },
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
});

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
