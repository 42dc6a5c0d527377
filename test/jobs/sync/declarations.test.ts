import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { operationNames } from '../../../sandbox/calls/registry.ts'
import { readConfig } from '../../../src/config/config.ts'
import { intervalSettings } from '../../../src/domain/sync/intervals.ts'
import { resource } from '../../../src/jobs/sync/engine/resource.ts'
import { resources } from '../../../src/jobs/sync/resources/resources.ts'
import { resourceRow, streamRows, withTables } from '../../../src/jobs/sync/resources/resources-table.ts'
import { markedColumns } from '../../../src/store/privacy/personal-data.ts'

// A declaration is taken apart: whatever is left out of it is missed by the compiler, by the declaration itself, or by docs/syncs.md.

const formatFolder = (room: string): string => path.resolve(import.meta.dirname, '../../../src', room)
const folder = formatFolder('jobs/sync/resources')
const compilerTimeoutMs = 300_000

/** A source with one part of a declaration left out. */
interface Without {
  readonly folder: string
  readonly file: string
  /** As `orders.ts, no. 1: resource.table.store`. */
  readonly part: string
  readonly text: string
}

/** The members of a call's object, and of the objects in it that are parts of a declaration. */
const listMembers = (
  literal: ts.ObjectLiteralExpression,
  name: string,
): readonly (readonly [string, ts.ObjectLiteralElementLike])[] =>
  literal.properties.flatMap((member) => {
    const own = `${name}.${member.name?.getText() ?? member.getText()}`
    const isNested = ts.isPropertyAssignment(member) && /\.(poll|table|key|identity|state|personalData)$/.test(own)
    const nested = isNested && ts.isObjectLiteralExpression(member.initializer) ? listMembers(member.initializer, own) : []
    return [[own, member] as const, ...nested]
  })

const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('generated'),
  )

const callsIn = (
  source: ts.SourceFile,
  names: ReadonlySet<string>,
): readonly (readonly [string, ts.ObjectLiteralExpression])[] => {
  const calls: (readonly [string, ts.ObjectLiteralExpression])[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && names.has(node.expression.getText())) {
      const [parts] = node.arguments
      if (parts !== undefined && ts.isObjectLiteralExpression(parts)) calls.push([node.expression.getText(), parts])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return calls
}

/** Each part of each declaration left out in turn. */
const takenApart = (names: ReadonlySet<string>, folder: string): readonly Without[] =>
  sourcesIn(folder).flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    return callsIn(source, names).flatMap(([call, literal], at) =>
      listMembers(literal, call).map(([part, member]) => {
        const comma = text[member.getEnd()] === ',' ? 1 : 0
        const without = text.slice(0, member.getStart()) + text.slice(member.getEnd() + comma)
        return { folder, file, part: `${file}, no. ${at + 1}: ${part}`, text: without }
      }),
    )
  })

/** Those of some sources that do not compile. */
const listRejected = (sources: readonly Without[]): ReadonlySet<string> => {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd())
  const host = ts.createCompilerHost(options, true)
  // Beside the files that they are made of, so that their imports are found.
  const virtual = new Map(sources.map((source, at) => [path.join(source.folder, `${at}-${source.file}`), source]))
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (name) => virtual.has(name) || fileExists(name)
  host.readFile = (name) => virtual.get(name)?.text ?? readFile(name)
  host.getSourceFile = (name, version, ...rest) => {
    const source = virtual.get(name)
    return source === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, source.text, version, true)
  }
  const program = ts.createProgram([...virtual.keys()], { ...options, noEmit: true, noUnusedLocals: false }, host)
  return new Set(
    [...virtual].flatMap(([name, { part }]) => {
      const file = program.getSourceFile(name)
      if (file === undefined) throw new Error(`${name} was not compiled`)
      return program.getSemanticDiagnostics(file).length > 0 || program.getSyntacticDiagnostics(file).length > 0 ? [part] : []
    }),
  )
}

