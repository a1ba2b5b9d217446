import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Firewall } from '../../host-driver.ts';
import { bundleProgram } from '../../testing/bundle-program.ts';
import type { MortalNetworkOrder } from './mortal-network-program.ts';

const SOURCE = fileURLToPath(new URL('./mortal-network-program.ts', import.meta.url));

export type Life = {
  /** Applied in turn, endlessly or for this many turns. */
  firewalls: readonly Firewall[];
  turns?: number;
  /** Counted from its first step. Absent: it is not killed. */
  killAfterMs?: number;
};

/** How it ended, how many firewalls were complete, and how long it worked. */
export type EndedLife = { code: number | null; signal: string | null; whole: number; ms: number };

/** Runs the network part of agents as processes, one after the other. */
export async function openMortalNetwork(place: Pick<MortalNetworkOrder, 'netns' | 'uplink'>) {
  const scratch = await mkdtemp(join(tmpdir(), 'gantry-mortal-network-'));
  const program = join(scratch, 'program.mjs');
  await bundleProgram(SOURCE, program);
  return {
    async live({ firewalls, turns, killAfterMs }: Life): Promise<EndedLife> {
      const order: MortalNetworkOrder = { ...place, firewalls, turns: turns ?? null };
      const life = spawn(process.execPath, [program, JSON.stringify(order)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines: string[] = [];
      let beganMs = performance.now();
      let timer: NodeJS.Timeout | undefined;
      createInterface({ input: life.stdout }).on('line', (line) => {
        lines.push(line);
        if (line !== 'begun') return;
        beganMs = performance.now();
        if (killAfterMs === undefined) return;
        timer = setTimeout(() => life.kill('SIGKILL'), killAfterMs);
      });
      const [code, signal] = await once(life, 'close');
      clearTimeout(timer);
      const whole = lines.filter((line) => line === 'whole').length;
      return { code, signal, whole, ms: performance.now() - beganMs };
    },
    close: () => rm(scratch, { recursive: true, force: true }),
  };
}
