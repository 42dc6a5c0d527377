import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { applied, root } from './apply.ts'
import type { Replacement } from './rules.ts'

/** A copy of this tree, in which rules are taken out. */
export interface MutatedTree {
  readonly folder: string
  /** Does some work while these replacements are made; then every file is as it was. */
  without<Result>(replacements: readonly Replacement[], work: () => Promise<Result>): Promise<Result>
  remove(): Promise<void>
}

/** Copies these parts of this tree to another place; the packages are shared. */
export const copyTree = async (parts: readonly string[]): Promise<MutatedTree> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-mutations-'))
  for (const part of parts) await cp(path.join(root, part), path.join(folder, part), { recursive: true })
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return {
    folder,
    without: async (replacements, work) => {
      const changed = new Map<string, string>()
      for (const replacement of replacements) {
        const before = changed.get(replacement.file) ?? (await readFile(path.join(root, replacement.file), 'utf8'))
        changed.set(replacement.file, applied(before, replacement))
      }
      for (const [file, text] of changed) await writeFile(path.join(folder, file), text)
      try {
        return await work()
      } finally {
        for (const file of changed.keys()) await cp(path.join(root, file), path.join(folder, file))
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** How a program ended, and all that it has said. */
export const readOutput = async (child: ChildProcess): Promise<{ readonly code: number; readonly text: string }> => {
  let text = ''
  const add = (chunk: Buffer): void => {
    text += chunk.toString()
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  const [code] = await once(child, 'close')
  return { code: Number(code ?? 1), text }
}
