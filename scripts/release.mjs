// Makes a release. Usage:
//
//   npm run release -- --version 0.2.0   sets the version, closes the changelog with its upgrade notes, commits, tags `v0.2.0`, and makes both files
//   npm run release -- [commit]          makes the archive of a commit
//
// The files are in `dist`, each with its SHA-256 beside it: the archive `tallyman-<version>.tar.gz`, and the npm package `tallyman-<version>.tgz`.
// The same commit gives the same bytes of the archive each time: times are the commit's, owners are root, and neither settings of git nor the mask
// of the user count. Run by the project's own Node, whose version says how it compresses. Nothing is published or pushed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, gzipSync } from 'node:zlib'
import { closeChangelog } from './release-notes.mjs'

const settings = ['tar.umask=0022', 'core.autocrlf=false', 'core.eol=lf', 'core.attributesFile=/dev/null', 'core.quotePath=true']
const git = (...args) =>
  execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    maxBuffer: 1_073_741_824,
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
  })
const askGit = (...args) =>
  git(...args)
    .toString()
    .trim()

const fail = (message) => {
  console.error(`release: ${message}`)
  process.exit(1)
}

const writeSum = (file, content) => {
  const sum = createHash('sha256').update(content).digest('hex')
  writeFileSync(`dist/${file}.sha256`, `${sum}  ${file}\n`)
  return sum
}

const makeArchive = (revision) => {
  const commit = askGit('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`)
  const { name, version } = JSON.parse(git('show', `${commit}:package.json`).toString())
  const tar = git('archive', '--format=tar', `--prefix=${name}-${version}/`, commit)
  const archive = gzipSync(tar, { level: constants.Z_BEST_COMPRESSION })
  // The header names the compressing system, which must not influence the release.
  archive[9] = 255
  const file = `${name}-${version}.tar.gz`
  mkdirSync('dist', { recursive: true })
  writeFileSync(`dist/${file}`, archive)
  console.log(`dist/${file} of ${commit}\n${writeSum(file, archive)}`)
}

const makePackage = () => {
  const npm = ['pack', '--silent', '--pack-destination', 'dist']
  const file = execFileSync('npm', npm, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  console.log(`dist/${file}\n${writeSum(file, readFileSync(`dist/${file}`))}`)
}

/** Changes the texts that name the version, and commits and tags them. */
const setVersion = (version) => {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version ?? '')) fail('--version needs a version such as 0.2.0')
  if (askGit('status', '--porcelain') !== '') fail('there are changes that are not committed')
  const { name, version: previous } = JSON.parse(readFileSync('package.json', 'utf8'))
  const tags = askGit('tag', '--list').split('\n')
  if (tags.includes(`v${version}`)) fail(`the tag v${version} exists`)
  const added = tags.includes(`v${previous}`)
    ? askGit('diff', '--name-only', '--diff-filter=A', `v${previous}`, '--', 'prisma/migrations').split('\n').filter(Boolean)
    : null
  const today = new Date().toISOString().slice(0, 10)
  const release = { version, previous: added === null ? null : previous, migrations: added?.length ?? 0, today }
  const changelog = closeChangelog(readFileSync('CHANGELOG.md', 'utf8'), release)
  if (changelog === null) fail('CHANGELOG.md has nothing under "## Unreleased"')
  writeFileSync('CHANGELOG.md', changelog)

  const manifest = readFileSync('package.json', 'utf8')
  writeFileSync('package.json', manifest.replace(`"version": "${previous}"`, `"version": "${version}"`))
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  lock.version = version
  lock.packages[''].version = version
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
  // Pages and the manifests for Kubernetes name the package and the image by their version.
  for (const page of askGit('ls-files', '*.md', '*kustomization.yaml')
    .split('\n')
    .filter((file) => file !== 'CHANGELOG.md')) {
    const text = readFileSync(page, 'utf8')
    const named = text
      .replaceAll(`${name}-${previous}.tgz`, `${name}-${version}.tgz`)
      .replaceAll(`/${name}:${previous}`, `/${name}:${version}`)
      .replaceAll(`newTag: ${previous}\n`, `newTag: ${version}\n`)
    if (named !== text) writeFileSync(page, named)
  }
  git('commit', '--quiet', '--all', '--message', `Release ${version}`)
  git('tag', `v${version}`)
}

const [first, second] = process.argv.slice(2)
if (first === '--version') setVersion(second)
makeArchive(first === '--version' ? 'HEAD' : (first ?? 'HEAD'))
if (first === '--version') makePackage()
