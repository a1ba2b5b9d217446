import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { MIB } from '@gantry/daemon/units';
import {
  makeFileSystem,
  type TestFileSystem,
} from '@gantry/testkit/real-host/file-systems/quota-file-system';
import { asVirtiofsd } from '@gantry/testkit/real-host/file-systems/virtiofsd-rights';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunProgram } from '../../base/run-program.ts';
import { chooseProject } from './choose-project.ts';
import { listUnlimited } from './list-unlimited.ts';
import { projectPrograms } from './project-programs.ts';
import { sharedDriver } from './shared-driver.ts';
import { dataOf, openLimitedVolumes, runForReal, sharedDisk } from './testing/limited-volumes.ts';

const programs = projectPrograms(runForReal);
const REFUSED = /quota exceeded/i;
const FILL = (mib: number) => `dd if=/dev/zero of=large bs=1M count=${mib}; du -m -s .`;

let system: TestFileSystem;
let directory = '';

beforeEach(async () => {
  system = await makeFileSystem('shared', { sizeMib: 256 });
  directory = join(system.mountPoint, 'shared');
});
afterEach(() => system?.remove());

const open = (options: Partial<Parameters<typeof openLimitedVolumes>[0]> = {}) =>
  openLimitedVolumes({ directory, ...options });
const projectOf = async (id: string) => (await programs.readProject(dataOf(directory, id))).id;
/** Those that have a limit or use something, except the one of everything that has no other. */
const usedProjects = async () =>
  [...(await programs.listUsed(system.mountPoint))].filter((id) => id !== 0).sort();
const sizeOf = async (path: string) => {
  const { blocks, bsize } = await statfs(path);
  return blocks * bsize;
};

