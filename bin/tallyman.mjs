#!/usr/bin/env node
// `npx tallyman`: runs the command line with the project's own Node, whatever Node runs this file. Plain JavaScript for that reason.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(path.dirname(realpathSync(fileURLToPath(import.meta.url))), '..')
const at = (...parts) => path.join(root, ...parts)

/** A clone runs its sources. The package has the compiled program in place of them. */
const isClone = existsSync(at('src', 'cli.ts'))

if (isClone) {
  // Installs and generates what a fresh clone lacks; says nothing and takes no time when there is nothing to do.
  const setup = spawnSync(process.execPath, [at('scripts', 'setup.mjs')], { stdio: ['ignore', 2, 2] })
  if (setup.error || setup.status !== 0) process.exit(setup.status ?? 1)
}

/** The Node of the package `node`, which npm places beside this package or below it; else this Node, if it is new enough. */
const findNode = () => {
  const installed = [at('node_modules', '.bin', 'node'), at('..', '.bin', 'node')].find((file) => existsSync(file))
  if (installed !== undefined) return installed
  const wanted = JSON.parse(readFileSync(at('package.json'), 'utf8')).dependencies.node
  const major = Number(wanted.split('.')[0])
  if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath
  console.error(
    `tallyman: this is Node ${process.versions.node}, and npm has not installed Node ${wanted}, because it did not run the install script of the package \`node\`: run \`npm rebuild node --ignore-scripts=false --foreground-scripts\` in this folder, or use Node ${major}`,
  )
  return process.exit(1)
}

const node = findNode()
const args = process.argv.slice(2)
const child = spawn(node, [isClone ? at('src', 'cli.ts') : at('dist', 'program', 'src', 'cli.js'), ...args], {
  stdio: 'inherit',
  env: {
    // The second start takes half the time. Where nothing can be written there, Node goes on without.
    NODE_COMPILE_CACHE: at('node_modules', '.cache', 'tallyman'),
    // `npx` may end without telling us: the daemon stops when it is gone.
    ...(process.env.npm_lifecycle_event === 'npx' ? { TALLYMAN_STARTED_BY: String(process.ppid) } : {}),
    ...process.env,
  },
})

// A terminal sends Ctrl+C to the child as well; a second one from here would count as the person's second.
const forwarded = process.stdin.isTTY ? ['SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
for (const signal of forwarded) process.on(signal, () => child.kill(signal))
if (process.stdin.isTTY) process.on('SIGINT', () => {})

child.on('error', (error) => {
  console.error(`tallyman: ${node} cannot be run: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name)
  process.kill(process.pid, signal)
})
