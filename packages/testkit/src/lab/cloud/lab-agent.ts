import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { waitUntil } from '@gantry/local/base/wait-until';
import { unitFlags } from '../../processes/unit-flags.ts';
import type { Lab } from '../machine/start-lab.ts';

/**
 * The agent in the lab's machine: the bundle that is shipped, as a process that can be killed. Only
 * `start` starts it, also after a reset of the machine.
 */
export type LabAgent = {
  /** Returns when the agent is ready. */
  start(env?: Record<string, string>): Promise<void>;
  /** Kills the agent with SIGKILL and waits until its process is gone. */
  kill(): Promise<void>;
  /** Runs another command of the agent to its end: "inventory", "doctor". */
  command(line: string, env?: Record<string, string>): ReturnType<Lab['run']>;
  /** Everything that the agent has logged since the lab's start, across restarts. */
  log(): Promise<string>;
};

/** Node, the agent and its probe of KVM are slow under emulation, above all on a busy computer. */
const READY_LIMIT_MS = 1_200_000;
/** Firmware under KVM in an emulated machine needs minutes. Without KVM the lab still has a use. */
const ACCELERATOR = { GANTRY_KVM_PROBE_SECONDS: '600', GANTRY_ALLOW_EMULATION: '1' };
const READY = /"msg":"ready"/;
const ENDED = 'the agent ended with';
const PID_FILE = '/run/gantry-agent.pid';
const NODE = ['node', ...unitFlags('gantry-agent'), '/share/agent/main.mjs'].join(' ');

export function labAgent(lab: Lab, environment: Record<string, string>): LabAgent {
  const log = () => readLog(lab);
  const settings = (env: Record<string, string> = {}) =>
    Object.entries({ ...ACCELERATOR, ...environment, ...env })
      .map(([name, value]) => `${name}=${quote(value)}`)
      .join(' ');
  return {
    log,
    command: (line, env) => lab.run(`${settings(env)} ${NODE} ${line}`),
    async start(env) {
      const before = (await log()).length;
      // The log shows how the agent ended, which also ends the wait below.
      const life = `${NODE} run & echo $! >${PID_FILE}; wait $!; echo "${ENDED} $?"`;
      const output = '</dev/null >>/share/agent.log 2>&1';
      await lab.ask(`${settings(env)} setsid bash -c ${quote(life)} ${output} &`);
      await untilReady(lab, before);
    },
    async kill() {
      const pid = `$(cat ${PID_FILE})`;
      await lab.ask(`kill -9 ${pid} && while kill -0 ${pid} 2>/dev/null; do sleep 0.1; done`);
    },
  };
}

/**
 * The agent of a stock server: the unit that operators install. It also starts when the machine boots.
 */
export function labAgentUnit(lab: Lab, environment: Record<string, string>): LabAgent {
  const unit = 'gantry-agent';
  return {
    log: () => readLog(lab),
    command: (line) => lab.run(`set -a; . /etc/gantry/agent.env; set +a; ${NODE} ${line}`),
    async start(env) {
      const before = (await readLog(lab)).length;
      const settings = Object.entries({ ...ACCELERATOR, ...environment, ...env });
      const lines = settings.map(([name, value]) => `${name}=${value}`).join('\n');
      await lab.ask(`mkdir -p /etc/gantry && echo ${quote(lines)} >/etc/gantry/agent.env`);
      // The first look at QEMU takes libvirt longer than the agent waits for a call.
      await lab.ask('virsh -c qemu:///system domcapabilities >/dev/null');
      await lab.ask(`systemctl enable ${unit} && systemctl restart ${unit} && sync`);
      await untilReady(lab, before);
    },
    kill: async () => void (await lab.ask(`systemctl kill -s KILL ${unit}`)),
  };
}

function readLog(lab: Lab): Promise<string> {
  return readFile(path.join(lab.share, 'agent.log'), 'utf8').catch(() => '');
}

/** `before`: the length of the log before the agent was started. */
async function untilReady(lab: Lab, before: number): Promise<void> {
  const condition = async () => {
    const text = (await readLog(lab)).slice(before);
    return READY.test(text) || text.includes(ENDED) ? text : undefined;
  };
  const started = await waitUntil({ limitMs: READY_LIMIT_MS, condition });
  if (started !== undefined && !started.includes(ENDED)) return;
  const said = (await readLog(lab)).slice(before).slice(-4000);
  throw new Error(`The agent is not ready:\n${said}`);
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
