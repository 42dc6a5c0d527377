// Imports run one way: http, jobs -> queues, store, clients -> domain (CONTRIBUTING.md, "Layers").
const layer = (name) => `^src/${name}/`
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    forbid('no-cycles', 'A cycle means that two files are one: move what both need.', {}, { circular: true }),
    forbid(
      'domain-is-pure',
      'domain/ holds rules: no I/O, no clock, nothing from its siblings.',
      { path: layer('domain') },
      {
        pathNot: [layer('domain'), 'node_modules/(zod|decimal.js|@date-fns/tz)/'],
      },
    ),
    forbid(
      'clients-know-no-storage',
      'clients/ speaks HTTP and knows neither Postgres nor queues.',
      { path: layer('clients') },
      {
        path: ['store', 'queues', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(layer),
      },
    ),
    forbid(
      'callers-know-no-marketplace',
      'clients/http/ serves any marketplace.',
      { path: '^src/clients/http/' },
      { path: '^src/clients/', pathNot: ['^src/clients/http/', '^src/clients/rate-limit/'] },
    ),
    forbid(
      'store-knows-no-marketplace',
      'store/ speaks Postgres; it meets clients/ only in jobs/.',
      { path: layer('store') },
      {
        path: ['clients', 'queues', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(layer),
      },
    ),
    forbid(
      'queues-know-no-work',
      'queues/ sets BullMQ up; what a job does is handed in.',
      { path: layer('queues') },
      {
        path: ['clients', 'store', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(layer),
      },
    ),
    forbid(
      'jobs-know-no-http',
      'jobs/ does the work; who asked for it is not its business.',
      { path: layer('jobs') },
      {
        path: ['http', 'embedded', 'demo', 'cli'].map(layer),
      },
    ),
    forbid(
      'http-knows-no-jobs',
      'http/ gets what jobs/ can do as functions, from daemon/.',
      { path: layer('http') },
      {
        path: ['jobs', 'embedded', 'demo', 'cli'].map(layer),
      },
    ),
    forbid(
      'demo-is-an-outsider',
      'The demonstration ERP uses the public HTTP interface, with the client that the command line uses too.',
      { path: layer('demo') },
      { path: '^src/', pathNot: [layer('demo'), layer('client'), layer('api-client'), layer('util')] },
    ),
    forbid(
      'cli-does-no-work',
      'The command line asks the daemon; it looks at settings, Postgres and the marketplace by itself only to say what is wrong with them. It uses refresh tokens as the daemon does, which stores them.',
      { path: layer('cli') },
      {
        path: ['jobs', 'http', 'embedded', 'demo'].map(layer),
        pathNot: '^src/(embedded/address|jobs/sellers/refresh-tokens)[.]ts$',
      },
    ),
    forbid(
      'nobody-uses-the-command-line',
      'Only the program itself needs the command line.',
      { path: '^src/', pathNot: [layer('cli'), '^src/cli[.]ts$'] },
      { path: layer('cli') },
    ),
    forbid(
      'only-the-daemon-starts-the-demonstration',
      'Nobody else knows of it.',
      { path: '^src/', pathNot: [layer('demo'), layer('daemon')] },
      { path: layer('demo') },
    ),
    forbid(
      'the-daemon-is-the-top',
      'daemon/ composes the layers; no layer imports it.',
      { path: '^src/', pathNot: [layer('daemon'), '^src/(daemon|main)[.]ts$'] },
      { path: '^src/daemon([.]ts$|/)' },
    ),
    forbid(
      'settings-decide-nothing',
      'config/ reads settings and checks them; it does no work.',
      { path: layer('config') },
      { path: ['store', 'queues', 'jobs', 'http', 'embedded', 'demo', 'cli'].map(layer) },
    ),
    forbid(
      'the-api-client-stands-alone',
      'api-client/ calls the HTTP interface of a daemon, as any other program could.',
      { path: layer('api-client') },
      { path: '^src/', pathNot: [layer('api-client'), layer('util')] },
    ),
    forbid(
      'util-is-a-leaf',
      'util/ holds small parts that know nothing of this program.',
      { path: layer('util') },
      { path: '^src/', pathNot: layer('util') },
    ),
    forbid(
      'embedded-is-a-program-of-its-own',
      'embedded/ starts and stops a Postgres, whatever is stored in it.',
      { path: layer('embedded') },
      { path: '^src/', pathNot: [layer('embedded'), layer('util')] },
    ),
    forbid(
      'observability-is-a-leaf',
      'Logs and metrics are used by all and use none.',
      { path: layer('observability') },
      {
        path: '^src/',
        pathNot: layer('observability'),
      },
    ),
    forbid(
      'sql-stays-in-the-store',
      'Only store/ speaks SQL; embedded/ prepares its server, queues/ hands BullMQ its pool.',
      {
        path: '^src/',
        pathNot: [layer('store'), layer('embedded'), layer('queues'), '^src/util/net/postgres-client[.]ts$'],
      },
      { path: 'node_modules/(pg|@prisma)/' },
    ),
    forbid(
      'prisma-stays-in-the-store',
      'Types of the generated client are the business of store/; others name what store/ exports (docs/decisions/0011).',
      { path: '^src/', pathNot: layer('store') },
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
