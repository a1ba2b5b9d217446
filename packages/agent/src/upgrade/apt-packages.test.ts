import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFailure } from '../base/failure.ts';
import type { RunProgram } from '../base/run-program.ts';
import { aptPackages } from './apt-packages.ts';

/**
 * The real scripts run in a real shell. apt-get, dpkg-query and systemctl are recorders: `installed` has the version
 * that apt-get installed last, and the package of a version in `missing` does not exist.
 */
let directory: string;
let units: Record<string, string[]>;
let canStart: boolean;

const RECORDERS = {
  'apt-get': `case "$*" in
*install*) wanted=$(printf '%s\\n' "$*" | sed -n 's/.*gantry-agent=//p')
  if grep -qx "$wanted" missing 2> /dev/null; then echo "E: Version '$wanted' was not found" >&2; exit 100; fi
  echo "$wanted" > installed ;;
esac`,
  'dpkg-query': 'printf "installed %s" "$(cat installed)"',
  dpkg: '',
  systemctl: '',
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-upgrade-'));
  units = {};
  canStart = true;
  for (const [name, body] of Object.entries(RECORDERS)) {
    const script = `#!/bin/sh\ncd '${directory}' || exit 1\necho "${name} $*" >> calls\n${body}\n`;
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
  }
  await writeFile(join(directory, 'installed'), '1.0.0\n');
});
afterEach(() => rm(directory, { recursive: true }));

const env = () => ({ ...process.env, PATH: `${directory}:${process.env['PATH']}` });
/** systemd-run remembers the units, and the test decides when they run. */
const run: RunProgram = async (program, args) => {
  if (program !== 'systemd-run') {
    const { stdout } = await promisify(execFile)(join(directory, program), [...args]);
    if (program === 'systemctl' && args.includes('gantry-agent-upgrade-*-watchdog.timer'))
      for (const unit of Object.keys(units)) if (unit.endsWith('-watchdog')) delete units[unit];
    return stdout;
  }
  if (!canStart) throw new HostFailure('upgrade_failed', 'systemd-run: no bus');
  const end = args.indexOf('--');
  const unit = args.find((arg) => arg.startsWith('--unit='))?.slice('--unit='.length) ?? '';
  expect(args.slice(0, end)).toContain('--collect');
  units[unit] = args.slice(end + 1);
  return '';
};
/** A unit that was stopped does not run. */
const runUnit = async (unit: string) => {
  const [shell, ...args] = units[unit] ?? [];
  if (shell === undefined) return;
  await promisify(execFile)(shell, args, { env: env() }).catch(() => undefined);
};
const readCalls = async () => (await readFile(join(directory, 'calls'), 'utf8')).split('\n');
const readInstalled = async () => (await readFile(join(directory, 'installed'), 'utf8')).trim();

let nowMs = 1_000_000;
const packagesOf = (version: string) =>
  aptPackages({ version, stateDirectory: directory, run, nowMs: () => nowMs });
const ORDER = { id: '11112222-aaaa', version: '2.0.0', timeLimitSeconds: 60 };
const INSTALL = 'gantry-agent-upgrade-11112222-aaaa';
const WATCHDOG = `${INSTALL}-watchdog`;

describe('an order to install another version', () => {
  it('starts the watchdog with the time limit first, then the installation, which restarts the agent', async () => {
    await packagesOf('1.0.0').begin(ORDER);
    expect(Object.keys(units)).toEqual([WATCHDOG, INSTALL]);
    await runUnit(INSTALL);
    expect(await readInstalled()).toBe('2.0.0');
    expect((await readCalls()).at(-2)).toBe('systemctl restart gantry-agent.service');
    const next = packagesOf('2.0.0');
    expect(await next.readAttempt()).toMatchObject({ isConfirmed: false, failure: null });
  });

  it('is kept if the new agent was confirmed before the watchdog runs', async () => {
    await packagesOf('1.0.0').begin(ORDER);
    await runUnit(INSTALL);
    const next = packagesOf('2.0.0');
    const attempt = await next.readAttempt();
    if (attempt) await next.confirm(attempt);
    await runUnit(WATCHDOG);
    expect(await readInstalled()).toBe('2.0.0');
    expect(await next.readAttempt()).toMatchObject({ isConfirmed: true, failure: null });
  });

  it('is undone by the watchdog if the new agent was not confirmed in time', async () => {
    await packagesOf('1.0.0').begin(ORDER);
    await runUnit(INSTALL);
    await runUnit(WATCHDOG);
    expect(await readInstalled()).toBe('1.0.0');
    expect((await readCalls()).at(-2)).toBe('systemctl restart gantry-agent.service');
    const { failure } = (await packagesOf('1.0.0').readAttempt()) ?? {};
    expect(failure?.message).toBe(
      'version 2.0.0 did not reach the control plane in time; version 1.0.0 is installed again',
    );
  });

  it('ends the watchdog of the order before it', async () => {
    await packagesOf('1.0.0').begin(ORDER);
    await runUnit(INSTALL);
    const next = packagesOf('2.0.0');
    await next.begin({ ...ORDER, id: '11112222-bbbb', version: '3.0.0' });
    expect(Object.keys(units)).toContain('gantry-agent-upgrade-11112222-bbbb-watchdog');
    await runUnit('gantry-agent-upgrade-11112222-bbbb');
    await runUnit(WATCHDOG);
    expect(await readInstalled()).toBe('3.0.0');
  });

  it('fails with the message of apt if there is no such version, and changes nothing', async () => {
    await writeFile(join(directory, 'missing'), '2.0.0\n');
    const packages = packagesOf('1.0.0');
    await packages.begin(ORDER);
    await runUnit(INSTALL);
    await runUnit(WATCHDOG);
    expect(await readInstalled()).toBe('1.0.0');
    expect((await packages.readAttempt())?.failure?.message).toBe(
      "gantry-agent 2.0.0 could not be installed: E: Version '2.0.0' was not found",
    );
    expect((await readCalls()).filter((call) => call.startsWith('systemctl restart'))).toEqual([]);
  });

  it('fails at once if systemd does not start it, or if the agent is no package', async () => {
    canStart = false;
    const packages = packagesOf('1.0.0');
    await packages.begin(ORDER);
    expect((await packages.readAttempt())?.failure?.message).toBe('systemd-run: no bus');
    canStart = true;
    await rm(join(directory, 'dpkg-query'));
    await packages.begin({ ...ORDER, id: '33334444-bbbb' });
    const attempt = await packages.readAttempt();
    expect(attempt).toMatchObject({ id: '33334444-bbbb' });
    expect(attempt?.failure?.message).toContain('is not installed as a package');
  });

  it('has failed if the host was rebooted in the middle of it', async () => {
    const packages = packagesOf('1.0.0');
    await packages.begin(ORDER);
    expect((await packages.readAttempt())?.failure).toBeNull();
    nowMs += 181_000;
    expect((await packages.readAttempt())?.failure?.message).toContain('interrupted');
  });
});

it('a damaged file does not keep the agent from starting', async () => {
  await writeFile(join(directory, 'upgrade.json'), '{');
  expect(await packagesOf('1.0.0').readAttempt()).toBeNull();
});
