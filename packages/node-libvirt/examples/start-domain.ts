/** Defines a domain from a file and starts it: tsx examples/start-domain.ts FILE.xml [socket] */
import { readFile } from 'node:fs/promises';
import { connect } from 'node-libvirt/connect';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { DEFINE } from 'node-libvirt/flags';
import { domainCreateWithFlags, domainDefineXmlFlags } from 'node-libvirt/generated/procedures';

const [file, socketPath = '/run/libvirt/libvirt-sock'] = process.argv.slice(2);
if (!file) throw new Error('usage: start-domain.ts FILE.xml [socket]');

const connection = await connect({ socketPath });
try {
  const xml = await readFile(file, 'utf8');
  const { dom } = await connection.call(domainDefineXmlFlags, { xml, flags: DEFINE.validate });
  await connection.call(domainCreateWithFlags, { dom, flags: 0 }, { timeoutMs: 30_000 });
  process.stdout.write(`${dom.name} runs\n`);
} catch (error) {
  if (!isLibvirtError(error, LIBVIRT_ERROR.operationInvalid)) throw error;
  process.stdout.write('it was running already\n');
} finally {
  await connection.close();
}
