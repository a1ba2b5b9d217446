/**
 * npm start -- --real --storage ceph: a small Ceph cluster and two hosts on this machine, so that a newcomer can see a VM
 * move. It runs until it is stopped. Nothing stays behind: database, cluster, hosts and VMs are temporary.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listenForStop } from '@gantry/local/processes/stop-signals';
import { describeProblems } from '@gantry/local/real/describe-problems';
import { lookAtMachine } from '@gantry/local/real/look-at-machine';
import { missingForCeph } from '@gantry/local/real/look-at-storage';
import { makeSshKey } from '../real-host/guest/ssh.ts';
import { LOCATION, VM_TYPE } from '../real-host/real-cloud.ts';
import { type CephCloud, startCephCloud } from './ceph-cloud.ts';

const HOSTS = ['left', 'right'];
const root = path.resolve(import.meta.dirname, '../../../..');
const say = (text: string) => void process.stdout.write(text);

/** Checked before anything starts, so that the error is one clear list. */
async function findProblems(): Promise<string | undefined> {
  const findings = await lookAtMachine(undefined);
  return describeProblems({
    ...findings,
    missingForTrying: [...findings.missingForTrying, ...missingForCeph()],
    // Each of the two hosts gets a libvirtd of its own.
    libvirt: { state: 'startable' },
  });
}

async function main(): Promise<number> {
  const problems = await findProblems();
  if (problems !== undefined) throw new Error(problems);
  const stopped = new Promise<void>((resolve) =>
    listenForStop({ onFirst: resolve, onSecond: () => process.exit(1) }),
  );
  process.stdout.on('error', () => {});
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-cli-'));
  let cloud: CephCloud | undefined;
  try {
    say('Starting a Ceph cluster, the control plane and two hosts …\n');
    // A stop during the start takes effect when everything that has to be stopped is known.
    cloud = await startCephCloud(HOSTS);
    const { privateFile } = await makeSshKey(directory, 'key');
    say(renderLines({ cloud, directory, publicKeyFile: `${privateFile}.pub` }));
    await stopped;
    say('\nStopping, and removing everything …\n');
    return 0;
  } finally {
    await cloud?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

type Shown = { cloud: CephCloud; directory: string; publicKeyFile: string };

/** Every command works without changes, in the order in which it is printed. */
function renderLines({ cloud, directory, publicKeyFile }: Shown): string {
  const { credentials } = cloud.processes;
  const { url } = cloud;
  const create = ['--type', VM_TYPE, '--location', LOCATION, '--image', 'tiny'].join(' ');
  const curl = `curl -s -H "Authorization: Bearer $(curl -s -H 'Content-Type: application/json' -d '${JSON.stringify(
    {
      grant_type: 'password',
      email: credentials.operator_email,
      password: credentials.operator_password,
    },
  )}' ${url}/v0.1/auth/token | grep -o 'access_token":"[^"]*' | cut -d'"' -f3)"`;
  return `
Two hosts, ${HOSTS.join(' and ')}, and a Ceph cluster run on this machine. The disks of VMs are in the cluster. Ctrl-C stops and
removes everything.

  console      ${url}
  e-mail       ${credentials.operator_email}
  password     ${credentials.operator_password}

Log in with the command line, in another terminal:

  export XDG_CONFIG_HOME='${directory}'
  gantry() { node '${path.join(root, 'packages/cli/dist/main.mjs')}' "$@"; }
  echo '${credentials.operator_password}' | gantry login --server ${url} --email ${credentials.operator_email} --project ${credentials.project_id}

Create a VM, and see on which host it is:

  gantry storage pool list
  gantry vm create wanderer ${create} --ssh-key '${publicKeyFile}'
  gantry host list

Move it to the other host. Its guest is shut down, and its disk follows without a copy:

  gantry vm move wanderer --notice 'To see a VM move'
  gantry host list

The same with curl:

  ${curl} -H 'Content-Type: application/json' -d '{"notice": "And back"}' "${url}/v0.1/admin/vms/$(gantry vm show wanderer --output json | grep -o '"id": "[^"]*' | head -1 | cut -d'"' -f4):move"

`;
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
