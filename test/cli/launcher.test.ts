import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'

// A clone in miniature: the real launcher, with a setup and a command line that only tell that they ran.
let clone: string
let launcher: string

beforeAll(async () => {
  clone = await mkdtemp(path.join(tmpdir(), 'tallyman-clone-'))
  for (const folder of ['bin', 'scripts', 'src', 'node_modules/.bin', 'elsewhere']) {
    await mkdir(path.join(clone, folder), { recursive: true })
  }
  launcher = path.join(clone, 'bin', 'tallyman.mjs')
  await cp('bin/tallyman.mjs', launcher)
  await symlink(process.execPath, path.join(clone, 'node_modules/.bin/node'))
  await writeFile(path.join(clone, 'scripts/setup.mjs'), `console.log('set up'); process.exit(process.env.SETUP_FAILS ? 1 : 0)`)
  await writeFile(
    path.join(clone, 'src/cli.ts'),
    `const args: string[] = process.argv.slice(2)
     if (args[0] === 'wait') {
       process.once('SIGTERM', () => { console.log('received SIGTERM'); process.exit(5) })
       setInterval(() => undefined, 1_000)
     }
     console.log(JSON.stringify(args))
     if (args[0] === 'exit') process.exitCode = Number(args[1])
     if (args[0] === 'die') process.kill(process.pid, 'SIGKILL')`,
  )
})

afterAll(() => rm(clone, { recursive: true, force: true }))

const launch = (args: readonly string[], env: Readonly<Record<string, string>> = {}, file = launcher) =>
  spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', env: { PATH: process.env['PATH'], ...env }, cwd: tmpdir() })

test('arguments go through as they are, setup talks on standard error, the exit code comes back', () => {
  const { stdout, stderr, status } = launch(['exit', '2', '--x', 'a b', '*'])
  expect(stdout).toBe('["exit","2","--x","a b","*"]\n')
  expect(stderr).toBe('set up\n')
  expect(status).toBe(2)
})

test('through a link, as npx and npm call it', async () => {
  const link = path.join(clone, 'elsewhere', 'tallyman')
  await symlink(launcher, link)
  expect(launch(['exit', '0'], {}, link).status).toBe(0)
})

test('a setup that fails ends it', () => {
  const { stdout, status } = launch(['exit', '0'], { SETUP_FAILS: '1' })
  expect(stdout).toBe('')
  expect(status).toBe(1)
})

test('a command line that a signal ended ends the launcher by the same signal', () => {
  expect(launch(['die']).signal).toBe('SIGKILL')
})

test('SIGTERM reaches the command line, whose exit code counts', async () => {
  const child = spawn(process.execPath, [launcher, 'wait'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  await eventually(() => expect(out).toContain('wait'))
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  expect(code).toBe(5)
  expect(out).toContain('received SIGTERM')
})

test('package.json names the launcher', async () => {
  const manifest: unknown = JSON.parse(await readFile('package.json', 'utf8'))
  expect(manifest).toMatchObject({ bin: { tallyman: 'bin/tallyman.mjs' } })
})
