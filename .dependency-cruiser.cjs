/** Which package may import which. The comment of each rule says why it exists. */

const ours = [
  'model',
  'placement',
  'daemon',
  'db',
  'api',
  'scheduler',
  'agent',
  'local',
  'node-libvirt',
  'pki',
  'ceph',
  'simulator',
  'sdk',
  'cli',
  'console',
];
/** Packages a package may import from, besides itself. */
const allowed = {
  model: [],
  placement: [],
  'node-libvirt': [],
  pki: [],
  sdk: [],
  daemon: [],
  ceph: ['daemon'],
  cli: ['daemon', 'sdk'],
  console: ['sdk'],
  db: ['model'],
  api: ['model', 'placement', 'db', 'daemon', 'proto'],
  scheduler: ['model', 'placement', 'db', 'daemon', 'proto', 'pki', 'ceph'],
  agent: ['model', 'daemon', 'proto', 'pki', 'node-libvirt'],
  simulator: ['daemon', 'proto', 'agent'],
  local: ['daemon', 'agent', 'simulator'],
};

const folder = (name) => (name === 'proto' ? '^proto/' : `^packages/${name}/`);
const test = '(\\.test\\.ts$|/testing)';
/** Helpers for tests of several packages. They may import anything. */
const testkit = '^packages/testkit/';

const packageRules = ours.map((name) => ({
  name: `${name}-imports`,
  comment: `${name} may import ${allowed[name].join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: folder(name), pathNot: test },
  to: { path: ['^(packages|proto|test)/'], pathNot: [name, ...allowed[name]].map(folder) },
}));

module.exports = {
  forbidden: [
    ...packageRules,
    {
      name: 'no-cycles',
      comment: 'Files that import each other can only be understood together.',
      severity: 'error',
      from: { pathNot: 'node_modules|/generated/' },
      to: { circular: true, viaOnly: { pathNot: 'node_modules|/generated/' } },
    },
    {
      name: 'only-db-knows-drizzle',
      comment: 'The schema has one home.',
      severity: 'error',
      from: { pathNot: '^packages/db/' },
      to: { path: 'node_modules/drizzle' },
    },
    {
      name: 'api-views-know-no-http',
      comment: 'A view is a function from rows to public JSON, without requests or access rights.',
      severity: 'error',
      from: { path: '^packages/api/src/.+/view\\.ts$' },
      to: { path: '^packages/api/src/(http|auth|billing|consoles)/' },
    },
    {
      name: 'api-changes-know-no-http',
      comment: 'In a noun only routes and schemas know HTTP. Code that changes data does not.',
      severity: 'error',
      from: {
        path: '^packages/api/src/[^/]+/',
        pathNot: [
          test,
          '^packages/api/src/(http|billing|consoles|pages)/',
          // A page for browsers, like those of billing.
          '^packages/api/src/invitations/invitation-page\\.ts$',
          '/(routes|schema|trace-schema|new-disk-schema|custom-schema)\\.ts$',
        ],
      },
      to: { path: '^packages/api/src/http/' },
    },
    {
      name: 'api-routes-are-only-listed',
      comment: 'Only the list of all routes imports routes. Nouns share functions, not routes.',
      severity: 'error',
      from: { path: '^packages/api/src/', pathNot: [test, '^packages/api/src/routes\\.ts$'] },
      to: { path: '^packages/api/src/.+/routes\\.ts$' },
    },
    {
      name: 'node-libvirt-stands-alone',
      comment: 'The package is usable on its own, and so are its tests.',
      severity: 'error',
      from: { path: folder('node-libvirt') },
      to: { path: testkit },
    },
    {
      name: 'no-test-code-in-products',
      comment: 'What only tests need is not shipped: neither test files nor the test kit.',
      severity: 'error',
      from: { path: '^(packages|proto)/', pathNot: [test, testkit] },
      to: { path: [test, testkit] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
