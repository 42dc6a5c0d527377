import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { applied, root } from './apply.ts'
import { type Mutation, mutations } from './rules.ts'

const program = new Command('mutations')
  .description('Takes rules out of the engine, one at a time, in a copy of this tree: the histories must fail each time.')
  .option('--rule <words>', 'only the rules that contain these words', '')
  .option('--from <number>', 'goes on at the n-th rule', '1')
  .option('--count <number>', 'so many histories at most for each rule', '500')
  .parse()
const options = program.opts<{ rule: string; from: string; count: string }>()

/** What a history needs, besides the packages. */
const parts = ['src', 'test', 'prisma', 'package.json', 'tsconfig.json']

const copyTree = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-mutations-'))
  for (const part of parts) await cp(path.join(root, part), path.join(folder, part), { recursive: true })
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

const outputOf = async (child: ChildProcess): Promise<{ readonly code: number; readonly text: string }> => {
  let text = ''
  const add = (chunk: Buffer): void => {
    text += chunk.toString()
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  const [code] = await once(child, 'close')
  return { code: Number(code ?? 1), text }
}

/** Plays the histories without a rule. Answers the seed that failed and the rules of the oracle it broke; null: all were withstood. */
const playWithout = async (
  folder: string,
  mutation: Mutation,
): Promise<{ readonly seed: string; readonly broke: string } | null> => {
  const changed = new Map<string, string>()
  for (const replacement of mutation.replacements) {
    const before = changed.get(replacement.file) ?? (await readFile(path.join(root, replacement.file), 'utf8'))
    changed.set(replacement.file, applied(before, replacement))
  }
  for (const [file, text] of changed) await writeFile(path.join(folder, file), text)
  try {
    const args = ['test/histories/main.ts', '--from', '0', '--count', options.count, '--no-shrink']
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const { code, text } = await outputOf(child)
    if (code === 0) return null
    const found = /^seed (\d+) is not withstood:\n([^\n]*)/m.exec(text)
    // A tree that does not even run proves nothing.
    if (found?.[1] === undefined) throw new Error(`the histories did not run without "${mutation.rule}":\n${text.slice(-2_000)}`)
    return { seed: found[1], broke: found[2] ?? '' }
  } finally {
    for (const file of changed.keys()) await cp(path.join(root, file), path.join(folder, file))
  }
}

const folder = await copyTree()
let missed = 0
try {
  const wanted = mutations
    .slice(Number(options.from) - 1)
    .filter(({ rule }) => rule.toLowerCase().includes(options.rule.toLowerCase()))
  for (const mutation of wanted) {
    const found = await playWithout(folder, mutation)
    if (found === null) missed += 1
    console.log(found === null ? `NOT SEEN  ${mutation.rule}` : `seed ${found.seed}  ${mutation.rule}  (${found.broke})`)
  }
  console.log(`${wanted.length - missed} of ${wanted.length} rules are missed by the histories when they are taken out`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = missed === 0 ? 0 : 1
