import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const script = (name: string): string => path.resolve(import.meta.dirname, '../../scripts', name)

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-supply-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('licences', () => {
  const check = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script('check-licences.mjs'), ...args], { encoding: 'utf8' })
    return { status, said: stdout.trim(), faults: stderr.split('\n').filter((line) => line !== '') }
  }
  /** A project with these packages; `manifest` null: not installed. */
  const checkPackages = async (
    packages: Readonly<Record<string, { readonly locked?: object; readonly manifest: object | null }>>,
  ) => {
    const folder = await temporaryFolder()
    const locked = Object.entries(packages).map(([name, each]) => [`node_modules/${name}`, { version: '1.0.0', ...each.locked }])
    await writeFile(
      path.join(folder, 'package-lock.json'),
      JSON.stringify({ packages: { '': {}, ...Object.fromEntries(locked) } }),
    )
    for (const [name, { manifest }] of Object.entries(packages)) {
      if (manifest === null) continue
      await mkdir(path.join(folder, 'node_modules', name), { recursive: true })
      await writeFile(path.join(folder, 'node_modules', name, 'package.json'), JSON.stringify(manifest))
    }
    return check(folder)
  }

  test('of all packages of production are allowed', () => {
    const { status, said, faults } = check()
    expect(faults).toEqual([])
    expect(said).toMatch(/^[1-9]\d\d packages of production, 0 faults$/)
    expect(status).toBe(0)
  })

  test.each(['MIT', '(MIT OR GPL-3.0)', 'MIT and ISC', '(BSD-2-Clause AND (GPL-2.0-only OR Apache-2.0))'])(
    'as %s is allowed',
    async (license) => {
      expect(await checkPackages({ a: { manifest: { license } } })).toEqual({
        status: 0,
        said: '1 packages of production, 0 faults',
        faults: [],
      })
    },
  )

  test.each(['GPL-3.0', 'MIT AND AGPL-3.0', '(GPL-2.0 OR LGPL-3.0)', 'SEE LICENSE IN x', 'MIT OR', '(MIT', 'UNLICENSED'])(
    'as %s is refused',
    async (license) => {
      const { status, faults } = await checkPackages({ '@x/a': { manifest: { license } } })
      expect(faults).toEqual([`@x/a@1.0.0: ${license} is not among the allowed licences`])
      expect(status).toBe(1)
    },
  )

  test('none at all, or a package that is not there, is a fault; what is for development only is not looked at', async () => {
    const { faults } = await checkPackages({
      none: { manifest: {} },
      old: { manifest: { licenses: [{ type: 'GPL-3.0' }, { type: 'MIT' }] } },
      away: { manifest: null },
      elsewhere: { manifest: null, locked: { optional: true, license: 'GPL-3.0' } },
      development: { manifest: { license: 'GPL-3.0' }, locked: { dev: true } },
    })
    expect(faults).toEqual([
      'none@1.0.0: names no licence',
      'node_modules/away is not installed; run npm ci',
      'elsewhere@1.0.0: GPL-3.0 is not among the allowed licences',
    ])
  })
})

