import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
const loggers = new Set(['log', 'logger', 'quiet', 'outages', 'jobLog'])

const buildName = (node: ts.Expression): string => (ts.isPropertyAccessExpression(node) ? node.name.text : node.getText())

/** The object that a call logs, if it is a call of a log with an object. */
const loggedBy = (call: ts.CallExpression): readonly ts.ObjectLiteralExpression[] => {
  if (!ts.isPropertyAccessExpression(call.expression)) return []
  const { name, expression } = call.expression
  if (!loggers.has(buildName(expression)) || !(levels.has(name.text) || name.text === 'child')) return []
  return call.arguments.filter(ts.isObjectLiteralExpression)
}

/** Names of the fields that a file logs, by where: those that are written out, also in objects that are spread. */
const logFields = (file: string): readonly string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const fields: string[] = []
  const named = (node: ts.Node): void => {
    if ((ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && node.name !== undefined) {
      fields.push(`${file}: ${node.name.getText().replaceAll("'", '')}`)
      if (ts.isPropertyAssignment(node) && !ts.isObjectLiteralExpression(node.initializer)) return
    }
    if (ts.isArrowFunction(node) || ts.isCallExpression(node)) return
    ts.forEachChild(node, named)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) loggedBy(node).forEach(named)
    // Fields that several lines share are made by functions of this name, or held in constants of these.
    if (
      ts.isVariableDeclaration(node) &&
      /^(fieldsOf|fields|about)$/.test(node.name.getText()) &&
      node.initializer !== undefined
    ) {
      const { initializer } = node
      named(ts.isArrowFunction(initializer) ? initializer.body : initializer)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return fields
}

test('every field of the log is spelt in snake case', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith(path.join('store', 'generated')))
    .map((file) => path.join('src', file))
  const fields = files.flatMap(logFields)
  expect(fields.filter((field) => field.endsWith(': seller_id')).length).toBeGreaterThan(10)
  expect(fields.filter((field) => !/: [a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(field))).toEqual([])
})
