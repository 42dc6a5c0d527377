// Imports run one way: http, jobs -> queues, store, clients -> domain (CONTRIBUTING.md, "Rooms").
const room = (name) => `^src/${name}/`
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    forbid('no-cycles', 'A cycle means that two files are one: move what both need.', {}, { circular: true }),
    forbid(
      'domain-is-pure',
      'domain/ holds rules: no I/O, no clock, nothing from its siblings.',
      { path: room('domain') },
      {
        pathNot: [room('domain'), 'node_modules/(zod|decimal.js|@date-fns/tz)/'],
      },
    ),
    forbid(
      'clients-know-no-storage',
      'clients/ speaks HTTP and knows neither Postgres nor queues.',
      { path: room('clients') },
      {
        path: ['store', 'queues', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(room),
      },
    ),
    forbid(
      'callers-know-no-marketplace',
      'What clients/ has outside the folders of this marketplace serves any marketplace.',
      { path: '^src/clients/[^/]+$' },
      { path: '^src/clients/.+/' },
    ),
    forbid(
      'store-knows-no-marketplace',
      'store/ speaks Postgres; it meets clients/ only in jobs/.',
      { path: room('store') },
      {
        path: ['clients', 'queues', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(room),
      },
    ),
    forbid(
      'queues-know-no-work',
      'queues/ sets BullMQ up; what a job does is handed in.',
      { path: room('queues') },
      {
        path: ['clients', 'store', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(room),
      },
    ),
    forbid(
      'jobs-know-no-http',
      'jobs/ does the work; who asked for it is not its business.',
      { path: room('jobs') },
      {
        path: ['http', 'embedded', 'demo', 'cli'].map(room),
      },
    ),
    forbid(
      'http-knows-no-jobs',
      'http/ gets what jobs/ can do as functions, from daemon/.',
      { path: room('http') },
      {
        path: ['jobs', 'embedded', 'demo', 'cli'].map(room),
      },
    ),
    forbid(
      'demo-is-an-outsider',
      'The demonstration ERP uses the public HTTP interface, by what the command line speaks to it with.',
      { path: room('demo') },
      { path: '^src/', pathNot: [room('demo'), '^src/cli/(daemon|events|faults)[.]ts$', '^src/pause[.]ts$'] },
    ),
    forbid(
      'cli-does-no-work',
      'The command line asks the daemon; it looks at settings, Postgres and the marketplace by itself only to say what is wrong with them.',
      { path: room('cli') },
      { path: ['jobs', 'http', 'embedded', 'demo'].map(room), pathNot: '^src/embedded/address[.]ts$' },
    ),
    forbid(
      'cli-is-used-by-the-demonstration-alone',
      'Nobody but the program and the demonstration needs the command line.',
      { path: '^src/', pathNot: [room('cli'), room('demo'), '^src/cli[.]ts$'] },
      { path: room('cli') },
    ),
    forbid(
      'only-the-daemon-starts-the-demonstration',
      'Nobody else knows of it.',
      { path: '^src/', pathNot: [room('demo'), room('daemon')] },
      { path: room('demo') },
    ),
    forbid(
      'the-daemon-is-the-top',
      'daemon/ puts the rooms together; no room knows how.',
      { path: '^src/', pathNot: [room('daemon'), '^src/(daemon|main)[.]ts$'] },
      { path: '^src/daemon([.]ts$|/)' },
    ),
    forbid(
      'the-simulation-is-pure',
      'What simulates the daemon goes by its rules, and by nothing that asks, waits or looks at a clock.',
      { path: '^src/daemon/simulation/' },
      {
        pathNot: [
          '^src/daemon/(simulation/|(agenda|capacity|due|refill|schedule)[.]ts$)',
          '^src/clients/(bucket|budget|lane|operation)[.]ts$',
          '^src/queues/shares[.]ts$',
          '^src/jobs/sync/settings[.]ts$',
          room('domain'),
        ],
      },
    ),
    forbid(
      'settings-decide-nothing',
      'config/ reads settings; it knows the names that declarations give them, and asks nobody.',
      { path: '^src/config([.]ts$|/)' },
      { path: ['store', 'queues', 'embedded', 'demo', 'cli'].map(room) },
    ),
    forbid(
      'embedded-is-a-program-of-its-own',
      'embedded/ starts and stops a Postgres, whatever is stored in it.',
      { path: room('embedded') },
      { path: '^src/', pathNot: [room('embedded'), '^src/[^/]+[.]ts$'] },
    ),
    forbid(
      'observability-is-a-leaf',
      'Logs and metrics are used by all and use none.',
      { path: room('observability') },
      {
        path: '^src/',
        pathNot: room('observability'),
      },
    ),
    forbid(
      'sql-stays-in-the-store',
      'Only store/ speaks SQL; embedded/ prepares its server, queues/ hands BullMQ its pool.',
      {
        path: '^src/',
        pathNot: [room('store'), room('embedded'), room('queues'), '^src/steady-client[.]ts$'],
      },
      { path: 'node_modules/(pg|@prisma)/' },
    ),
    forbid(
      'prisma-stays-in-the-store',
      'Types of the generated client are the business of store/; others name what store/ exports (docs/decisions/0020).',
      { path: '^src/', pathNot: room('store') },
      { path: '^src/store/generated/' },
    ),
    forbid(
      'sandbox-is-a-program-of-its-own',
      'sandbox/ imports nothing of the daemon.',
      { path: '^sandbox/' },
      { path: '^src/' },
    ),
    forbid(
      'the-daemon-knows-no-sandbox',
      'src/ starts the sandbox as a process; it imports nothing of it.',
      { path: '^src/' },
      { path: '^sandbox/' },
    ),
    forbid(
      'the-console-is-a-program-of-its-own',
      'console/ runs in the browser: it imports nothing of the daemon but the types of its interface.',
      { path: '^console/' },
      { path: '^(src|sandbox|test|bench)/' },
    ),
    forbid(
      'the-daemon-serves-the-built-console',
      'Nobody imports the sources of the console.',
      { path: '^(src|sandbox)/' },
      { path: '^console/' },
    ),
    forbid(
      'no-tests-in-the-program',
      'Nothing that ships imports tests or benchmarks.',
      { path: '^(src|sandbox)/' },
      { path: '^(test|bench)/' },
    ),
    forbid(
      'no-development-packages',
      'What ships runs without development packages: the image has none. Types are gone by then.',
      { path: '^(src|sandbox)/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    forbid('resolvable', 'Every import must be found.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^src/store/generated/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
}
