import { describe, expect, it } from 'vitest';

const script = (name: string) => new URL(`../../scripts/${name}.mjs`, import.meta.url).href;
const { readTestArguments, SUITE_NAMES } = await import(script('test-arguments'));
const { programFor } = await import(script('launcher'));
const { affectedProcesses } = await import(script('dev-restarts'));

describe('npm start', () => {
  it.each([
    ['--real', '--storage', 'ceph'],
    ['--storage=ceph', '--real'],
  ])('with %s %s %s starts the launcher with a storage cluster', (...args) =>
    expect(programFor(args.filter(Boolean)).at(-1)).toMatch(/show-moving-vm\.ts$/),
  );

  it('passes all other arguments to the launcher', () => {
    expect(programFor(['--real']).slice(-2)).toEqual([
      expect.stringMatching(/packages\/local\/dist\/main\.mjs$/),
      '--real',
    ]);
  });

  it.each([
    [['--storage', 'ceph'], 'needs --real'],
    [['--real', '--storage', 'nfs'], 'the only storage is ceph'],
    [['--real', '--storage'], 'the only storage is ceph'],
    [['--real', '--storage', 'ceph', '--more'], 'nothing else'],
  ])('refuses %j', (args, message) => expect(() => programFor(args)).toThrow(message));
});

describe('npm test', () => {
  it('runs the checks and every suite without arguments', () => {
    expect(readTestArguments([])).toEqual({ checks: true, suites: SUITE_NAMES, only: [] });
  });

  it('runs the named suites alone, in the usual order', () => {
    expect(readTestArguments(['pg18', 'unit'])).toEqual({
      checks: false,
      suites: ['unit', 'pg18'],
      only: [],
    });
  });

  it('runs the checks if they are named', () => {
    expect(readTestArguments(['check'])).toEqual({ checks: true, suites: [], only: [] });
  });

  it.each([
    ['packages/model/src/cidr.test.ts', 'unit'],
    ['packages/api/src/server.pg.test.ts', 'pg18'],
    ['test/scenarios/processes/kills.system.test.ts', 'system'],
    ['test/libvirt/kills.libvirt.test.ts', 'libvirt'],
    ['packages/ceph/src/ceph-cluster.ceph.test.ts', 'ceph'],
    ['test/lab/vm.lab.test.ts', 'lab'],
    ['test/install/debian-12.install.test.ts', 'install-all'],
    ['test/install/short.install.test.ts', 'install'],
    ['packages/model', 'unit'],
  ])('with --only %s runs the suite %s', (path, suite) => {
    expect(readTestArguments(['--only', path])).toEqual({
      checks: false,
      suites: [suite],
      only: [path],
    });
  });

  it('with --only and a suite runs that suite', () => {
    const path = 'packages/api/src/server.pg.test.ts';
    expect(readTestArguments(['pg15', '--only', path])).toEqual({
      checks: false,
      suites: ['pg15'],
      only: [path],
    });
  });

  it('refuses an unknown suite and lists the known ones', () => {
    expect(() => readTestArguments(['unit', 'pg17'])).toThrow(
      /There is no suite "pg17".*Suites: check, unit, pg18, pg15, system, browser, ceph, libvirt, lab-short, install, lab, faults, install-all/s,
    );
  });

  it('refuses an unknown option and shows the usage', () => {
    expect(() => readTestArguments(['--onyl', 'x'])).toThrow(/--onyl.*usage: npm test/s);
  });
});

describe('npm run dev', () => {
  const build = { api: 'a', scheduler: 's', agent: 'g', simulator: 'f', local: 'l' };

  it('restarts the processes whose bundle changed', () => {
    const after = { ...build, api: 'a2', simulator: 'f2' };
    expect(affectedProcesses(build, after)).toEqual({ restart: ['api', 'fleet'], relaunch: false });
  });

  it('restarts nothing if no bundle changed', () => {
    expect(affectedProcesses(build, { ...build })).toEqual({ restart: [], relaunch: false });
  });

  it('restarts everything if the launcher changed', () => {
    expect(affectedProcesses(build, { ...build, local: 'l2' }).relaunch).toBe(true);
  });
});
