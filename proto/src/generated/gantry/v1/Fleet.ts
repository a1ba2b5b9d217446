// Original file: gantry/v1/fleet.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ConsoleBytes as _gantry_v1_ConsoleBytes, ConsoleBytes__Output as _gantry_v1_ConsoleBytes__Output } from '../../gantry/v1/ConsoleBytes.ts';
import type { EnrollReply as _gantry_v1_EnrollReply, EnrollReply__Output as _gantry_v1_EnrollReply__Output } from '../../gantry/v1/EnrollReply.ts';
import type { EnrollRequest as _gantry_v1_EnrollRequest, EnrollRequest__Output as _gantry_v1_EnrollRequest__Output } from '../../gantry/v1/EnrollRequest.ts';
import type { HostReport as _gantry_v1_HostReport, HostReport__Output as _gantry_v1_HostReport__Output } from '../../gantry/v1/HostReport.ts';
import type { HostSpec as _gantry_v1_HostSpec, HostSpec__Output as _gantry_v1_HostSpec__Output } from '../../gantry/v1/HostSpec.ts';

export interface FleetClient extends grpc.Client {
  Attach(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_HostReport, _gantry_v1_HostSpec__Output>;
  Attach(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_HostReport, _gantry_v1_HostSpec__Output>;
  attach(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_HostReport, _gantry_v1_HostSpec__Output>;
  attach(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_HostReport, _gantry_v1_HostSpec__Output>;
  
  Console(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  Console(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  console(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  console(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  
  Enroll(argument: _gantry_v1_EnrollRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _gantry_v1_EnrollRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _gantry_v1_EnrollRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _gantry_v1_EnrollRequest, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  enroll(argument: _gantry_v1_EnrollRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  enroll(argument: _gantry_v1_EnrollRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  enroll(argument: _gantry_v1_EnrollRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  enroll(argument: _gantry_v1_EnrollRequest, callback: grpc.requestCallback<_gantry_v1_EnrollReply__Output>): grpc.ClientUnaryCall;
  
  JoinConsole(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  JoinConsole(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  joinConsole(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  joinConsole(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  
}

export interface FleetHandlers extends grpc.UntypedServiceImplementation {
  Attach: grpc.handleBidiStreamingCall<_gantry_v1_HostReport__Output, _gantry_v1_HostSpec>;
  
  Console: grpc.handleBidiStreamingCall<_gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes>;
  
  Enroll: grpc.handleUnaryCall<_gantry_v1_EnrollRequest__Output, _gantry_v1_EnrollReply>;
  
  JoinConsole: grpc.handleBidiStreamingCall<_gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes>;
  
}

export interface FleetDefinition extends grpc.ServiceDefinition {
  Attach: MethodDefinition<_gantry_v1_HostReport, _gantry_v1_HostSpec, _gantry_v1_HostReport__Output, _gantry_v1_HostSpec__Output>
  Console: MethodDefinition<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes__Output>
  Enroll: MethodDefinition<_gantry_v1_EnrollRequest, _gantry_v1_EnrollReply, _gantry_v1_EnrollRequest__Output, _gantry_v1_EnrollReply__Output>
  JoinConsole: MethodDefinition<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes__Output>
}
