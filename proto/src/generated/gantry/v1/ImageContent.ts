// Original file: gantry/v1/fleet.proto

import type { Long } from '@grpc/proto-loader';

export interface ImageContent {
  'imageId'?: (string);
  'sizeBytes'?: (number | string | Long);
  'offset'?: (number | string | Long);
  'data'?: (Buffer | Uint8Array | string);
  'sha256'?: (string);
}

export interface ImageContent__Output {
  'imageId': (string);
  'sizeBytes': (string);
  'offset': (string);
  'data': (Buffer);
  'sha256': (string);
}