describe('a shared volume with a limit', () => {
  it('refuses writes of virtiofsd beyond its size, and its neighbours are not affected', async () => {
    const volumes = open();
    await volumes.create(sharedDisk('full', 16), null);
    await volumes.create(sharedDisk('neighbour', 16), null);
    const said = await asVirtiofsd(dataOf(directory, 'full'), FILL(64));
    expect(said).toMatch(REFUSED);
    expect(Number(/^(\d+)\t\.$/m.exec(said)?.[1])).toBeLessThanOrEqual(16);
    const beside = await asVirtiofsd(dataOf(directory, 'neighbour'), FILL(8));
    expect(beside).not.toMatch(REFUSED);
    expect(beside).toContain(`${8 * MIB} bytes`);
  });

  it('refuses more files than one for each 16 KiB', async () => {
    await open().create(sharedDisk('d', 1), null);
    const said = await asVirtiofsd(
      dataOf(directory, 'd'),
      'for i in $(seq 70); do touch file$i || break; done; ls | wc -l',
    );
    expect(said).toMatch(REFUSED);
    // The directory itself is one of 64.
    expect(said).toMatch(/^63$/m);
  });

  it('looks like a file system of its size, also in deeper directories', async () => {
    await open().create(sharedDisk('d', 16), null);
    await mkdir(join(dataOf(directory, 'd'), 'deep'));
    expect(await sizeOf(dataOf(directory, 'd'))).toBe(16 * MIB);
    expect(await sizeOf(join(dataOf(directory, 'd'), 'deep'))).toBe(16 * MIB);
    expect(await sizeOf(directory)).toBeGreaterThan(128 * MIB);
  });

  it('can be filled further after it has grown under a guest', async () => {
    const volumes = open();
    await volumes.create(sharedDisk('d', 16), null);
    expect(await asVirtiofsd(dataOf(directory, 'd'), FILL(24))).toMatch(REFUSED);
    volumes.inUse.add('d');
    await volumes.prepareGrowth(sharedDisk('d', 32));
    expect(await asVirtiofsd(dataOf(directory, 'd'), FILL(24))).not.toMatch(REFUSED);
    expect(await asVirtiofsd(dataOf(directory, 'd'), FILL(48))).toMatch(REFUSED);
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(32 * MIB) });
  });

  it('frees its project when it is removed', async () => {
    const volumes = open();
    await volumes.create(sharedDisk('d', 16), null);
    await asVirtiofsd(dataOf(directory, 'd'), `mkdir -p deep/er; cd deep/er; ${FILL(4)}`);
    expect(await usedProjects()).toEqual([await projectOf('d')]);
    await volumes.remove('d');
    expect(await usedProjects()).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('shares its project with no other, also if two agents create many at the same time', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `disk-${index}`);
    // Within an agent the search always starts at the same number here.
    const agents = [open({ start: 0 }), open({ start: 1_000 })];
    await Promise.all(
      ids.map((id, index) => agents[index % agents.length]?.create(sharedDisk(id, 1), null)),
    );
    const projects = await Promise.all(ids.map(projectOf));
    expect(new Set(projects).size).toBe(ids.length);
    for (const id of ids) expect(await sizeOf(dataOf(directory, id))).toBe(MIB);
  });

  it('keeps its limit if several agents create it at the same time', async () => {
    const agents = [open(), open(), open()];
    await Promise.allSettled(agents.map((each) => each.create(sharedDisk('d', 16), null)));
    for (const each of agents) await each.create(sharedDisk('d', 16), null);
    expect(await sizeOf(dataOf(directory, 'd'))).toBe(16 * MIB);
    expect(await usedProjects()).toEqual([await projectOf('d')]);
  });

  it('takes no project that others limit, use, or have set on the directory above', async () => {
    const start = 12_345;
    const limited = chooseProject(() => false, start);
    const used = chooseProject((id) => id === limited, start);
    await programs.limit(system.mountPoint, limited, { kib: 4, inodes: 4 });
    await mkdir(join(system.mountPoint, 'other'));
    await programs.assign(join(system.mountPoint, 'other'), used);
    await mkdir(directory);
    await programs.assign(directory, 7);
    await open({ start }).create(sharedDisk('d', 16), null);
    const project = await projectOf('d');
    expect([limited, used, 7, 0]).not.toContain(project);
    expect(await sizeOf(dataOf(directory, 'd'))).toBe(16 * MIB);
    await open().remove('d');
    expect(await usedProjects()).toEqual([7, limited, used].sort());
  });

  it('is completed by the next attempt if an agent dies at any step of its creation', async () => {
    let steps = 0;
    for (let last = false; !last; ) {
      const diesAt = steps;
      let died: (isDead: boolean) => void = () => {};
      const dead = new Promise<boolean>((resolve) => {
        died = resolve;
      });
      let step = 0;
      // An agent that has died does nothing any more, and does not clean up.
      const run: RunProgram = async (...call) => {
        if (step < diesAt) {
          step += 1;
          return await runForReal(...call);
        }
        died(true);
        return await new Promise(() => {});
      };
      const created = open({ run }).create(sharedDisk('d', 16), null);
      last = !(await Promise.race([dead, created.then(() => false)]));
      await open().create(sharedDisk('d', 16), null);
      expect(await sizeOf(dataOf(directory, 'd'))).toBe(16 * MIB);
      expect(await readdir(directory)).toEqual(['d']);
      expect(await usedProjects()).toEqual([await projectOf('d')]);
      await open().remove('d');
      expect(await usedProjects()).toEqual([]);
      steps += 1;
    }
    expect(steps).toBeGreaterThan(3);
  });

  it('is not made, and nothing is left, if its limit cannot be set or is not in force', async () => {
    const failing: RunProgram = (program, args, options) =>
      program === 'setquota'
        ? Promise.reject(new Error('it fails'))
        : runForReal(program, args, options);
    await expect(open({ run: failing }).create(sharedDisk('d', 16), null)).rejects.toThrow();
    await runForReal('quotaoff', ['-P', system.mountPoint]);
    await expect(open().create(sharedDisk('d', 16), null)).rejects.toMatchObject({
      message: expect.stringContaining(`quotaon -P ${system.mountPoint}`),
    });
    expect(await readdir(directory)).toEqual([]);
    await runForReal('quotaon', ['-P', system.mountPoint]);
    expect(await usedProjects()).toEqual([]);
    await open().create(sharedDisk('d', 16), null);
  });

  it('has its limit again when it is next used, if other programs have removed the limit', async () => {
    const volumes = open();
    await volumes.create(sharedDisk('d', 16), null);
    await programs.limit(system.mountPoint, await projectOf('d'), { kib: 0, inodes: 0 });
    expect(await listUnlimited(directory)).toEqual(['d']);
    volumes.inUse.add('d');
    await volumes.locate(sharedDisk('d', 16));
    expect(await sizeOf(dataOf(directory, 'd'))).toBe(16 * MIB);
    expect(await listUnlimited(directory)).toEqual([]);
  });
});

