// Original file: gantry/v1/fleet.proto


export interface EnrollRequest {
  'token'?: (string);
  'csrPem'?: (string);
  'hostname'?: (string);
  'hostId'?: (string);
}

export interface EnrollRequest__Output {
  'token': (string);
  'csrPem': (string);
  'hostname': (string);
  'hostId': (string);
}
