import type { Connection } from '../home/credentials.ts';
import type { DemoKey } from '../home/demo-key.ts';
import { LOCATION, VM_TYPE } from './offer-tiny-guest.ts';
import type { Offered } from './real-host.ts';

type RealWelcome = { connection: Connection; key: DemoKey } & Offered;

const NAME = 'real';
/** A guest's host key is always new, and an emulated guest boots slowly. */
const SSH_OPTIONS = [
  'IdentitiesOnly=yes',
  'StrictHostKeyChecking=no',
  'UserKnownHostsFile=/dev/null',
  'LogLevel=ERROR',
  'ConnectionAttempts=30',
  'ConnectTimeout=20',
]
  .map((option) => `-o ${option}`)
  .join(' ');

/** What --real adds to the terminal's output. Every command works without changes. */
export function renderRealWelcome({ connection, key, image, networkId }: RealWelcome): string {
  const { base_url, project_id, access_key } = connection;
  const project = `${base_url}/v0.1/projects/${project_id}`;
  const curl = `curl -s -H 'Authorization: Bearer ${access_key}'`;
  const post = (where: string, body: object) =>
    `${curl} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' '${project}${where}'`;
  const rule = post('/vpc/firewall-rules', {
    ...{ name: 'ssh', vpc_network_id: networkId, action: 'allow', direction: 'ingress' },
    ...{ protocols: ['tcp'], destination_ports: ['22'] },
    ...{ sources: [{ cidr: '0.0.0.0/0' }], destinations: [] },
  });
  const vm = post('/vms', {
    ...{ name: NAME, type: VM_TYPE, location: LOCATION, image },
    ssh_public_key: key.publicLine,
  });
  const look = `${curl} '${project}/vms?names=${NAME}'`;
  const address = `${look} | grep -o 'STATE_RUNNING","ssh_destination":"[0-9.]*' | grep -o '[0-9.]*$'`;
  return `This machine is a host in location ${LOCATION}. A VM there is real and runs in QEMU. Its GPUs are
stand-ins: the API shows them, but the VM does not have them.

Allow SSH, create a real VM, and log in when it has booted:

  ${rule}

  ${vm}

  ssh -i '${key.identityFile}' ${SSH_OPTIONS} root@$(until ${address}; do sleep 1; done)

`;
}
