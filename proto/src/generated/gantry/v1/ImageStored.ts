// Original file: gantry/v1/fleet.proto


export interface ImageStored {
}

export interface ImageStored__Output {
}