describe('a shared volume from before there were quotas', () => {
  const ODD = `mkdir -p deep/er; echo a >deep/er/a; mkfifo pipe; ln -s /etc/passwd link; ln -s deep loop;
    echo b >"$(printf 'odd\\377 \\n name')"; echo c >-c; dd if=/dev/zero of=large bs=1M count=8`;

  beforeEach(async () => {
    const volumes = sharedDriver({ directory, isInUse: async () => false });
    await volumes.create(sharedDisk('old', 16), null);
    await asVirtiofsd(dataOf(directory, 'old'), ODD);
    expect(await listUnlimited(directory)).toEqual(['old']);
  });

  it('is limited with all its content when a VM with it starts', async () => {
    const volumes = open();
    await volumes.locate(sharedDisk('old', 16));
    expect(volumes.problems).toEqual([]);
    expect(await listUnlimited(directory)).toEqual([]);
    const data = dataOf(directory, 'old');
    const { bavail, bsize } = await statfs(data);
    expect(bavail * bsize).toBeLessThan(8 * MIB);
    for (const name of ['.', 'deep', 'deep/er', 'deep/er/a', '-c', 'large'])
      expect((await programs.readProject(join(data, name))).id).toBe(await projectOf('old'));
    expect(await asVirtiofsd(data, 'mv large deep/er/; echo moved; rm -r deep; cat ./-c')).toBe(
      'moved\nc\n',
    );
    expect(await asVirtiofsd(data, FILL(24))).toMatch(REFUSED);
  });

  it('is left alone while a running VM has it, also if it grows', async () => {
    const volumes = open();
    volumes.inUse.add('old');
    await volumes.locate(sharedDisk('old', 16));
    await volumes.prepareGrowth(sharedDisk('old', 32));
    expect(await projectOf('old')).toBe(0);
    expect(volumes.problems).toEqual(Array(2).fill(expect.stringContaining('a running VM has it')));
    expect(await volumes.read('old')).toMatchObject({ sizeBytes: String(32 * MIB) });
  });

  it('is left alone if it has too many files', async () => {
    const volumes = open({ mostEntries: 5 });
    await volumes.locate(sharedDisk('old', 16));
    expect(await projectOf('old')).toBe(0);
    expect(volumes.problems).toEqual([expect.stringContaining('more than 5 files')]);
  });

  it('is limited with everything by the next agent if one dies at any step', async () => {
    for (let diesAt = 0; diesAt < 6; diesAt += 1) {
      let step = 0;
      let died = () => {};
      const dead = new Promise<void>((resolve) => {
        died = resolve;
      });
      const run: RunProgram = async (...call) => {
        step += 1;
        if (step <= diesAt) return await runForReal(...call);
        died();
        return await new Promise(() => {});
      };
      await Promise.race([dead, open({ run }).locate(sharedDisk('old', 16))]);
      await open().locate(sharedDisk('old', 16));
      const project = await projectOf('old');
      const { id } = await programs.readProject(join(dataOf(directory, 'old'), 'deep/er/a'));
      expect(id).toBe(project);
      expect(await listUnlimited(directory)).toEqual([]);
      expect(await usedProjects()).toEqual([project]);
      // As before there were quotas.
      await programs.limit(system.mountPoint, project, { kib: 0, inodes: 0 });
      await runForReal('chattr', ['-R', '-f', '-p', '0', '-P', dataOf(directory, 'old')]).catch(
        () => {},
      );
      expect(await usedProjects()).toEqual([]);
    }
  });

  it('that has more than its size already can be read and emptied, and not filled', async () => {
    const data = dataOf(directory, 'old');
    await asVirtiofsd(data, FILL(24));
    await open().locate(sharedDisk('old', 16));
    const write = 'dd if=/dev/zero of=more bs=64k count=1; cat ./-c';
    expect(await asVirtiofsd(data, write)).toMatch(/quota exceeded(.|\n)*c\n$/i);
    await rm(join(data, 'large'));
    expect(await asVirtiofsd(data, write)).not.toMatch(REFUSED);
  });
});

describe('a file system without quotas', () => {
  it('has shared volumes whose sizes are recorded, also on a file system for quotas', async () => {
    await runForReal('umount', [system.mountPoint]);
    await runForReal('mount', [
      '-o',
      'loop',
      join(system.mountPoint, '../image'),
      system.mountPoint,
    ]);
    const volumes = open({ run: () => Promise.reject(new Error('BUG: a program was started')) });
    await volumes.create(sharedDisk('d', 16), null);
    await volumes.prepareGrowth(sharedDisk('d', 32));
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(32 * MIB) });
    expect(volumes.problems).toEqual([]);
    await volumes.remove('d');
    expect(await readdir(directory)).toEqual([]);
  });
});
