import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations, operationsIn } from '../../sandbox/calls/registry.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-operations-'))
})
afterAll(() => rm(folder, { recursive: true }))

const group = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text)

test('every file of the folder adds its operations', () => {
  const names = operations.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['token', 'orders.list', 'campaigns.get', 'settlements.dates', 'settlements.report']),
  )
})

test.each([
  ['nothing', 'export {}'],
  ['another name', `export const orders = [{ name: 'a', perform: () => ({ json: null }) }]`],
  ['no operation', 'export const operations = []'],
  ['what is none', `export const operations = [{ name: 'a' }]`],
])('a file that exports %s is named', async (what, text) => {
  await group('whole.ts', `export const operations = [{ name: 'whole', perform: () => ({ json: null }) }]`)
  const file = `${what.replaceAll(' ', '-')}.ts`
  await group(file, text)
  await expect(operationsIn(folder)).rejects.toThrow(new RegExp(`${file} has to export`))
  await rm(path.join(folder, file))
  expect((await operationsIn(folder)).map(({ name }) => name)).toEqual(['whole'])
})
