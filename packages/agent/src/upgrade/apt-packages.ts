import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { type Failure, HostFailure } from '../base/failure.ts';
import { programRunner, type RunProgram } from '../base/run-program.ts';
import type { AgentPackages, UpgradeAttempt, UpgradeOrder } from './agent-packages.ts';
import { INSTALL_SCRIPT, WATCHDOG_SCRIPT } from './upgrade-scripts.ts';

type AptOptions = {
  /** The version of the agent that runs. */
  version: string;
  stateDirectory: string;
  nowMs?: () => number;
  run?: RunProgram;
};

/** What the agent stores about the last order before anything is done for it. */
type StoredOrder = UpgradeOrder & { begunAtMs: number };

const PACKAGE = 'gantry-agent';
const CONFIRMED = 'confirmed';
const FAILED = /^failed /;
/** After this multiple of the time limit, the programs that carry out the order were ended by a reboot. */
const INTERRUPTED_AFTER = 3;

/**
 * Replaces the agent with apt, from the repositories of the host. `upgrade.json` in the state directory has the last
 * order, `upgrade.outcome` what became of it: the scripts and the agent write it. The watchdog is started before the
 * installation, so that it also judges an installation that hangs.
 */
export function aptPackages(options: AptOptions): AgentPackages {
  const {
    version,
    stateDirectory,
    nowMs = Date.now,
    run = programRunner('upgrade_failed'),
  } = options;
  const orderFile = join(stateDirectory, 'upgrade.json');
  const outcomeFile = join(stateDirectory, 'upgrade.outcome');
  const writeOutcome = (id: string, outcome: string) =>
    replaceFile(outcomeFile, `${id} ${outcome}\n`, 0o600);

  const readAttempt = async (): Promise<UpgradeAttempt | null> => {
    const text = await unlessMissing(readFile(orderFile, 'utf8'));
    if (text === undefined) return null;
    const order = parseOrder(text);
    if (!order) return null;
    const written = (await unlessMissing(readFile(outcomeFile, 'utf8'))) ?? '';
    const outcome = written.startsWith(`${order.id} `) ? written.slice(order.id.length + 1) : '';
    const isConfirmed = outcome.trim() === CONFIRMED;
    const failure = isConfirmed ? null : failureOf(order, outcome.trim());
    return { id: order.id, version: order.version, isConfirmed, failure };
  };

  const failureOf = (order: StoredOrder, outcome: string): Failure | null => {
    const failed = (message: string) => ({
      ...{ code: 'upgrade_failed', message },
      sinceMs: order.begunAtMs,
    });
    if (FAILED.test(outcome)) return failed(outcome.replace(FAILED, ''));
    const limitMs = INTERRUPTED_AFTER * 1_000 * order.timeLimitSeconds;
    const isInterrupted = order.version !== version && nowMs() > order.begunAtMs + limitMs;
    return isInterrupted ? failed('it was interrupted, such as by a reboot of the host') : null;
  };

  const start = async (order: UpgradeOrder, previous: string) => {
    const unit = `${PACKAGE}-upgrade-${order.id}`;
    const service = `${unit}.service`;
    const words = [order.id, order.version, previous, outcomeFile];
    const limit = `--on-active=${order.timeLimitSeconds}s`;
    const timer = [limit, '--timer-property=AccuracySec=1s', `--unit=${unit}-watchdog`];
    const program = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, unit, ...args];
    // The agent that runs has received a spec, so the watchdog of an earlier order has nothing left to judge.
    await run('systemctl', ['stop', `${PACKAGE}-upgrade-*-watchdog.timer`]);
    await run('systemd-run', [
      ...['--collect', ...timer, '--'],
      ...program(WATCHDOG_SCRIPT, ...words, service),
    ]);
    await run('systemd-run', [
      ...['--collect', `--unit=${unit}`, '--'],
      ...program(INSTALL_SCRIPT, ...words),
    ]);
  };

  return {
    version,
    readAttempt,
    async begin(order) {
      const stored: StoredOrder = { ...order, begunAtMs: nowMs() };
      // Stored before anything is done, so that an order that ends the agent is not tried again.
      await replaceFile(orderFile, JSON.stringify(stored), 0o600);
      try {
        await start(order, await readInstalledVersion(run));
      } catch (error) {
        if (!(error instanceof HostFailure)) throw error;
        await writeOutcome(order.id, `failed ${error.message}`);
      }
    },
    confirm: ({ id }) => writeOutcome(id, CONFIRMED),
  };
}

/** A damaged file must not keep the agent from starting. */
function parseOrder(text: string): StoredOrder | null {
  try {
    return JSON.parse(text) as StoredOrder;
  } catch {
    return null;
  }
}

async function readInstalledVersion(run: RunProgram): Promise<string> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the format of dpkg-query
  const format = '${db:Status-Status} ${Version}';
  const printed = await run('dpkg-query', ['-W', '-f', format, PACKAGE]).catch(() => '');
  const [status, version] = printed.trim().split(' ');
  if (status === 'installed' && version) return version;
  throw new HostFailure(
    'upgrade_failed',
    `${PACKAGE} is not installed as a package on this host: replace it as it was installed`,
  );
}
