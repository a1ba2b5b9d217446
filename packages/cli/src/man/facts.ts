import { EXIT } from '../exit-codes.ts';

/** What the manual says besides the commands. A test compares it with docs/tenants/cli.md. */
export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [EXIT.success, 'success'],
  [EXIT.unexpected, 'a mistake of the CLI, or of the computer that it runs on'],
  [EXIT.usage, 'the command, a flag or an argument is wrong, or there is no such context'],
  [EXIT.notLoggedIn, 'you are not logged in, or the server refuses the login'],
  [EXIT.notFound, 'there is no such thing on the server, or it belongs to someone else'],
  [EXIT.refused, 'the server refused the request; its message says why'],
  [EXIT.operationFailed, 'the request was accepted, and the operation failed'],
  [
    EXIT.unavailable,
    'no reply, or the server asks to come back later: the same command may work in a while',
  ],
  [EXIT.unhealthy, '`gantry doctor` found a failure'],
  [EXIT.unverified, '`gantry image import` could not verify an image, and did not add it'],
  [EXIT.interrupted, 'Ctrl-C'],
];

export const ENVIRONMENT = [
  ['GANTRY_CONTEXT', 'The context to use instead of the current one.'],
  ['GANTRY_URL', 'The address of a server, to use with GANTRY_ACCESS_KEY instead of a context.'],
  ['GANTRY_ACCESS_KEY', 'An access key of that server.'],
  ['NO_COLOR', 'If it is set, the output has no colours.'],
] as const;

export const FILES = [
  [
    '$XDG_CONFIG_HOME/gantry/config.json',
    'The contexts with their logins (default: below ~/.config).',
  ],
  ['$XDG_CONFIG_HOME/gantry/vm-keys.json', 'Which SSH key opens which VM.'],
] as const;
