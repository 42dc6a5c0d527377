// Checks docs/specification.md: every test that it names exists under that name, and so does every file. Plain JavaScript, since it
// runs on the machine's own Node. Usage: node scripts/check-specification.mjs [document]
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..')
const document = process.argv[2] ?? path.join(root, 'docs', 'specification.md')

/** Tests are named in code: `test/domain/units.test.ts › the describe > the test`. */
const separator = ' › '

const listed = spawnSync(
  path.join(root, 'node_modules', '.bin', 'node'),
  [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'list', '--json'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } },
)
if (listed.status !== 0) {
  console.error(`the tests cannot be listed: ${listed.stderr}`)
  process.exit(1)
}
const tests = new Set(JSON.parse(listed.stdout).map(({ file, name }) => `${path.relative(root, file)}${separator}${name}`))

const faults = []
let proofs = 0
const text = readFileSync(document, 'utf8')
for (const [index, line] of text.split('\n').entries()) {
  for (const [, code] of line.matchAll(/`([^`]+)`/g)) {
    if (code.startsWith('test/')) {
      proofs += 1
      if (!tests.has(code)) faults.push(`line ${index + 1}: there is no test ${code}`)
    } else if (/^(src|sandbox|prisma|docs|scripts)\/[\w./-]+$/.test(code) && !existsSync(path.join(root, code))) {
      faults.push(`line ${index + 1}: there is no ${code}`)
    }
  }
}
if (proofs === 0) faults.push('it names no test at all')
for (const fault of faults) console.error(`${path.relative(root, document)}: ${fault}`)
console.log(`${proofs} proofs named, ${faults.length} faults`)
process.exit(faults.length === 0 ? 0 : 1)
