import { execute } from './execute.ts';
import { addNamespace, ownName, removeNamespace } from './namespaces.ts';

/**
 * The network between the hosts of one test process and the world outside: a namespace with a
 * bridge to which the uplink of every host is connected. It is created with the first host and
 * removed with the last.
 */
export const OUTSIDE_ADDRESS = '198.51.100.1';
export const UPLINK = 'uplink';
const PREFIX = '198.51.100.';
const FIRST_HOST = 10;

const plugged = new Set<number>();
/** Hosts may start concurrently, so the shared parts are created and removed under a queue. */
let turn: Promise<unknown> = Promise.resolve();

const outsideName = (): string => ownName('outside');

/** Returns what comes before a command that runs in the world outside. */
export function commandOutside(): string[] {
  return ['ip', 'netns', 'exec', outsideName()];
}

/** The router of the provider: it sends what is for a public address to the host of its VM. */
export async function routeFromOutside(publicAddress: string, hostAddress: string): Promise<void> {
  const route = ['route', 'replace', `${publicAddress}/32`, 'via', hostAddress];
  await execute('ip', '-n', outsideName(), ...route);
}

export type Plug = { address: string; pull(): Promise<void> };

/** Returns the host's own address there, and a function that disconnects the host. */
export function plugIn(namespace: string): Promise<Plug> {
  const plug = turn.then(() => plugInNow(namespace));
  turn = plug.catch(() => {});
  return plug;
}

async function plugInNow(namespace: string): Promise<Plug> {
  const outside = outsideName();
  if (plugged.size === 0) await addOutside(outside);
  const number = firstFree();
  plugged.add(number);
  const address = `${PREFIX}${number}`;
  const peer = `host${number}`;
  const link = ['link', 'add', UPLINK, 'netns', namespace, 'type', 'veth'];
  await execute('ip', ...link, 'peer', 'name', peer, 'netns', outside);
  await execute('ip', '-n', outside, 'link', 'set', peer, 'master', 'between', 'up');
  await execute('ip', '-n', namespace, 'address', 'add', `${address}/24`, 'dev', UPLINK);
  await execute('ip', '-n', namespace, 'link', 'set', UPLINK, 'up');
  await execute('ip', '-n', namespace, 'route', 'add', 'default', 'via', OUTSIDE_ADDRESS);
  return {
    address,
    pull() {
      const pulled = turn.then(async () => {
        plugged.delete(number);
        if (plugged.size === 0) await removeNamespace(outside);
      });
      turn = pulled.catch(() => {});
      return pulled;
    },
  };
}

async function addOutside(outside: string): Promise<void> {
  await addNamespace(outside);
  await execute('ip', '-n', outside, 'link', 'add', 'between', 'type', 'bridge');
  await execute('ip', '-n', outside, 'address', 'add', `${OUTSIDE_ADDRESS}/24`, 'dev', 'between');
  await execute('ip', '-n', outside, 'link', 'set', 'between', 'up');
}

function firstFree(): number {
  let number = FIRST_HOST;
  while (plugged.has(number)) number++;
  return number;
}
