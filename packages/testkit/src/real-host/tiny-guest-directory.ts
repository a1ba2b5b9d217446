import { fileURLToPath } from 'node:url';

/** One for every test and for `npm start`: the image is the same, and built once. */
export const tinyGuestDirectory = fileURLToPath(
  new URL('../../../../.gantry/tiny-guest', import.meta.url),
);
