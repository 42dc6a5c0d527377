import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { withMap } from '../scripts/pages/architecture-map.ts'

/** Longest line of prose, and longest cell of a table, in characters. */
const maxLine = 160
const maxCell = 200

const root = path.resolve(import.meta.dirname, '..')

/** Every page that people read, relative to the root of the repository. */
const pages = async (): Promise<readonly string[]> => [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...(await readdir(path.join(root, 'docs'), { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file))
    .sort(),
]

/** A list item or line that holds nothing but one link or one address cannot be wrapped. */
const linkOnly = /^\s*(?:[-*] )?(?:!?\[[^\]]*\]\([^)]*\)|<?https?:\/\/\S+>?)[.,;]?$/

/** A list item that holds nothing but one code span, such as a test's name or a shape, cannot be wrapped either. */
const codeOnly = /^\s*(?:[-*] )?(?:[A-Z]\d+\.\d+ )?`[^`]+`[.,;:]?$/

const listCells = (row: string): readonly string[] => row.split(/(?<!\\)\|/).map((cell) => cell.trim())

/** Lines and cells of a page that are too long, with their line numbers. Code fences do not count. */
const tooLong = (text: string): readonly string[] => {
  let fenced = false
  return text.split('\n').flatMap((line, index): readonly string[] => {
    const at = (length: number, what: string) => `line ${index + 1}: ${what} of ${length} characters`
    if (line.trimStart().startsWith('```')) {
      fenced = !fenced
      return []
    }
    if (fenced) return []
    if (line.trimStart().startsWith('|')) {
      return listCells(line)
        .filter((cell) => cell.length > maxCell)
        .map((cell) => at(cell.length, 'a cell'))
    }
    return line.length > maxLine && !linkOnly.test(line) && !codeOnly.test(line) ? [at(line.length, 'a line')] : []
  })
}

test('the map of ARCHITECTURE.md shows the imports: npm run architecture writes it', () => {
  const page = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
  expect(page).toContain('jobs --> store')
  expect(withMap(page)).toBe(page)
})

test('the index of decisions lists each record with its title, in their order', async () => {
  const folder = path.join(root, 'docs/decisions')
  const records = (await readdir(folder)).filter((file) => file !== 'README.md').sort()
  const titles = records.map((file) => {
    const [heading = ''] = readFileSync(path.join(folder, file), 'utf8').split('\n')
    return `- [${heading.replace(/^# /, '')}](${file})`
  })
  const index = readFileSync(path.join(folder, 'README.md'), 'utf8').split('\n')
  expect(index.filter((line) => line.startsWith('- '))).toEqual(titles)
  expect(records.map((file) => Number(file.slice(0, 4)))).toEqual(records.map((_, place) => place + 1))
})

test('long lines and cells are found, except code fences, links and code spans', () => {
  const long = 'word '.repeat(maxLine / 5).concat('end')
  expect(tooLong(long)).toEqual([`line 1: a line of ${long.length} characters`])
  expect(tooLong(`| short | ${long} ${long} |`)).toEqual([`line 1: a cell of ${2 * long.length + 1} characters`])
  expect(tooLong(`| short | ${long} |`)).toEqual([])
  expect(tooLong(`\`\`\`sh\n${long}\n\`\`\``)).toEqual([])
  expect(tooLong(`\`\`\`sh\n\`\`\`\n${long}`)).toHaveLength(1)
  expect(tooLong(`- [${long}](page.md)`)).toEqual([])
  expect(tooLong(`- D1.1 \`${long}\``)).toEqual([])
  expect(tooLong(`- D1.1 \`${long}\` and more`)).toHaveLength(1)
})

test('no page has a line of more than 160 characters, or a table cell of more than 200', async () => {
  const files = await pages()
  expect(files).toContain('docs/operations.md')
  const found = files.flatMap((file) => tooLong(readFileSync(path.join(root, file), 'utf8')).map((what) => `${file}, ${what}`))
  expect(found).toEqual([])
})
