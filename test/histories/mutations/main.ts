import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { z } from 'zod'
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

const findingSchema = z.union([
  z.object({ story: z.string(), broke: z.string() }),
  z.object({ seed: z.int(), broke: z.string() }),
])
type Finding = z.infer<typeof findingSchema>

/** Plays the histories without a rule; answers the stories and the first seed that were not withstood. */
const playWithout = async (folder: string, mutation: Mutation): Promise<readonly Finding[]> => {
  const changed = new Map<string, string>()
  for (const replacement of mutation.replacements) {
    const before = changed.get(replacement.file) ?? (await readFile(path.join(root, replacement.file), 'utf8'))
    changed.set(replacement.file, applied(before, replacement))
  }
  for (const [file, text] of changed) await writeFile(path.join(folder, file), text)
  try {
    const child = spawn(process.execPath, ['test/histories/mutations/try.ts', options.count], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, text } = await outputOf(child)
    // A tree that does not even run proves nothing.
    if (code !== 0) throw new Error(`the histories did not run without "${mutation.rule}":\n${text.slice(-2_000)}`)
    const lines = text.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => findingSchema.parse(JSON.parse(line)))
  } finally {
    for (const file of changed.keys()) await cp(path.join(root, file), path.join(folder, file))
  }
}

const told = (finding: Finding): string =>
  `    ${'seed' in finding ? `seed ${finding.seed}` : `story "${finding.story}"`}: ${finding.broke}`

const folder = await copyTree()
let missed = 0
try {
  const wanted = mutations
    .slice(Number(options.from) - 1)
    .filter(({ rule }) => rule.toLowerCase().includes(options.rule.toLowerCase()))
  for (const mutation of wanted) {
    const findings = await playWithout(folder, mutation)
    if (findings.length === 0) missed += 1
    console.log(`${findings.length === 0 ? 'NOT SEEN  ' : ''}${mutation.rule}\n${findings.map(told).join('\n')}`)
  }
  console.log(`${wanted.length - missed} of ${wanted.length} rules are missed by the histories when they are taken out`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = missed === 0 ? 0 : 1
