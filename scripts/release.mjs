// Makes the archive of a commit, `dist/tallyman-<version>.tar.gz`, with its SHA-256 beside it. The same commit gives
// the same bytes each time: times are the commit's, owners are root, and neither settings of git nor the mask of the user count.
// Run by the project's own Node, whose version says how it compresses. Usage: npm run release -- [commit]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { constants, gzipSync } from 'node:zlib'

const settings = ['tar.umask=0022', 'core.autocrlf=false', 'core.eol=lf', 'core.attributesFile=/dev/null', 'core.quotePath=true']
const git = (...args) =>
  execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    maxBuffer: 1_073_741_824,
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
  })

const commit = git('rev-parse', '--verify', '--end-of-options', `${process.argv[2] ?? 'HEAD'}^{commit}`)
  .toString()
  .trim()
const { name, version } = JSON.parse(git('show', `${commit}:package.json`).toString())
const tar = git('archive', '--format=tar', `--prefix=${name}-${version}/`, commit)
const archive = gzipSync(tar, { level: constants.Z_BEST_COMPRESSION })
// The header names the compressing system, which must not influence the release.
archive[9] = 255

const file = `${name}-${version}.tar.gz`
const sum = createHash('sha256').update(archive).digest('hex')
mkdirSync('dist', { recursive: true })
writeFileSync(`dist/${file}`, archive)
writeFileSync(`dist/${file}.sha256`, `${sum}  ${file}\n`)
console.log(`dist/${file} of ${commit}\n${sum}`)
