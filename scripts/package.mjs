// Makes what the npm package contains besides files of the repository. `npm pack` runs it before it collects the files.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const at = (...parts) => path.join(root, ...parts)

/** The program as JavaScript, in the folders that it has in the repository: Node strips no types below `node_modules`. */
const program = at('dist', 'program')

const run = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error || status !== 0) {
    console.error(`tallyman: \`${[command, ...args].join(' ')}\` failed${error ? `: ${error.message}` : ''}`)
    process.exit(1)
  }
}

/** The commit, if nothing differs from it; an archive of a commit has it in the file already (.gitattributes). */
const readRelease = () => {
  const release = JSON.parse(readFileSync(at('src', 'util', 'release.json'), 'utf8'))
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout ?? ''
  const head = git('rev-parse', 'HEAD').trim()
  return head !== '' && git('status', '--porcelain').trim() === '' ? { commit: head } : release
}

run(process.execPath, [at('scripts', 'setup.mjs')])
const release = readRelease()
rmSync(program, { recursive: true, force: true })
run(at('node_modules', '.bin', 'node'), [at('node_modules', 'typescript', 'bin', 'tsc'), '--project', 'tsconfig.package.json'])
// Only the client has declarations: other programs import nothing else.
run(at('node_modules', '.bin', 'node'), [
  at('node_modules', 'typescript', 'bin', 'tsc'),
  ...['--project', 'tsconfig.client.json'],
])
cpSync(at('prisma'), path.join(program, 'prisma'), { recursive: true })
cpSync(at('console', 'dist'), path.join(program, 'console', 'dist'), { recursive: true })
const { name, version, type } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
writeFileSync(path.join(program, 'package.json'), JSON.stringify({ name, version, type }))
writeFileSync(path.join(program, 'src', 'util', 'release.json'), JSON.stringify(release))
