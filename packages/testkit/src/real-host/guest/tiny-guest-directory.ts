import { fileURLToPath } from 'node:url';

/** Shared by all tests and `npm start`: the image is the same and is built once. */
export const tinyGuestDirectory = fileURLToPath(
  new URL('../../../../.gantry/tiny-guest', import.meta.url),
);
