import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ProtoGrpcType } from './generated/fleet.ts';

/**
 * The Fleet service as grpc-js wants it: `new Fleet(address, credentials)` is a client,
 * `Fleet.service` is what a server adds.
 *
 * 64-bit fields are decimal strings when read, since a number would lose digits above 2^53. They are
 * written as strings or safe integers.
 *
 * The types in `generated/` come from proto-loader-gen-types with the options below.
 */
export type Fleet = ProtoGrpcType['gantry']['v1']['Fleet'];

const LOAD_OPTIONS = {
  keepCase: false,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
} as const;

/** The folder that holds `gantry/v1`: a bundle's own, or the one above the source. */
const PROTO_ROOT = [new URL('.', import.meta.url), new URL('..', import.meta.url)]
  .map((url) => fileURLToPath(url))
  .find((folder) => existsSync(join(folder, 'gantry/v1/fleet.proto')));

export function loadFleet(protoRoot: string = PROTO_ROOT ?? '.'): Fleet {
  const definition = loadSync('gantry/v1/fleet.proto', {
    ...LOAD_OPTIONS,
    includeDirs: [protoRoot],
  });
  const loaded = loadPackageDefinition(definition) as unknown as ProtoGrpcType;
  return loaded.gantry.v1.Fleet;
}
