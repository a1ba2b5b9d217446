// Original file: gantry/v1/host.proto


export interface ImageExport {
  'imageId'?: (string);
  'snapshotId'?: (string);
}

export interface ImageExport__Output {
  'imageId': (string);
  'snapshotId': (string);
}
