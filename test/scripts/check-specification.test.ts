import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const script = path.resolve(import.meta.dirname, '../../scripts/check-specification.mjs')
const real = 'test/scripts/check-specification.test.ts › a document > of ours has no fault'

const check = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  return { status, said: stdout.trim(), faults: stderr.split('\n').filter((line) => line !== '') }
}

const checkText = async (...lines: readonly string[]) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'specification-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const document = path.join(folder, 'document.md')
  await writeFile(document, lines.join('\n'))
  return check(document)
}

describe('a document', () => {
  test('of ours has no fault', () => {
    const { status, said, faults } = check()
    expect(faults).toEqual([])
    expect(said).toMatch(/^[1-9]\d+ proofs named, 0 faults$/)
    expect(status).toBe(0)
  })

  test('that names what exists has none, by label, by test, or by a dash and a reason', async () => {
    const found = await checkText(
      '| row | where | proof: daemon | proof: sandbox |',
      '| --- | --- | --- | --- |',
      `| one | \`src/clients\`, \`sandbox/main.ts\` | D1.1 | \`${real}\` |`,
      '| two | a \\| b | D1.1 | — (a choice of ours) |',
      '',
      `- D1.1 \`${real}\``,
    )
    expect(found).toEqual({ status: 0, said: '1 proofs named, 0 faults', faults: [] })
  })

  test.each([
    ['a test that does not exist', [`\`${real}, not\``], 'line 1: there is no test'],
    ['a test file that does not exist', ['`test/no-such.test.ts › a test`'], 'line 1: there is no test/no-such.test.ts'],
    [
      'a source file that does not exist',
      [`\`${real}\``, '`src/clients/no-such.ts`'],
      'line 2: there is no src/clients/no-such.ts',
    ],
    ['a folder that does not exist', [`\`${real}\``, '`sandbox/no-such`'], 'line 2: there is no sandbox/no-such'],
    ['no test at all', ['nothing'], 'it names no test at all'],
    ['a label that stands for nothing', [`\`${real}\``, 'see S2.1'], 'line 2: S2.1 stands for no test'],
    ['a label that nobody uses', [`- C9.1 \`${real}\``], 'line 1: C9.1 is used nowhere'],
    ['a label for two tests', ['C9.1', `- C9.1 \`${real}\``, `- C9.1 \`${real}\``], 'line 3: C9.1 is defined twice'],
    ['a label without a test', [`C9.1 \`${real}\``, '- C9.1 of some kind'], 'line 2: C9.1 names no test, or several'],
    ['a row without a proof', ['| row | proof |', '| --- | --- |', `| \`${real}\` | |`], 'line 3: column 2 names no proof'],
    ['a row with a bare dash', ['| row | proof |', '| --- | --- |', `| \`${real}\` | — |`], 'line 3: column 2 names no proof'],
    ['a row that is cut short', ['| row | proof |', '| --- | --- |', `| \`${real}\` |`], 'line 3: column 2 names no proof'],
  ])('is at fault for %s', async (_name, lines, fault) => {
    const { status, said, faults } = await checkText(...lines)
    expect(faults).toEqual([expect.stringContaining(fault)])
    expect(said).toMatch(/^\d proofs named, 1 faults$/)
    expect(status).toBe(1)
  })
})
