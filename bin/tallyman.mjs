#!/usr/bin/env node
// `npx tallyman`: runs the command line with the project's own Node, whatever Node runs this file. Plain JavaScript for that reason.
import { spawn, spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(path.dirname(realpathSync(fileURLToPath(import.meta.url))), '..')

// Installs and generates what a fresh clone lacks; says nothing and takes no time when there is nothing to do.
const setup = spawnSync(process.execPath, [path.join(root, 'scripts', 'setup.mjs')], { stdio: ['ignore', 2, 2] })
if (setup.error || setup.status !== 0) process.exit(setup.status ?? 1)

const node = path.join(root, 'node_modules', '.bin', 'node')
const child = spawn(node, [path.join(root, 'src', 'cli.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  // The second start takes half the time. Where nothing can be written there, Node goes on without.
  env: { NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'tallyman'), ...process.env },
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
