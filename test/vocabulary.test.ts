import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { profiles } from '../src/clients/marketplace/profiles/index.ts'
import type { Vocabulary } from '../src/domain/values/vocabulary.ts'

const source = path.resolve(import.meta.dirname, '../src')
/** Layers that are independent of a marketplace. */
const rooms = ['domain', 'jobs', 'store', 'queues', 'http']
/** Examples for readers: no rule compares anything with them. */
const examples = ['changes/examples.ts', 'schemas/openapi-examples.ts']

const describeError = (vocabulary: Vocabulary): readonly string[] => [
  vocabulary.calendar.zone,
  ...vocabulary.statuses.all,
  ...vocabulary.shipNodes.all,
  vocabulary.productCharge,
  ...vocabulary.cancelReasons,
  ...vocabulary.refundReasons,
  ...(vocabulary.carriers ?? []),
  ...vocabulary.settingsCarriers.services.keys(),
  ...[...vocabulary.settingsCarriers.services.values()].flat(),
]

const words: ReadonlySet<string> = new Set([...profiles.values()].flatMap(({ vocabulary }) => describeError(vocabulary)))

/** The texts of a program: whole, and as far as they stand in quotes within one, as SQL has them. Comments are none. */
const listTexts = (code: string): readonly string[] => {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) {
      texts.push(node.text, ...[...node.text.matchAll(/'([^']*)'/g)].map(([, quoted = '']) => quoted))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('program.ts', code, ts.ScriptTarget.Latest))
  return texts
}

/** The marketplace's words in a program, as they are and in lower case: node types and the like are compared without case. */
const foundIn = (code: string): readonly string[] => {
  const texts = new Set(listTexts(code))
  return [...words].filter((word) => texts.has(word) || (/[A-Z].*[A-Z]/.test(word) && texts.has(word.toLowerCase())))
}

describe.each(rooms)('src/%s', (room) => {
  test('knows no word of the marketplace', async () => {
    const files = (await readdir(path.join(source, room), { recursive: true })).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('generated') && !examples.includes(file),
    )
    expect(files.length).toBeGreaterThan(5)
    const known: Record<string, readonly string[]> = {}
    for (const file of files) {
      const found = foundIn(await readFile(path.join(source, room, file), 'utf8'))
      if (found.length > 0) known[file] = found
    }
    expect(known).toEqual({})
  })
})

test('a word is found wherever a program states it, and not in its comments', () => {
  expect(foundIn("// 'Shipped'\nconst a = node === 'wfsfulfilled'")).toEqual(['WFSFulfilled'])
  expect(foundIn(`const sql = \`SELECT \${a} FROM t WHERE status = 'Created' AND \${b}\``)).toEqual(['Created'])
  expect(foundIn("const month = `x AT TIME ZONE 'America/Los_Angeles'`")).toEqual(['America/Los_Angeles'])
})
