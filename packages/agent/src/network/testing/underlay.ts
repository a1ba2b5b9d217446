import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Guest } from './guest.ts';
import type { Lab } from './lab.ts';

const exec = promisify(execFile);

/**
 * The address of the host with this index. It is in a block that tenants use too, which must not
 * matter.
 */
export const underlayAddress = (index: number): string => `10.0.0.${101 + index}`;

/**
 * A switch between hosts, with another participant that is not a host. `close` it before the labs.
 */
export async function joinLabs(labs: readonly Lab[]) {
  const netns = `${labs[0]?.host.netns}-wire`;
  await exec('ip', ['netns', 'add', netns]);
  const stranger = new Guest(netns);
  const run = (line: string) => exec('ip', ['-n', netns, ...line.split(' ')]);
  const close = async () => {
    stranger.end();
    await exec('ip', ['netns', 'delete', netns]);
  };
  try {
    await run('link set lo up');
    await run('link add name switch type bridge stp_state 0 forward_delay 0');
    await run('address add 10.0.0.100/24 dev switch');
    await run('link set switch up');
    for (const [index, lab] of labs.entries()) {
      const far = `peer name under0 netns ${lab.host.netns}`;
      await run(`link add name port${index} type veth ${far}`);
      await run(`link set port${index} master switch up`);
      await lab.ip(`address add ${underlayAddress(index)}/24 dev under0`);
      await lab.ip('link set under0 up');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { stranger, close, nft: (...args: string[]) => stranger.run('nft', ...args) };
}
