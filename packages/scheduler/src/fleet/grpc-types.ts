import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type {
  ImageContent,
  ImageContent__Output,
} from '@gantry/proto/generated/gantry/v1/ImageContent';
import type { ImageRequest__Output } from '@gantry/proto/generated/gantry/v1/ImageRequest';
import type { ImageStored } from '@gantry/proto/generated/gantry/v1/ImageStored';
import type { ServerDuplexStream, ServerReadableStream, ServerWritableStream } from '@grpc/grpc-js';

export type AttachCall = ServerDuplexStream<HostReport__Output, HostSpec>;
export type ConsoleCall = ServerDuplexStream<ConsoleBytes__Output, ConsoleBytes>;
export type SendImageCall = ServerReadableStream<ImageContent__Output, ImageStored>;
export type FetchImageCall = ServerWritableStream<ImageRequest__Output, ImageContent>;
export type AuthContext = ReturnType<AttachCall['getAuthContext']>;
