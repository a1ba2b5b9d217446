// Original file: gantry/v1/fleet.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ConsoleBytes as _gantry_v1_ConsoleBytes, ConsoleBytes__Output as _gantry_v1_ConsoleBytes__Output } from '../../gantry/v1/ConsoleBytes.ts';
import type { EnrollReply as _gantry_v1_EnrollReply, EnrollReply__Output as _gantry_v1_EnrollReply__Output } from '../../gantry/v1/EnrollReply.ts';
import type { EnrollRequest as _gantry_v1_EnrollRequest, EnrollRequest__Output as _gantry_v1_EnrollRequest__Output } from '../../gantry/v1/EnrollRequest.ts';
import type { HostReport as _gantry_v1_HostReport, HostReport__Output as _gantry_v1_HostReport__Output } from '../../gantry/v1/HostReport.ts';
import type { HostSpec as _gantry_v1_HostSpec, HostSpec__Output as _gantry_v1_HostSpec__Output } from '../../gantry/v1/HostSpec.ts';
import type { ImageContent as _gantry_v1_ImageContent, ImageContent__Output as _gantry_v1_ImageContent__Output } from '../../gantry/v1/ImageContent.ts';
import type { ImageRequest as _gantry_v1_ImageRequest, ImageRequest__Output as _gantry_v1_ImageRequest__Output } from '../../gantry/v1/ImageRequest.ts';
import type { ImageStored as _gantry_v1_ImageStored, ImageStored__Output as _gantry_v1_ImageStored__Output } from '../../gantry/v1/ImageStored.ts';

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
  
  FetchImage(argument: _gantry_v1_ImageRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_gantry_v1_ImageContent__Output>;
  FetchImage(argument: _gantry_v1_ImageRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_gantry_v1_ImageContent__Output>;
  fetchImage(argument: _gantry_v1_ImageRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_gantry_v1_ImageContent__Output>;
  fetchImage(argument: _gantry_v1_ImageRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_gantry_v1_ImageContent__Output>;
  
  JoinConsole(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  JoinConsole(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  joinConsole(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  joinConsole(options?: grpc.CallOptions): grpc.ClientDuplexStream<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>;
  
  SendImage(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  SendImage(metadata: grpc.Metadata, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  SendImage(options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  SendImage(callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  sendImage(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  sendImage(metadata: grpc.Metadata, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  sendImage(options: grpc.CallOptions, callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  sendImage(callback: grpc.requestCallback<_gantry_v1_ImageStored__Output>): grpc.ClientWritableStream<_gantry_v1_ImageContent>;
  
}

export interface FleetHandlers extends grpc.UntypedServiceImplementation {
  Attach: grpc.handleBidiStreamingCall<_gantry_v1_HostReport__Output, _gantry_v1_HostSpec>;
  
  Console: grpc.handleBidiStreamingCall<_gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes>;
  
  Enroll: grpc.handleUnaryCall<_gantry_v1_EnrollRequest__Output, _gantry_v1_EnrollReply>;
  
  FetchImage: grpc.handleServerStreamingCall<_gantry_v1_ImageRequest__Output, _gantry_v1_ImageContent>;
  
  JoinConsole: grpc.handleBidiStreamingCall<_gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes>;
  
  SendImage: grpc.handleClientStreamingCall<_gantry_v1_ImageContent__Output, _gantry_v1_ImageStored>;
  
}

export interface FleetDefinition extends grpc.ServiceDefinition {
  Attach: MethodDefinition<_gantry_v1_HostReport, _gantry_v1_HostSpec, _gantry_v1_HostReport__Output, _gantry_v1_HostSpec__Output>
  Console: MethodDefinition<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes__Output>
  Enroll: MethodDefinition<_gantry_v1_EnrollRequest, _gantry_v1_EnrollReply, _gantry_v1_EnrollRequest__Output, _gantry_v1_EnrollReply__Output>
  FetchImage: MethodDefinition<_gantry_v1_ImageRequest, _gantry_v1_ImageContent, _gantry_v1_ImageRequest__Output, _gantry_v1_ImageContent__Output>
  JoinConsole: MethodDefinition<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output, _gantry_v1_ConsoleBytes__Output>
  SendImage: MethodDefinition<_gantry_v1_ImageContent, _gantry_v1_ImageStored, _gantry_v1_ImageContent__Output, _gantry_v1_ImageStored__Output>
}
