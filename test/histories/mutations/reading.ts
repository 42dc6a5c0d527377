import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { type ReadingMutation, readingMutations } from './reading-rules.ts'
import { copyTree, type MutatedTree, readOutput } from './tree.ts'

/** What the tests need, besides the packages. */
const parts = ['src', 'test', 'sandbox', 'prisma', 'package.json', 'tsconfig.json', 'vitest.config.ts']

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
})

interface Ran {
  readonly name: string
  readonly failure: string | null
}

/** The name of a test, its describes before it, as a pattern: what its table fills in may be anything. */
const buildPattern = ({ caughtBy: { test } }: ReadingMutation): string => {
  const words = test.split(/%[sdifjo]|%\.\d+s/)
  return words.map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('.*')
}

/** Runs the tests that hold these rules, in a tree; answers those that ran. A tree that does not even run proves nothing. */
const runTests = async (tree: MutatedTree, mutations: readonly ReadingMutation[], what: string): Promise<readonly Ran[]> => {
  const files = [...new Set(mutations.map(({ caughtBy }) => caughtBy.file))]
  const report = path.join(tree.folder, 'report.json')
  const pattern = `^(?:${[...new Set(mutations.map(buildPattern))].join('|')})$`
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      ...['run', ...files, '-t', pattern, '--bail', '1', '--retry', '0', '--reporter', 'json', '--outputFile', report],
    ],
    { cwd: tree.folder, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const { text } = await readOutput(child)
  const { testResults } = reportSchema.parse(JSON.parse(await readFile(report, 'utf8')))
  const ran = testResults.flatMap(({ assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, status, failureMessages }) => ({
        name: fullName,
        failure: status === 'failed' ? (failureMessages?.[0] ?? 'it failed') : null,
      })),
  )
  if (ran.length > 0) return ran
  const messages = testResults.map(({ message }) => message).join('\n')
  throw new Error(`no test ran ${what}:\n${messages}\n${text.slice(-2_000)}`)
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 200) ?? ''

/** Runs the test of each rule while the rule is taken out; answers how many of them do not fail. */
export const proveReadingRules = async (
  listWanted: (all: readonly ReadingMutation[]) => readonly ReadingMutation[],
): Promise<number> => {
  const wanted = listWanted(readingMutations)
  const tree = await copyTree(parts)
  let unseen = 0
  try {
    const failed = (await runTests(tree, wanted, 'before anything was taken out')).find(({ failure }) => failure !== null)
    if (failed !== undefined) throw new Error(`"${failed.name}" fails with all rules in place: ${failed.failure}`)
    for (const mutation of wanted) {
      const { rule, replacements, caughtBy } = mutation
      const ran = await tree.without(replacements, () => runTests(tree, [mutation], `without "${rule}"`))
      const caught = ran.find(({ failure }) => failure !== null)
      if (caught === undefined) unseen += 1
      const by = caught === undefined ? `${caughtBy.test} passes` : `${caught.name}: ${firstLine(caught.failure ?? '')}`
      console.log(`${caught === undefined ? 'NOT SEEN  ' : ''}${rule}\n    ${caughtBy.file} › ${by}`)
    }
    console.log(`${wanted.length - unseen} of ${wanted.length} rules are missed by their tests when they are taken out`)
  } finally {
    await tree.remove()
  }
  return unseen
}
