import type { Connection } from './home/credentials.ts';

type Welcome = { connection: Connection; connectionFile: string; sshPublicKey: string };

/** What the terminal shows when everything runs. Every command works without changes. */
export function renderWelcome({ connection, connectionFile, sshPublicKey }: Welcome): string {
  const { base_url, project_id, access_key, operator_email, operator_password } = connection;
  const project = `${base_url}/v0.1/projects/${project_id}`;
  const authorization = `-H 'Authorization: Bearer ${access_key}'`;
  const vm = JSON.stringify({
    name: 'demo',
    type: 'a40.1x',
    location: 'eu-north-a',
    image: 'debian-12',
    ssh_public_key: sshPublicKey,
  });
  return `
Gantry is running. Open the console in a browser and log in. Ctrl-C stops it.

  console      ${base_url}
  e-mail       ${operator_email}
  password     ${operator_password}
  API          ${base_url}/v0.1
  access key   ${access_key}
  all of it    ${connectionFile}

Show which VM types are available:

  curl -s ${authorization} '${project}/availabilities'

Create a VM:

  curl -s -X POST ${authorization} -H 'Content-Type: application/json' -d '${vm}' '${project}/vms'

Show the VM. It runs within seconds, with its addresses and disks:

  curl -s ${authorization} '${project}/vms?names=demo'

Show the operations and how they ended:

  curl -s ${authorization} '${project}/vms/operations'

`;
}
