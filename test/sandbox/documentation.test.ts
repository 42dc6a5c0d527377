import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationNames } from '../../sandbox/calls/registry.ts'
import { blemishNames, faultsSchema, nextFault, outcomes } from '../../sandbox/faults/schema.ts'

const text = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8').replace(/```[\s\S]*?```/g, '')
const spans = new Set([...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.split(/[^\w.-]+/)))

test.each([
  ['operations', operationNames],
  ['faults', [...outcomes, ...blemishNames]],
  ['details of faults', Object.keys(nextFault.shape)],
  ['settings beside the shares', Object.keys(faultsSchema.shape)],
])('docs/sandbox.md names all %s', (_what, names) => {
  expect(names.filter((name) => !spans.has(name))).toEqual([])
})
