import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../src')

/** Layers that access Postgres: the store, the embedded server, the tables of the queues, and the checks of settings from outside. */
const mayContain = /^(store|embedded|queues|cli)\//

/** A statement, or a condition with a parameter. Sentences have neither capitals like these nor parameters. */
const sql =
  /\b(SELECT|INSERT INTO|DELETE FROM|UPDATE \w+[.\w]* SET|WHERE|ORDER BY|NOTIFY|LISTEN)\b|[=<>(] ?\$\d|\bIS (NOT )?NULL\b/

/** The texts of a source that are SQL, each with its line. Comments do not count. */
const statementsIn = (file: string, text: string): readonly string[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && sql.test(node.getText())) {
      found.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

test('statements, conditions and their parts are found', () => {
  const texts = [
    "'SELECT 1'",
    '`DELETE FROM t`',
    "'level = $3::int'",
    '`a IS NULL AND b`',
    "'UPDATE warehouse.orders SET open = true'",
  ]
  for (const text of texts) expect(statementsIn('one.ts', `\nconst text = ${text}`)).toEqual(['one.ts:2'])
  expect(statementsIn('one.ts', "// SELECT 1\nconst text = 'select one of these'.replace(/(a)/, '$1$2')")).toEqual([])
})

test('no SQL stands outside of the rooms that speak to Postgres', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = (those: readonly string[]) =>
    those.flatMap((file) => statementsIn(file, readFileSync(path.join(root, file), 'utf8')))
  expect(found(files.filter((file) => file.startsWith('store/') && !file.startsWith('store/generated/'))).length).toBeGreaterThan(
    100,
  )
  expect(found(files.filter((file) => !mayContain.test(file)))).toEqual([])
})