test('the list of what production is made of needs no network, and is the same each time', { timeout: 240_000 }, () => {
  const nowhere = { npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0' }
  const print = () =>
    execFileSync(process.execPath, [script('sbom.mjs')], { encoding: 'utf8', env: { ...process.env, ...nowhere } })
  const printed = print()
  const component = z.object({ name: z.string(), version: z.string(), purl: z.string().optional() })
  const { bomFormat, metadata, components } = z
    .object({ bomFormat: z.string(), metadata: z.object({ component }), components: z.array(component) })
    .parse(JSON.parse(printed))
  expect(bomFormat).toBe('CycloneDX')
  expect(metadata.component).toMatchObject({ name: 'tallyman' })
  const names = components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['fastify', 'pg', 'zod']))
  for (const development of ['vitest', '@biomejs/biome', 'knip']) expect(names).not.toContain(development)
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ version: z.string(), dev: z.literal(true).optional() })) })
    .parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))
  const installed = Object.entries(packages)
    .filter(([place, { dev }]) => place !== '' && dev === undefined && existsSync(place))
    .map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`)
  expect(components.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual([...new Set(installed)].toSorted())
  for (const { name, purl } of components) expect(purl, name).toMatch(/^pkg:npm\//)
  expect(print()).toBe(printed)
})

test('the archive of a commit is the same bytes, whoever makes it, and holds the commit alone', async () => {
  const home = await temporaryFolder()
  const git = (folder: string, ...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: folder, stdio: 'pipe' })
  const first = path.join(home, 'first')
  await mkdir(path.join(first, 'bin'), { recursive: true })
  git(first, 'init', '--quiet')
  await writeFile(path.join(first, 'package.json'), JSON.stringify({ name: 'thing', version: '1.2.3' }))
  await writeFile(path.join(first, 'bin', 'run.sh'), '#!/bin/sh\n')
  await chmod(path.join(first, 'bin', 'run.sh'), 0o755)
  for (const file of ['.gitattributes', 'src/util/release.json']) {
    await mkdir(path.join(first, path.dirname(file)), { recursive: true })
    await copyFile(file, path.join(first, file))
  }
  git(first, 'add', '--all')
  git(first, 'commit', '--quiet', '--message', 'first')
  const second = path.join(home, 'second')
  git(home, 'clone', '--quiet', first, second)

  // Another place, another time, another mask, other settings, another zone, and files that nobody has committed.
  await utimes(path.join(second, 'package.json'), 1, 1)
  await writeFile(path.join(second, 'sellers.yaml'), 'secret')
  await writeFile(path.join(home, '.gitconfig'), '[core]\n  autocrlf = true\n[tar]\n  umask = user\n')
  const make = (folder: string, shell: string, env: Readonly<Record<string, string>>): string => {
    const command = `${shell}; exec "${process.execPath}" "${script('release.mjs')}"`
    return execFileSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } })
  }
  const said = make(first, 'umask 022', { HOME: '/nowhere', TZ: 'UTC' })
  expect(make(second, 'umask 077', { HOME: home, TZ: 'Asia/Kolkata' })).toBe(said)
  const name = 'thing-1.2.3.tar.gz'
  const [one, other] = await Promise.all([first, second].map((folder) => readFile(path.join(folder, 'dist', name))))
  expect(other?.equals(one ?? Buffer.alloc(0))).toBe(true)
  const sum = createHash('sha256')
    .update(one ?? '')
    .digest('hex')
  expect(await readFile(path.join(first, 'dist', `${name}.sha256`), 'utf8')).toBe(`${sum}  ${name}\n`)
  expect(said).toContain(sum)
  const listed = execFileSync('tar', ['-tvzf', path.join(first, 'dist', name)], {
    encoding: 'utf8',
    env: { TZ: 'UTC', PATH: process.env['PATH'] },
  })
  const lines = listed.trim().split('\n')
  expect(lines.map((line) => line.split(/\s+/).at(-1))).toEqual(
    ['', '.gitattributes', 'bin/', 'bin/run.sh', 'package.json', 'src/', 'src/util/', 'src/util/release.json'].map(
      (file) => `thing-1.2.3/${file}`,
    ),
  )
  const [folder, file] = ['drwxr-xr-x', '-rw-r--r--']
  expect(lines.map((line) => line.slice(0, 10))).toEqual([folder, file, folder, '-rwxr-xr-x', file, folder, folder, file])

  // What runs from an archive can say of which commit it was made.
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: first, encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', path.join(first, 'dist', name)], { cwd: home })
  expect(JSON.parse(await readFile(path.join(home, 'thing-1.2.3', 'src', 'util', 'release.json'), 'utf8'))).toEqual({
    commit: head,
  })
})
