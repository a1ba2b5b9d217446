/** Lists every domain of the host with its state: tsx examples/list-domains.ts [socket] */
import { connect } from 'node-libvirt/connect';
import { DOMAIN_STATE } from 'node-libvirt/flags';
import { connectListAllDomains, domainGetState } from 'node-libvirt/generated/procedures';

const [socketPath = '/run/libvirt/libvirt-sock'] = process.argv.slice(2);
const nameOf = (state: number) =>
  Object.entries(DOMAIN_STATE).find(([, value]) => value === state)?.[0] ?? String(state);

const connection = await connect({ socketPath });
const { domains } = await connection.call(connectListAllDomains, { needResults: 1, flags: 0 });
for (const dom of domains) {
  const { state } = await connection.call(domainGetState, { dom, flags: 0 });
  process.stdout.write(`${dom.name}\t${nameOf(state)}\n`);
}
await connection.close();
