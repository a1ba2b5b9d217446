import { ApiError, createClient, OperationFailedError } from '@gantry/sdk';

const {
  GANTRY_URL = 'http://127.0.0.1:8080',
  GANTRY_ACCESS_KEY = '',
  SSH_PUBLIC_KEY = '',
} = process.env;
const gantry = createClient({ baseUrl: GANTRY_URL, credential: { accessKey: GANTRY_ACCESS_KEY } });
const print = (line: string) => process.stdout.write(`${line}\n`);

try {
  const { project_id } = await gantry.root.get();
  const { operation } = await gantry.vms.create({
    project_id,
    body: {
      name: 'trainer',
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
  await gantry.waitForOperation(
    { project_id, operation },
    { onStep: ({ metadata, state }) => print(`${metadata.operation_name} ${state}`) },
  );
  for await (const vm of gantry.vms.list({ project_id })) print(`${vm.name} ${vm.state}`);
} catch (error) {
  if (error instanceof ApiError) {
    print(`${error.code}: ${error.message} (request ${error.requestId})`);
    for (const { field, reason } of error.fields) print(`  ${field}: ${reason}`);
  } else if (error instanceof OperationFailedError) {
    print(`${error.code}: ${error.message}`);
  } else throw error;
}