/** Parts that a declaration may lack; what misses them is said below. A page that notes missing records without `noteMissing` throws. */
const mayBeLeftOut = /resource\.(enrolment|backfill|createdAt|table\.noteMissing|table\.findMissing)$/

test(
  'what is left out of a resource does not compile',
  () => {
    const whole = readdirSync(folder)
      .filter((file) => resources.some(({ name }) => file === `${name}.ts`))
      .map((file) => ({ folder, file, part: file, text: readFileSync(path.join(folder, file), 'utf8') }))
    const apart = takenApart(new Set(['resource']), folder)
    const parts = apart.filter(({ part }) => !mayBeLeftOut.test(part))
    // A resource has at least six parts: with fewer this test would look at something else.
    expect(parts.length).toBeGreaterThanOrEqual(resources.length * 6)
    const streams = takenApart(
      new Set(['followsChanges', 'fullList', 'range', 'snapshot', 'walk', 'imports', 'listing']),
      folder,
    ).filter(({ part }) =>
      /\.(list|next|controlRecords|across|createdFrom|reachDays|parts|page|step|plan|begin|identify|find|steps|reads|places)$/.test(
        part,
      ),
    )
    expect(streams.length).toBeGreaterThan(20)
    const rejected = listRejected([...whole, ...parts, ...streams])
    expect(whole.filter(({ part }) => rejected.has(part))).toEqual([])
    expect([...parts, ...streams].map(({ part }) => part).filter((part) => !rejected.has(part))).toEqual([])
  },
  compilerTimeoutMs,
)

/**
 * What tables may lack: a mechanism that a table has or has not, and marks that only some columns need. Tests of the resource that has it miss it;
 * what misses a mark is said below.
 */
