import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { waitUntil } from '@gantry/local/base/wait-until';
import { unitFlags } from '../../support/unit-flags.ts';
import type { Lab } from '../machine/start-lab.ts';

/**
 * The agent in the lab's machine: the bundle as it is shipped, run as a process that can be killed.
 * It starts only when it is told to, also after the machine was reset.
 */
export type LabAgent = {
  /** Answers when it is ready. */
  start(env?: Record<string, string>): Promise<void>;
  /** As by kill -9; gone when it returns. */
  kill(): Promise<void>;
  /** One of its other commands, to its end: "inventory", "doctor". */
  command(line: string, env?: Record<string, string>): ReturnType<Lab['run']>;
  /** Everything its lives have logged. */
  log(): Promise<string>;
};

/** Node and the agent under emulation, beside other work. */
const READY_LIMIT_MS = 180_000;
/** Firmware under KVM in an emulated machine needs minutes. Without KVM the lab still has a use. */
const ACCELERATOR = { GANTRY_KVM_PROBE_SECONDS: '120', GANTRY_ALLOW_EMULATION: '1' };
const READY = /"msg":"ready"/;
const ENDED = 'the agent ended with';
const PID_FILE = '/run/gantry-agent.pid';
const NODE = ['node', ...unitFlags('gantry-agent'), '/share/agent/main.mjs'].join(' ');

export function labAgent(lab: Lab, environment: Record<string, string>): LabAgent {
  const log = () => readFile(path.join(lab.share, 'agent.log'), 'utf8').catch(() => '');
  const settings = (env: Record<string, string> = {}) =>
    Object.entries({ ...ACCELERATOR, ...environment, ...env })
      .map(([name, value]) => `${name}=${quote(value)}`)
      .join(' ');
  return {
    log,
    command: (line, env) => lab.run(`${settings(env)} ${NODE} ${line}`),
    async start(env) {
      const before = (await log()).length;
      // Says how it ended, for those who wait for it and those who read its log.
      const life = `${NODE} run & echo $! >${PID_FILE}; wait $!; echo "${ENDED} $?"`;
      const output = '</dev/null >>/share/agent.log 2>&1';
      await lab.ask(`${settings(env)} setsid bash -c ${quote(life)} ${output} &`);
      const condition = async () => {
        const said = (await log()).slice(before);
        return READY.test(said) || said.includes(ENDED) ? said : undefined;
      };
      const said = await waitUntil({ limitMs: READY_LIMIT_MS, condition });
      if (said !== undefined && !said.includes(ENDED)) return;
      throw new Error(`The agent is not ready:\n${(await log()).slice(before).slice(-4000)}`);
    },
    async kill() {
      const pid = `$(cat ${PID_FILE})`;
      await lab.ask(`kill -9 ${pid} && while kill -0 ${pid} 2>/dev/null; do sleep 0.1; done`);
    },
  };
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
