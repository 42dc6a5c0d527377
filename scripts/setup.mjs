// Makes a fresh clone ready: installs packages, generates the database client and builds the console when they are missing or out of date.
// Plain JavaScript, since it runs on the machine's own Node before the project's is there.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..')
const at = (...parts) => path.join(root, ...parts)
const hashText = (...files) => {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(at(file)))
  return hash.digest('hex')
}
const stampIs = (stamp, value) => existsSync(at(stamp)) && readFileSync(at(stamp), 'utf8') === value

const step = (why, command, args, env) => {
  console.error(`tallyman: ${why}`)
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], env: { ...process.env, ...env } })
  if (error || status !== 0) {
    console.error(
      `tallyman: \`${[command, ...args].join(' ')}\` failed${error ? `: ${error.message}` : ''}; fix that and start again`,
    )
    process.exit(1)
  }
}

const packages = hashText('package-lock.json')
if (!stampIs('node_modules/.tallyman-packages', packages)) {
  step('installing packages (the first time takes about a minute)', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(at('node_modules/.tallyman-packages'), packages)
}

const client = hashText('prisma/schema.prisma', 'node_modules/@prisma/client/package.json')
if (!stampIs('src/store/generated/.tallyman-client', client)) {
  // Generating needs no schema engine, but the command line insists on a file: any will do.
  const node = at('node_modules', '.bin', 'node')
  step('generating the database client', node, [at('node_modules', 'prisma', 'build', 'index.js'), 'generate', '--no-hints'], {
    PRISMA_SCHEMA_ENGINE_BINARY: node,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  })
  writeFileSync(at('src/store/generated/.tallyman-client'), client)
}

/** Files below a folder, in the order of their names. */
const below = (folder) =>
  readdirSync(at(folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = path.join(folder, entry.name)
      if (name === path.join('console', 'dist')) return []
      return entry.isDirectory() ? below(name) : [name]
    })

// An archive or an image may have the built console only.
if (existsSync(at('console', 'vite.config.ts'))) {
  const page = hashText('package-lock.json', ...below('console'))
  if (!stampIs('console/dist/.tallyman-console', page)) {
    if (existsSync(at('node_modules', 'vite'))) {
      const vite = at('node_modules', 'vite', 'bin', 'vite.js')
      step('building the console', at('node_modules', '.bin', 'node'), [
        vite,
        'build',
        '--config',
        at('console', 'vite.config.ts'),
      ])
      writeFileSync(at('console/dist/.tallyman-console'), page)
    } else {
      console.error('tallyman: the console is not built, since the development packages are not installed')
    }
  }
}
