// Checks that every file that a document or a comment names is there, and every test that a table names behind its file. A file is named by
// its path from the root, from where it is named, or by the end of its path. Usage: node scripts/check-names.mjs [folder]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = process.argv[2] ?? '.'
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '')
const known = new Set(files)
for (const file of files) for (let at = path.dirname(file); at !== '.'; at = path.dirname(at)) known.add(at)

/** What is made when the program is installed or run, or stands in a package. */
const madeLater = /^(dist|node_modules|src\/store\/generated)(\/|$)/

const pathLike =
  /(?<![@\w./-])(?:\.{0,2}\/)?(?:[\w-][\w.-]*\/)*\.?[\w-][\w.-]*\.(?:ts|mjs|md|prisma|sql|sh)\b|(?<![@\w./-])(?:src|sandbox|test|bench|scripts|docs|prisma)\/[\w/-]*\w(?![\w.])/g

const listComments = (source) => [...source.matchAll(/(?<=^|[\s;{(,])\/\/ [^\n]*|\/\*[\s\S]*?\*\//g)].map(([comment]) => comment)
const listCodeSpans = (source) => [...source.matchAll(/`([^`\n]+)`|\]\(([^)\s#]+)/g)].map(([, code, link]) => code ?? link)

const isThere = (name, from) => {
  const plain = name.replace(/\/$/, '')
  return (
    known.has(plain) ||
    known.has(path.join(path.dirname(from), plain)) ||
    madeLater.test(plain) ||
    files.some((file) => file.endsWith(`/${plain.replace(/^(\.{1,2}\/)+/, '')}`))
  )
}

const faults = files.flatMap((file) => {
  if (/^(contracts|src\/store\/generated)\//.test(file)) return []
  const texts = /\.md$/.test(file) ? listCodeSpans : /\.(ts|mjs)$/.test(file) ? listComments : null
  if (texts === null) return []
  const named = texts(readFileSync(path.join(root, file), 'utf8')).flatMap((text) =>
    /[*<…$]|https?:/.test(text) && file.endsWith('.md') ? [] : [...text.matchAll(pathLike)].map(([name]) => name),
  )
  return [...new Set(named)].filter((name) => !isThere(name, file)).map((name) => `${file} names ${name}, which is not there`)
})
const plain = (text) => text.replaceAll(/[\\’'"…]/g, '').trim()
const titleFaults = files.flatMap((file) => {
  if (!file.endsWith('.md')) return []
  const cells = readFileSync(path.join(root, file), 'utf8').matchAll(/\| `([\w./-]+\.test\.ts)`, ([^`|\n]+?) \|/g)
  return [...cells].flatMap(([, name, title]) => {
    const tests = files.filter((one) => one === name || one.endsWith(`/${name}`))
    const found = tests.some((one) => plain(readFileSync(path.join(root, one), 'utf8')).includes(plain(title)))
    return found ? [] : [`${file} names the test "${title}", which is not in ${name}`]
  })
})

const all = [...faults, ...titleFaults]
for (const fault of all) console.error(fault)
console.log(`${files.length} files, ${all.length} names of what is not there`)
process.exitCode = all.length === 0 ? 0 : 1
