// Checks docs/specification.md: every test that it names exists under that name, every file exists, and every row that should have a
// proof has one. Plain JavaScript, since it runs on the machine's own Node. Usage: node scripts/check-specification.mjs [document]
//
// - A code span that begins with `test/` names a test, as written in the code: `test/domain/units.test.ts › the describe > the test`.
// - A list entry `- D4.2 <test>` gives a test a label; a label stands for its test, is defined once, and is used.
// - A code span that begins with another folder of this repository is a file or a folder that exists.
// - In a table, a cell under a heading with the word "proof" holds a label or a test, or a dash and the reason why there is none.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const document = path.resolve(process.argv[2] ?? path.join(root, 'docs', 'specification.md'))

const separator = ' › '
const label = /\b[DSC]\d+\.\d+\b/g
const sourcePath = /^(src|sandbox|prisma|docs|scripts|bench|bin)\/[\w./-]+$/

const lines = readFileSync(document, 'utf8').split('\n')
const spansIn = (line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code)
const isTest = (code) => code.startsWith('test/')
const formatFile = (code) => code.split(separator)[0]
const exists = (file) => existsSync(path.join(root, file))

/** `file › name` of every test in these files, by their source: no test is run. */
const testsIn = (files) => {
  if (files.length === 0) return new Set()
  // The value of `--json` would be the next argument, a file to write to: it comes last.
  const { status, stdout, stderr } = spawnSync(
    path.join(root, 'node_modules', '.bin', 'node'),
    [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'list', ...files, '--json'],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } },
  )
  if (status !== 0) {
    console.error(`the tests cannot be listed: ${stderr}`)
    process.exit(1)
  }
  return new Set(JSON.parse(stdout).map(({ file, name }) => `${path.relative(root, file)}${separator}${name}`))
}

/** Cells of a table row, without the empty ones before the first and after the last bar. */
const listCells = (line) =>
  line
    .trim()
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

const isProof = (cell) => cell.match(label) !== null || spansIn(cell).some(isTest) || /^— \S/.test(cell)

const named = lines.flatMap(spansIn).filter(isTest)
const tests = testsIn([...new Set(named.map(formatFile))].filter(exists))
const faults = []
const defined = new Map()
const used = new Map()
let proofColumns = null

for (const [index, line] of lines.entries()) {
  const fault = (what) => faults.push(`line ${index + 1}: ${what}`)
  const spans = spansIn(line)
  for (const code of spans) {
    if (isTest(code) && !tests.has(code))
      fault(exists(formatFile(code)) ? `there is no test ${code}` : `there is no ${formatFile(code)}`)
    if (sourcePath.test(code) && !exists(code)) fault(`there is no ${code}`)
  }

  const definition = /^- ([DSC]\d+\.\d+) /.exec(line)?.[1]
  if (definition !== undefined) {
    if (defined.has(definition)) fault(`${definition} is defined twice`)
    if (spans.filter(isTest).length !== 1) fault(`${definition} names no test, or several`)
    defined.set(definition, index)
  } else {
    for (const [one] of line.matchAll(label)) if (!used.has(one)) used.set(one, index)
  }

  if (!line.trimStart().startsWith('|')) {
    proofColumns = null
  } else if (proofColumns === null) {
    proofColumns = listCells(line).flatMap((heading, column) => (/\bproof/i.test(heading) ? [column] : []))
  } else if (!/^[\s|:-]+$/.test(line)) {
    const cells = listCells(line)
    for (const column of proofColumns) {
      if (!isProof(cells[column] ?? '')) fault(`column ${column + 1} names no proof, nor a dash and a reason`)
    }
  }
}
for (const [one, index] of used) if (!defined.has(one)) faults.push(`line ${index + 1}: ${one} stands for no test`)
for (const [one, index] of defined) if (!used.has(one)) faults.push(`line ${index + 1}: ${one} is used nowhere`)
if (named.length === 0) faults.push('it names no test at all')

for (const fault of faults) console.error(`${path.relative(root, document)}: ${fault}`)
console.log(`${new Set(named).size} proofs named, ${faults.length} faults`)
process.exit(faults.length === 0 ? 0 : 1)
