// Checks names, comments, messages and pages for private words: scripts/words.json lists them with the terms to write instead. It also checks that
// no folder of src holds more than 25 files. Usage: node scripts/check-words.mjs [--count]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const maxFiles = 25
const places = [
  'src',
  'sandbox',
  'console',
  'bench',
  'scripts',
  'docs',
  'deploy',
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
]
const { words, exceptions } = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'))
const avoided = words.map(({ avoid, write }) => ({ pattern: new RegExp(avoid, 'g'), write }))
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...places], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|tsx|mjs|md|yaml|sql)$/.test(file) && file !== 'scripts/words.json')

const isException = (file, found) => exceptions.some((one) => file === one.file && found.toLowerCase() === one.word.toLowerCase())

const findings = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      avoided.flatMap(({ pattern, write }) =>
        [...line.matchAll(pattern)]
          .filter(([found]) => !isException(file, found))
          .map(([found]) => `${file}:${index + 1}: "${found}": write ${write}`),
      ),
    ),
)
const folders = files.filter((file) => file.startsWith('src/')).map((file) => path.dirname(file))
const fullFolders = [...new Set(folders)].flatMap((folder) => {
  const count = folders.filter((one) => one === folder).length
  return count > maxFiles ? [`${folder} holds ${count} files, more than ${maxFiles}`] : []
})

const all = [...findings, ...fullFolders]
if (!process.argv.includes('--count')) for (const finding of all) console.error(finding)
console.log(`${files.length} files, ${all.length} private words or full folders`)
process.exitCode = all.length === 0 ? 0 : 1
