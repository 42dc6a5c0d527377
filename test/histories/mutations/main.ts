import { spawn } from 'node:child_process'
import { Command } from 'commander'
import { z } from 'zod'
import { proveReadingRules } from './reading.ts'
import { type Mutation, mutations } from './rules.ts'
import { copyTree, type MutatedTree, readOutput } from './tree.ts'

const program = new Command('mutations')
  .description('Takes rules out of the engine, one at a time, in a copy of this tree: the histories must fail each time.')
  .option('--reading', 'rules of reading instead: the test that holds each must fail')
  .option('--rule <words>', 'only the rules that contain these words', '')
  .option('--from <number>', 'goes on at the n-th rule', '1')
  .option('--count <number>', 'so many histories at most for each rule', '500')
  .parse()
const options = program.opts<{ reading?: true; rule: string; from: string; count: string }>()

/** What a history needs, besides the packages. */
const parts = ['src', 'test', 'prisma', 'package.json', 'tsconfig.json']

const findingSchema = z.union([
  z.object({ story: z.string(), broke: z.string() }),
  z.object({ seed: z.int(), broke: z.string() }),
])
type Finding = z.infer<typeof findingSchema>

/** Plays the histories without a rule; answers the stories and the first seed that were not withstood. */
const playWithout = (tree: MutatedTree, mutation: Mutation): Promise<readonly Finding[]> =>
  tree.without(mutation.replacements, async () => {
    const child = spawn(process.execPath, ['test/histories/mutations/try.ts', options.count], {
      cwd: tree.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, text } = await readOutput(child)
    // A tree that does not even run proves nothing.
    if (code !== 0) throw new Error(`the histories did not run without "${mutation.rule}":\n${text.slice(-2_000)}`)
    const lines = text.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => findingSchema.parse(JSON.parse(line)))
  })

const told = (finding: Finding): string =>
  `    ${'seed' in finding ? `seed ${finding.seed}` : `story "${finding.story}"`}: ${finding.broke}`

const listWanted = <Each extends Mutation>(all: readonly Each[]): readonly Each[] =>
  all.slice(Number(options.from) - 1).filter(({ rule }) => rule.toLowerCase().includes(options.rule.toLowerCase()))

/** Answers how many rules the histories do not miss. */
const playHistories = async (): Promise<number> => {
  const tree = await copyTree(parts)
  let missed = 0
  try {
    const wanted = listWanted(mutations)
    for (const mutation of wanted) {
      const findings = await playWithout(tree, mutation)
      if (findings.length === 0) missed += 1
      console.log(`${findings.length === 0 ? 'NOT SEEN  ' : ''}${mutation.rule}\n${findings.map(told).join('\n')}`)
    }
    console.log(`${wanted.length - missed} of ${wanted.length} rules are missed by the histories when they are taken out`)
  } finally {
    await tree.remove()
  }
  return missed
}

const unseen = options.reading === true ? await proveReadingRules(listWanted) : await playHistories()
process.exitCode = unseen === 0 ? 0 : 1
