import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { applied, root } from './mutations/apply.ts'
import { readingMutations } from './mutations/reading-rules.ts'
import { type Mutation, mutations } from './mutations/rules.ts'

/** The files that a mutation changes, each with all of its replacements made. */
const changedBy = async ({ replacements }: Mutation): Promise<ReadonlyMap<string, string>> => {
  const files = new Map<string, string>()
  for (const replacement of replacements) {
    const text = files.get(replacement.file) ?? (await readFile(path.join(root, replacement.file), 'utf8'))
    files.set(replacement.file, applied(text, replacement))
  }
  return files
}

describe('the rules that can be taken out of the engine', () => {
  for (const mutation of mutations) {
    test(mutation.rule, async () => {
      expect((await changedBy(mutation)).size).toBeGreaterThan(0)
    })
  }
})

describe('the rules that can be taken out of reading', () => {
  for (const mutation of readingMutations) {
    test(mutation.rule, async () => {
      expect((await changedBy(mutation)).size).toBeGreaterThan(0)
      const { file, test: name } = mutation.caughtBy
      const source = await readFile(path.join(root, file), 'utf8')
      for (const words of name.split(' > ')) expect(source.includes(words), words).toBe(true)
    })
  }
})
