/** Prints domain events, also after the daemon restarts: tsx examples/watch-domains.ts [socket] */
import { createClient } from 'node-libvirt/client';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';

const [socketPath = '/run/libvirt/libvirt-sock'] = process.argv.slice(2);
const say = (text: string) => void process.stdout.write(`${text}\n`);

const client = createClient({ socketPath });
client.onConnected(async (connection) => {
  say('connected');
  await subscribe(connection, DOMAIN_EVENT.lifecycle, {
    listener: ({ domain, event, detail }) => say(`${domain.name} ${event} (${detail})`),
  });
  await subscribe(connection, DOMAIN_EVENT.deviceRemoved, {
    listener: ({ domain, alias }) => say(`${domain.name} lost ${alias}`),
  });
});
client.onDisconnected((reason) => say(`not connected: ${reason.message}`));
await client.connection();
process.once('SIGINT', () => void client.close());
