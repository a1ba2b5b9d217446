import { QCOW2_HEADER_BYTES, QCOW2_MAGIC } from '../images/qcow2-header.ts';

const CLUSTER_BITS = 16;
const CLUSTER_BYTES = 1 << CLUSTER_BITS;
/**
 * What one entry of the L1 table maps: an L2 table of one cluster, with eight bytes per cluster.
 */
const MAPPED_BYTES = (CLUSTER_BYTES / 8) * CLUSTER_BYTES;
/** As a power of two: 16 bits per reference count. */
const REFCOUNT_ORDER = 4;
const BACKING_FORMAT = 0xe2_79_2a_ca;
const LONGEST_NAME_BYTES = 1023;

export type Overlay = { sizeBytes: number; backing: { path: string; format: 'raw' | 'qcow2' } };

/**
 * Returns the bytes of an empty qcow2 disk over an image: header, refcount table, first refcount
 * block and an empty L1 table. It is built here because `qemu-img create` would take longer than
 * all other work of the agent for a VM's start, and would continue to write after the agent was
 * killed.
 */
export function renderOverlay({ sizeBytes, backing }: Overlay): Buffer {
  const name = Buffer.from(backing.path);
  if (name.length > LONGEST_NAME_BYTES)
    throw new Error(`${backing.path} is too long for a qcow2 header`);
  const mapEntries = Math.ceil(sizeBytes / MAPPED_BYTES);
  const clusters = 3 + Math.ceil((mapEntries * 8) / CLUSTER_BYTES);
  const bytes = Buffer.alloc(clusters * CLUSTER_BYTES);

  const extension = QCOW2_HEADER_BYTES;
  // An extension of type and length zero ends the list.
  const nameAt = extension + 8 + 8 + 8;
  bytes.writeUInt32BE(QCOW2_MAGIC, 0);
  bytes.writeUInt32BE(3, 4);
  bytes.writeBigUInt64BE(BigInt(nameAt), 8);
  bytes.writeUInt32BE(name.length, 16);
  bytes.writeUInt32BE(CLUSTER_BITS, 20);
  bytes.writeBigUInt64BE(BigInt(sizeBytes), 24);
  bytes.writeUInt32BE(mapEntries, 36);
  bytes.writeBigUInt64BE(BigInt(3 * CLUSTER_BYTES), 40);
  bytes.writeBigUInt64BE(BigInt(CLUSTER_BYTES), 48);
  bytes.writeUInt32BE(1, 56);
  bytes.writeUInt32BE(REFCOUNT_ORDER, 96);
  bytes.writeUInt32BE(QCOW2_HEADER_BYTES, 100);
  // Without the format QEMU guesses it, and a guest could write bytes into its disk that change the
  // guess.
  bytes.writeUInt32BE(BACKING_FORMAT, extension);
  bytes.writeUInt32BE(backing.format.length, extension + 4);
  bytes.write(backing.format, extension + 8, 'latin1');
  name.copy(bytes, nameAt);

  bytes.writeBigUInt64BE(BigInt(2 * CLUSTER_BYTES), CLUSTER_BYTES);
  for (let cluster = 0; cluster < clusters; cluster += 1) {
    bytes.writeUInt16BE(1, 2 * CLUSTER_BYTES + cluster * 2);
  }
  return bytes;
}
