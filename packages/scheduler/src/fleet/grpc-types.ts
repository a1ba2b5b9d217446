import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { ServerDuplexStream } from '@grpc/grpc-js';

export type AttachCall = ServerDuplexStream<HostReport__Output, HostSpec>;
export type ConsoleCall = ServerDuplexStream<ConsoleBytes__Output, ConsoleBytes>;
export type AuthContext = ReturnType<AttachCall['getAuthContext']>;