const tableMayLack =
  /\.(buildKey|foundBy|computed|payload|payloadPath|part|hash|children|lockFirst|withoutErased|locked|choose|merge|preparesSmallWrites|loaded|\.\.\(table\.payloadPath.*)$|personalData\.(reference|buyer)$|^[^:]*: childTable\.(key|lasting)$/

test.each([
  { what: 'an endpoint', names: ['endpoint'], rooms: ['clients/marketplace', 'clients/display'], leftOut: null, least: 11 * 2 },
  {
    what: 'a table',
    names: ['versionedTable', 'listedStore', 'childTable'],
    rooms: ['store'],
    leftOut: tableMayLack,
    least: 15 * 8,
  },
])(
  'what is left out of $what does not compile',
  ({ names, rooms, leftOut, least }) => {
    const parts = rooms
      .flatMap((room) => takenApart(new Set(names), formatFolder(room)))
      .filter(({ part }) => leftOut?.test(part) !== true)
    expect(parts.length).toBeGreaterThanOrEqual(least)
    const rejected = listRejected(parts)
    expect(parts.map(({ part }) => part).filter((part) => !rejected.has(part))).toEqual([])
  },
  compilerTimeoutMs,
)

describe('what a resource may lack', () => {
  test.each(resources.filter(({ enrolment }) => enrolment !== undefined))(
    'docs/syncs.md misses the enrolment of $name',
    (one) => {
      const { enrolment: _, ...without } = one
      expect(resourceRow(without)).not.toBe(resourceRow(one))
    },
  )

  test.each(resources.filter(({ backfill }) => backfill !== undefined))('docs/syncs.md misses the backfill of $name', (one) => {
    const { backfill: _, ...without } = one
    expect(resourceRow(without)).not.toBe(resourceRow(one))
  })

  test.each(resources.flatMap((one) => Object.keys(one.streams).map((stream) => ({ one, name: one.name, stream }))))(
    'docs/syncs.md misses the stream $stream of $name',
    ({ one, stream }) => {
      const { [stream]: _, ...streams } = one.streams
      expect(streamRows({ ...one, streams })).toHaveLength(streamRows(one).length - 1)
    },
  )

  const snapshots = resources.filter(({ streams }) => Object.values(streams).some(({ kind }) => kind === 'snapshot'))
  test.each(snapshots)('$name is no snapshot without what says what is gone', (one) => {
    const { findMissing: _, ...withoutFinding } = one.table
    expect(() => resource({ ...one, table: withoutFinding })).toThrow(TypeError)
    const { noteMissing: __, ...withoutNoting } = one.table
    expect(() => resource({ ...one, table: withoutNoting })).toThrow(TypeError)
  })

  const overTime = resources.filter(({ streams }) =>
    Object.values(streams).some((stream) => stream.kind !== 'import' && stream.time !== null),
  )
  test.each(overTime)('$name is not read over time without the creation of what cannot be read', (one) => {
    const { createdAt: _, ...without } = one
    expect(() => resource(without)).toThrow(TypeError)
  })

  test.each([
    { name: 'inventory-log', text: '{"payload":{"inventoryLog":[{"transactionTime":1700000000000}]}}' },
    { name: 'orders', text: '{"orderDate":1700000000000}' },
    { name: 'returns', text: '{"returnOrderDate":"2023-11-14T22:13:20.000Z"}' },
  ])('$name find the creation of what cannot be read in its text', ({ name, text }) => {
    const createdAt = resources.find((one) => one.name === name)?.createdAt
    expect(createdAt?.(text)).toEqual(new Date(1_700_000_000_000))
    expect(createdAt?.('{"anything":1}')).toBeNull()
  })

  test('a mark that is left out leaves a column without one: test/store/personal-data.test.ts misses it', async () => {
    const marked = (await markedColumns()).map(({ table, column }) => `${table}.${column}`)
    expect(marked).toContain('warehouse.settlement_lines.customer_order_id')
    expect(marked.filter((name, at) => marked.indexOf(name) !== at)).toEqual([])
  })

  test.each(resources)('$name is in the sandbox: without its file there, these operations are missed', ({ endpoint }) => {
    expect(operationNames).toEqual(expect.arrayContaining(Object.values(endpoint.operations).map(({ name }) => name)))
  })

  test('a resource without streams is none', () => {
    for (const one of resources) expect(() => resource({ ...one, streams: {} })).toThrow(TypeError)
  })
})

describe('the list of resources', () => {
  test('holds each that is declared, once', async () => {
    const declared: unknown[] = []
    for (const file of new Set(takenApart(new Set(['resource']), folder).map((without) => without.file))) {
      const module: Readonly<Record<string, unknown>> = await import(path.join(folder, file))
      declared.push(...Object.values(module).filter((one) => typeof one === 'object' && one !== null && 'streams' in one))
    }
    expect(new Set(resources)).toEqual(new Set(declared))
    expect(new Set(resources.map(({ name }) => name)).size).toBe(resources.length)
  })

  test('gives each resource a setting of its own', () => {
    expect(new Set(resources.map(({ poll }) => poll.variable)).size).toBe(resources.length)
    const { intervals } = readConfig({}, false)
    expect(Object.keys(intervals).sort()).toEqual(intervalSettings.map(({ variable }) => variable).sort())
    for (const { variable } of intervalSettings) {
      expect(readConfig({ [variable]: '77s' }, false).intervals[variable]).toBe(77_000)
      expect(readConfig({ [variable]: 'off' }, false).intervals[variable]).toBe('off')
    }
  })

  test('is what docs/syncs.md says: npm run syncs-table writes it', () => {
    const page = readFileSync('docs/syncs.md', 'utf8')
    expect(withTables(page)).toBe(page)
    const named = page
      .split('\n')
      .slice(0, page.split('\n').indexOf('<!-- Made from src/jobs/sync/resources/resources.ts by npm run syncs-table. -->'))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, name]) => name))
    expect(named.sort()).toEqual(resources.map(({ name }) => name).sort())
  })
})
