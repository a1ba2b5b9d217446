/** Who may import whom. Each rule says what would go wrong without it. */

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
  'simulator',
];
/** Packages a package may import from, besides itself. */
const allowed = {
  model: [],
  placement: [],
  'node-libvirt': [],
  pki: [],
  daemon: ['model'],
  db: ['model'],
  api: ['model', 'placement', 'db', 'daemon', 'proto'],
  scheduler: ['model', 'placement', 'db', 'daemon', 'proto', 'pki'],
  agent: ['model', 'daemon', 'proto', 'pki', 'node-libvirt'],
  simulator: ['model', 'daemon', 'proto', 'pki', 'agent'],
  local: ['model', 'daemon', 'agent', 'simulator'],
};

const folder = (name) => (name === 'proto' ? '^proto/' : `^packages/${name}/`);
const test = '(\\.test\\.ts$|/testing)';

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
      name: 'routes-write-through-operations',
      comment:
        'A route parses and shows; what changes the world is an operation and can be read alone.',
      severity: 'error',
      from: { path: '^packages/api/src/views/' },
      to: { path: '^packages/api/src/(routes|operations|http)/' },
    },
    {
      name: 'operations-know-no-http',
      comment: 'What is done does not depend on who asked how.',
      severity: 'error',
      from: { path: '^packages/api/src/operations/', pathNot: test },
      to: { path: '^packages/api/src/(routes|http)/' },
    },
    {
      name: 'no-test-code-in-products',
      comment: 'What only tests need is not shipped.',
      severity: 'error',
      from: { path: '^(packages|proto)/', pathNot: test },
      to: { path: test },
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
