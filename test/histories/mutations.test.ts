import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { applied, root } from './mutations/apply.ts'
import { mutations } from './mutations/rules.ts'

describe('the rules that can be taken out of the engine', () => {
  for (const { rule, replacements } of mutations) {
    test(rule, async () => {
      const files = new Map<string, string>()
      for (const replacement of replacements) {
        const text = files.get(replacement.file) ?? (await readFile(path.join(root, replacement.file), 'utf8'))
        files.set(replacement.file, applied(text, replacement))
      }
      expect(files.size).toBeGreaterThan(0)
    })
  }
})
