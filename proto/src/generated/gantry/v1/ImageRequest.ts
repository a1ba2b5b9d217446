// Original file: gantry/v1/fleet.proto


export interface ImageRequest {
  'imageId'?: (string);
}

export interface ImageRequest__Output {
  'imageId': (string);
}
