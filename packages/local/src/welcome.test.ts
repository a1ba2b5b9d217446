import { expect, it } from 'vitest';
import { renderWelcome } from './welcome.ts';

it('the first fact that a start prints is the address of the console', () => {
  const connection = {
    ...{ base_url: 'http://127.0.0.1:8080', project_id: 'p', access_key: 'gantry_ak_1' },
    ...{ operator_email: 'operator@gantry.local', operator_password: 'secret' },
  };
  const text = renderWelcome({
    connection,
    connectionFile: 'c.json',
    sshPublicKey: 'ssh-ed25519 A',
  });
  const [first] = text.split('\n').filter((line) => line.startsWith('  '));
  expect(first).toMatch(/^ {2}console +http:\/\/127\.0\.0\.1:8080$/);
});
