import { CATALOGUE, type VmType } from '@gantry/model/vm-types';
import { chooseHost } from '@gantry/placement/choose-host';
import type { Placement, PlacementRequest } from '@gantry/placement/host';
import { type HostIndex, newHostIndex } from '@gantry/placement/host-index';
import { makeHost } from '@gantry/placement/testing/make-host';
import { seededRandom } from '@gantry/placement/testing/random';
import { median } from '../median.ts';

/**
 * Decisions per second in memory, by size of the fleet. The fleet is one location with the servers
 * of the catalogue, filled to 80 %; each step releases a VM at random and chooses and claims for
 * others until it is full again. All three count; a decision is one `chooseHost`. A second is one of
 * the process's CPU time, for others may have the machine in between.
 * Rounds alternate between the sizes, so that a noisy machine is noisy to all.
 */
const SIZES = [1_000, 10_000, 100_000];
const ROUNDS = 3;
const DECISIONS = 300_000;
const LOAD = 0.8;
const GOAL = { perSecond: 200_000, at: 10_000, growth: 2 };
const MIB_PER_GB = 1024;

type Fleet = {
  index: HostIndex;
  gpus: number;
  used: number;
  placed: Placement[];
  random: () => number;
};

const requests = CATALOGUE.map(requestFor);
const fleets = SIZES.map((hosts) => makeFleet(hosts));
const rates = SIZES.map((): number[] => []);
for (let round = 0; round <= ROUNDS; round += 1) {
  fleets.forEach((fleet, i) => {
    const perSecond = measure(fleet);
    // The first round warms up.
    if (round > 0) rates[i]?.push(perSecond);
  });
}

const medians = rates.map(median);
SIZES.forEach((hosts, i) => {
  const rounds = rates[i]?.map((rate) => rate.toFixed(0)).join(' ');
  console.log(
    `${String(hosts).padStart(7)} hosts   ${medians[i]?.toFixed(0)} decisions per CPU second (rounds ${rounds})`,
  );
});
const atGoal = medians[SIZES.indexOf(GOAL.at)] ?? 0;
const fast = atGoal >= GOAL.perSecond;
console.log(
  `${GOAL.at} hosts: ${atGoal.toFixed(0)} decisions per CPU second; goal ${GOAL.perSecond}: ${verdict(fast)}`,
);
let flat = true;
for (let i = 1; i < SIZES.length; i += 1) {
  const growth = (medians[i - 1] ?? 0) / (medians[i] ?? 0);
  flat = flat && growth <= GOAL.growth;
  console.log(
    `${SIZES[i - 1]} to ${SIZES[i]} hosts: ${growth.toFixed(2)} times the time; ` +
      `goal ${GOAL.growth}: ${verdict(growth <= GOAL.growth)}`,
  );
}
process.exitCode = fast && flat ? 0 : 1;

function verdict(met: boolean): string {
  return met ? 'met' : 'MISSED';
}

function requestFor(type: VmType): PlacementRequest {
  return {
    location: 'one',
    gpuModel: type.gpuType,
    gpuCount: type.gpuCount,
    cores: type.cpuCores,
    memoryMib: type.memoryGb * MIB_PER_GB,
    companions:
      type.diskCount > 0
        ? [{ kind: 'drive', count: type.diskCount, sizeGb: type.diskGb / type.diskCount }]
        : [],
    networkGbps: type.networkGbps,
  };
}

function makeFleet(hosts: number): Fleet {
  const index = newHostIndex();
  const types = CATALOGUE.filter(({ gpuCount }) => gpuCount === 1);
  let gpus = 0;
  for (let i = 0; i < hosts; i += 1) {
    const type = types[i % types.length];
    if (!type) continue;
    const size = type.diskCount === 0 ? 10 : 8;
    gpus += size;
    index.put(
      makeHost({
        id: `h${i}`,
        model: type.gpuType,
        gpus: size,
        coresPerGpu: type.cpuCores,
        memoryMibPerGpu: type.memoryGb * MIB_PER_GB,
        networkGbpsPerGpu: type.networkGbps,
        driveGb: type.diskGb,
        bridged: true,
      }),
    );
  }
  return { index, gpus, used: 0, placed: [], random: seededRandom(hosts) };
}

function measure(fleet: Fleet): number {
  const { index, placed, random } = fleet;
  fill(fleet);
  let decisions = 0;
  const started = process.cpuUsage();
  while (decisions < DECISIONS) {
    const at = Math.floor(random() * placed.length);
    const leaving = placed[at];
    const last = placed.pop();
    if (!leaving || !last) break;
    if (last !== leaving) placed[at] = last;
    index.release(leaving);
    fleet.used -= leaving.gpuIds.length;
    decisions += fill(fleet);
  }
  const { user, system } = process.cpuUsage(started);
  return decisions / ((user + system) / 1e6);
}

/** Returns how many decisions it took. */
function fill(fleet: Fleet): number {
  let decisions = 0;
  while (fleet.used < fleet.gpus * LOAD) {
    const request = requests[Math.floor(fleet.random() * requests.length)];
    if (!request) break;
    const reply = chooseHost(fleet.index, request);
    decisions += 1;
    if ('reasons' in reply) continue;
    fleet.index.claim(reply);
    fleet.placed.push(reply);
    fleet.used += reply.gpuIds.length;
  }
  return decisions;
}
