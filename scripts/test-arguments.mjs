import { parseArgs } from 'node:util';

/** Everything that `npm test` can run, in the order in which it runs. */
export const SUITE_NAMES = [
  ...['unit', 'pg18', 'pg15', 'system', 'browser', 'ceph', 'libvirt', 'lab-short', 'install'],
];

/** Suites that start the bundled processes. */
export const NEEDS_BUILD = [
  ...[
    'system',
    'browser',
    'ceph',
    'libvirt',
    'lab-short',
    'install',
    'lab',
    'faults',
    'install-all',
  ],
];

const CHECK = 'check';
/** Not part of a plain `npm test`: they take long, or have limits that a busy machine exceeds. */
const BY_NAME_ONLY = ['lab', 'faults', 'install-all'];
const NAMES = [CHECK, ...SUITE_NAMES, ...BY_NAME_ONLY];

/** The suite of a test file follows from its name. The first suffix that fits counts. */
const SUITE_BY_SUFFIX = {
  '.pg.test.ts': 'pg18',
  '.system.test.ts': 'system',
  '.browser.test.ts': 'browser',
  '.ceph.test.ts': 'ceph',
  '.libvirt.test.ts': 'libvirt',
  '.lab.test.ts': 'lab',
  '/short.install.test.ts': 'install',
  '.install.test.ts': 'install-all',
  '.faults.test.ts': 'faults',
};

const USAGE = `usage: npm test [-- [suite …] [--only path …]]
Suites: ${NAMES.join(', ')}.`;

/**
 * Reads the arguments of `npm test`. Returns whether to run the checks, the suites to run, and the
 * test files or folders they are limited to. Throws an error with the usage if one is not known.
 */
export function readTestArguments(args) {
  const { only = [], names } = parse(args);
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new Error(`There is no suite "${unknown.join('", "')}".\n${USAGE}`);
  if (names.length === 0 && only.length === 0) {
    return { checks: true, suites: SUITE_NAMES, only };
  }
  const chosen = names.length > 0 ? names : only.map(suiteOf);
  return {
    checks: chosen.includes(CHECK),
    suites: NAMES.filter((name) => name !== CHECK && chosen.includes(name)),
    only,
  };
}

function parse(args) {
  try {
    const options = { only: { type: 'string', multiple: true } };
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { only: values.only, names: positionals };
  } catch (error) {
    throw new Error(`${error.message}\n${USAGE}`, { cause: error });
  }
}

function suiteOf(file) {
  const suffix = Object.keys(SUITE_BY_SUFFIX).find((each) => file.endsWith(each));
  return suffix ? SUITE_BY_SUFFIX[suffix] : 'unit';
}
