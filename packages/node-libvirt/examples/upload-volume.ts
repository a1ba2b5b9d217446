/** Uploads a file to a new volume: tsx examples/upload-volume.ts POOL FILE [socket] */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { connect } from 'node-libvirt/connect';
import { storagePoolLookupByName, storageVolCreateXml } from 'node-libvirt/generated/procedures';
import { uploadVolume } from 'node-libvirt/volume-transfer';

const [poolName, file, socketPath = '/run/libvirt/libvirt-sock'] = process.argv.slice(2);
if (!poolName || !file) throw new Error('usage: upload-volume.ts POOL FILE [socket]');

const connection = await connect({ socketPath });
const { pool } = await connection.call(storagePoolLookupByName, { name: poolName });
const { size } = await stat(file);
const xml = `<volume><name>${basename(file)}</name><capacity>${size}</capacity></volume>`;
const { vol } = await connection.call(storageVolCreateXml, { pool, xml, flags: 0 });
await pipeline(createReadStream(file), await uploadVolume(connection, vol));
process.stdout.write(`${vol.key}\n`);
await connection.close();
