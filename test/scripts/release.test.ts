import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const script = path.resolve('scripts/release.mjs')
let folder: string

const read = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8')
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: folder, encoding: 'utf8' }).trim()
const identity = {
  GIT_AUTHOR_NAME: 't',
  GIT_AUTHOR_EMAIL: 't@t.example',
  GIT_COMMITTER_NAME: 't',
  GIT_COMMITTER_EMAIL: 't@t.example',
}
const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8', env: { ...process.env, ...identity } })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-release-'))
  await mkdir(path.join(folder, 'prisma/migrations/1_first'), { recursive: true })
  await mkdir(path.join(folder, 'deploy/base'), { recursive: true })
  const manifest = { name: 'thing', version: '0.1.0' }
  const files: Readonly<Record<string, string>> = {
    'package.json': JSON.stringify(manifest, null, 2),
    'package-lock.json': JSON.stringify({ ...manifest, packages: { '': manifest } }),
    'README.md': 'npm install ./thing-0.1.0.tgz; docker push registry.example/thing:0.1.0; needs other-0.1.0.tgz\n',
    'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n### Parts\n- Begins.\n',
    'deploy/base/kustomization.yaml': 'images:\n  - name: thing\n    newTag: 0.1.0\nkind: Kustomization\n',
    'prisma/migrations/1_first/migration.sql': 'SELECT 1;\n',
    '.gitignore': 'dist/\n',
  }
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text)
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'first')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('one command sets the version, closes the changelog, commits, tags, and makes the archive and the package', async () => {
  const first = release('--version', '0.2.0')
  expect([first.status, first.stderr]).toEqual([0, ''])
  const today = new Date().toISOString().slice(0, 10)
  expect(await read('CHANGELOG.md')).toBe(`# Changelog\n\n## Unreleased\n\n## 0.2.0 (${today})\n\n### Parts\n- Begins.\n`)
  expect(JSON.parse(await read('package.json'))).toMatchObject({ version: '0.2.0' })
  expect(JSON.parse(await read('package-lock.json'))).toMatchObject({ version: '0.2.0', packages: { '': { version: '0.2.0' } } })
  expect(await read('README.md')).toBe(
    'npm install ./thing-0.2.0.tgz; docker push registry.example/thing:0.2.0; needs other-0.1.0.tgz\n',
  )
  expect(await read('deploy/base/kustomization.yaml')).toContain('    newTag: 0.2.0\n')
  expect([git('log', '-1', '--format=%s'), git('describe', '--tags'), git('status', '--porcelain')]).toEqual([
    'Release 0.2.0',
    'v0.2.0',
    '',
  ])
  const names = ['thing-0.2.0.tar.gz', 'thing-0.2.0.tgz']
  expect((await readdir(path.join(folder, 'dist'))).sort()).toEqual(names.flatMap((name) => [name, `${name}.sha256`]))

  // The next one names what an upgrade needs.
  const changes = '### Parts\n- Grows.\n- Changed: the lamp is\n  blue.\n- Changed: none.\n'
  const closed = (await read('CHANGELOG.md')).replace('## Unreleased\n', `## Unreleased\n\n${changes}`)
  await writeFile(path.join(folder, 'CHANGELOG.md'), closed)
  await mkdir(path.join(folder, 'prisma/migrations/2_second'))
  await writeFile(path.join(folder, 'prisma/migrations/2_second/migration.sql'), 'SELECT 2;\n')
  expect(release('--version', '0.3.0')).toMatchObject({
    status: 1,
    stderr: 'release: there are changes that are not committed\n',
  })
  git('add', '--all')
  git('commit', '--quiet', '--message', 'second')
  expect(release('--version', '0.3.0').status).toBe(0)
  const notes = `### Upgrading from 0.2.0
- 1 migration: make a backup, then see [upgrading](docs/deployment.md#upgrading).
- The lamp is
  blue.
- None.
`
  expect(await read('CHANGELOG.md')).toBe(
    `# Changelog\n\n## Unreleased\n\n## 0.3.0 (${today})\n\n${notes}\n${changes}\n## 0.2.0 (${today})\n\n### Parts\n- Begins.\n`,
  )
  expect(release('--version', '0.4.0')).toMatchObject({
    status: 1,
    stderr: 'release: CHANGELOG.md has nothing under "## Unreleased"\n',
  })
  expect(release('--version', 'next').status).toBe(1)
  expect(git('status', '--porcelain')).toBe('')
}, 120_000)
