import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { HostNetwork } from '../host-driver.ts';
import type { InterfaceSpec } from '../spec.ts';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import { tapName } from './kernel/names.ts';
import type { RunCommand } from './kernel/run-command.ts';
import { bringUp } from './testing/bring-up.ts';
import { dyingAfter } from './testing/dying-after.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';
import { openMortalNetwork } from './testing/mortal-network.ts';
import { type Prober, startProber } from './testing/prober.ts';

/**
 * Guests and the outside keep sending allowed and forbidden packets while the agent is killed
 * between any two of its steps and started again. No forbidden packet arrives. Every allowed packet
 * of a guest that is not being changed arrives.
 */

const ALLOWED = 80;
/** Allowed by one set of rules and not by the other. */
const CHANGING = 81;
const FORBIDDEN = 23;
const PORTS = [ALLOWED, CHANGING, FORBIDDEN];

const KILLS = 20;
const given = process.env['GANTRY_PROPERTY_SEED'] ?? '1';
const SEED = given === 'random' ? randomInt(2 ** 31) : Number(given);

const webInterface = makeInterface('web', {
  ...{ mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24', publicIpv4: '198.51.100.5' },
});
const appInterface = makeInterface('app', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
/** Comes and goes. */
const jobInterface = makeInterface('job', {
  ...{ mac: '02:00:00:00:00:07', privateIpv4: '10.0.0.7/24', publicIpv4: '198.51.100.7' },
});
const udp = { protocols: ['udp'] };
const outgoing = makeRule('outgoing', {
  ...{ ...udp, direction: 'DIRECTION_EGRESS', destinationPorts: ['1-1000'] },
});
const deny = makeRule('deny', {
  ...udp,
  action: 'ACTION_DENY',
  destinationPorts: [`${FORBIDDEN}`],
});
const allow = (id: string, ports: number[]) =>
  makeRule(id, { ...udp, destinationPorts: ports.map(String) });
const narrow = [outgoing, deny, allow('narrow', [ALLOWED])];
// Closed in another way: by no rule that allows it.
const wide = [outgoing, allow('wide', [ALLOWED, CHANGING])];
const withoutJob = { rules: narrow, interfaces: [webInterface, appInterface] };
const withJob = { rules: narrow, interfaces: [webInterface, appInterface, jobInterface] };

let lab: Lab;
let job: Guest;
const probers: Prober[] = [];

const agent = (run?: RunCommand): HostNetwork => lab.network(run ? { run } : {});
const takeJobDown = async (network: HostNetwork) => {
  await network.removeInterfaces('vm-job');
  await network.applyFirewall(withoutJob);
};

/** As QEMU opens the tap of a guest that starts; its own side is set up as before. */
const plugJob = async () => {
  const peer = `peer name eth0 address ${jobInterface.mac} netns ${job.netns}`;
  await lab.ip(`link add ${tapName('job')} type veth ${peer}`);
  await job.run('ip', 'address', 'add', jobInterface.privateIpv4, 'dev', 'eth0');
  await job.run('ip', 'link', 'set', 'eth0', 'mtu', '1450', 'up');
  await job.run('ip', 'route', 'add', 'default', 'via', jobInterface.gatewayIpv4);
};

const sends = (...addresses: string[]) =>
  addresses.flatMap((to) => PORTS.map((port) => ({ to, port })));

beforeAll(async () => {
  lab = await openLab();
  const guests = new Map<InterfaceSpec, Guest>();
  for (const iface of [webInterface, appInterface]) guests.set(iface, await lab.addGuest(iface));
  job = await lab.addGuest(jobInterface);
  await bringUp(agent(), withoutJob);
  const start = async (netns: string, order: Parameters<typeof startProber>[1]) => {
    probers.push(await startProber(netns, order));
  };
  const at = (iface: InterfaceSpec) => guests.get(iface)?.netns ?? '';
  await start(at(webInterface), { name: 'web', listen: PORTS, send: sends('10.0.0.7') });
  await start(job.netns, { name: 'job', listen: PORTS, send: sends('10.0.0.5', '10.0.0.6') });
  await start(at(appInterface), {
    name: 'app',
    listen: PORTS,
    send: sends('10.0.0.5', '10.0.0.7'),
  });
  await start(lab.outside.netns, { name: 'outside', send: sends('198.51.100.5', '198.51.100.7') });
});
afterAll(async () => {
  for (const prober of probers) prober.end();
  await lab?.close();
});

const probed = async () => {
  const reports = await Promise.all(probers.map((prober) => prober.report()));
  const sum = (kind: 'sent' | 'heard') =>
    Object.assign({}, ...reports.map((report) => report[kind])) as Record<string, number>;
  return { sent: sum('sent'), heard: sum('heard') };
};
const CHANGING_FLOW = `app 10.0.0.5 ${CHANGING}`;
const UNTOUCHED = [`app 10.0.0.5 ${ALLOWED}`, `outside 198.51.100.5 ${ALLOWED}`];

afterEach(async () => {
  const { sent, heard } = await probed();
  const forbidden = Object.keys(heard).filter((flow) => flow.endsWith(` ${FORBIDDEN}`));
  expect(forbidden).toEqual([]);
  for (const flow of [`app 10.0.0.5 ${FORBIDDEN}`, `outside 198.51.100.5 ${FORBIDDEN}`]) {
    expect(sent[flow]).toBeGreaterThan(100);
  }
  // Those on their way now are heard in a moment.
  for (const flow of UNTOUCHED) {
    await expect
      .poll(async () => (await probed()).heard[flow] ?? 0)
      .toBeGreaterThanOrEqual(sent[flow] ?? 0);
  }
});

/** What is forbidden again is not heard any more, of no connection. */
const expectClosedAgain = async () => {
  const { sent, heard } = await probed();
  await expect
    .poll(async () => (await probed()).sent[CHANGING_FLOW] ?? 0)
    .toBeGreaterThan((sent[CHANGING_FLOW] ?? 0) + 50);
  expect((await probed()).heard[CHANGING_FLOW]).toBe(heard[CHANGING_FLOW]);
};

/** Kills the agent after every number of steps of `work`, and lets a new one complete it. */
const killedAnywhere = async (round: {
  before?: () => Promise<void>;
  work: (network: HostNetwork) => Promise<void>;
}): Promise<number> => {
  for (let steps = 0; ; steps += 1) {
    await round.before?.();
    const { run, isDead } = dyingAfter(steps);
    await round.work(agent(run)).catch(() => undefined);
    if (!isDead()) return steps;
    await round.work(agent());
  }
};

it('while rules are replaced, no packet passes that both sets forbid', async () => {
  const other = { ...withoutJob, rules: wide };
  await killedAnywhere({
    before: () => agent().applyFirewall(withoutJob),
    work: (network) => bringUp(network, other),
  });
  await bringUp(agent(), withoutJob);
  expect((await probed()).heard[CHANGING_FLOW]).toBeGreaterThan(0);
  await expectClosedAgain();
});

it('a new interface is covered before any of its packets pass', async () => {
  let isPlugged = true;
  await killedAnywhere({
    before: async () => {
      if (!isPlugged) await plugJob();
      isPlugged = true;
    },
    work: async (network) => {
      await bringUp(network, withJob);
      // It is complete: remove it for the next round, as if the guest had ended.
      await takeJobDown(agent());
      isPlugged = false;
    },
  });
  await plugJob();
  await bringUp(agent(), withJob);
  const heard = async () => (await probed()).heard[`job 10.0.0.5 ${ALLOWED}`] ?? 0;
  await expect.poll(heard).toBeGreaterThan(0);
  await takeJobDown(agent());
});

it('a removed interface takes no rule of other interfaces with it', async () => {
  const steps = await killedAnywhere({
    before: async () => {
      const links = await lab.ip('link show');
      if (!links.includes(tapName('job'))) await plugJob();
      await bringUp(agent(), withJob);
    },
    work: takeJobDown,
  });
  expect(steps).toBeGreaterThan(10);
});

it('a restarted agent weakens nothing, also if its rules were changed', async () => {
  await killedAnywhere({ work: (network) => bringUp(network, withoutJob) });
  await killedAnywhere({
    before: async () => {
      await lab.nft('add', 'element', 'inet', 'gantry', 'bridges', '{ eth9 }');
    },
    work: async (network) => {
      expect(await network.isInForce(withoutJob)).toBe(false);
      await network.applyFirewall(withoutJob);
    },
  });
});

it(`a process killed at any moment leaves rules no weaker than both of its sets (seed ${SEED})`, async () => {
  const firewalls = [{ ...withJob, rules: wide }, withoutJob];
  const agents = await openMortalNetwork({ netns: lab.host.netns, uplink: 'uplink' });
  try {
    const undisturbed = await agents.live({ firewalls, turns: 2 });
    const { heard } = await probed();
    const moments = fc.sample(fc.noBias(fc.integer({ min: 0, max: Math.ceil(undisturbed.ms) })), {
      ...{ seed: SEED, numRuns: KILLS },
    });
    for (const [index, killAfterMs] of moments.entries()) {
      const inOrder = index % 2 === 0 ? firewalls : firewalls.toReversed();
      const life = await agents.live({ firewalls: inOrder, killAfterMs });
      expect(life).toMatchObject({ signal: 'SIGKILL' });
    }
    expect((await probed()).heard[CHANGING_FLOW]).toBeGreaterThan(heard[CHANGING_FLOW] ?? 0);
    const last = await agents.live({ firewalls: [withoutJob], turns: 1 });
    expect(last).toMatchObject({ code: 0, whole: 1 });
    expect(await agent().isInForce(withoutJob)).toBe(true);
    await expectClosedAgain();
  } finally {
    await agents.close();
  }
});
