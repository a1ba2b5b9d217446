// Original file: gantry/v1/fleet.proto


export interface EnrollReply {
  'hostId'?: (string);
  'certificatePem'?: (string);
  'caPem'?: (string);
}

export interface EnrollReply__Output {
  'hostId': (string);
  'certificatePem': (string);
  'caPem': (string);
}
