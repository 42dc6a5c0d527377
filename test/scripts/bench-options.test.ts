import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** What a benchmark says at its end; its exit code. */
const run = (file: string, ...args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> =>
  promisify(execFile)(process.execPath, [path.join('bench', file), ...args]).then(
    ({ stderr }) => ({ code: 0, said: stderr }),
    (error: { readonly code: unknown; readonly stderr: string }) => ({ code: error.code, said: error.stderr }),
  )

test('every benchmark refuses an option that it does not know, and says which it takes', async () => {
  const files = (await readdir('bench')).filter((file) => file.endsWith('.ts'))
  const begun: string[] = []
  for (const file of files) {
    const text = await readFile(path.join('bench', file), 'utf8')
    // Those that a user begins say how; the others are parts of them.
    const takes = text.includes(`\`node bench/${file}`)
    if (!takes && file !== 'main.ts') continue
    begun.push(file)
    const { code, said } = await run(file, '--bogus', '7')
    expect({ file, code }).toEqual({ file, code: 2 })
    expect(said).toMatch(
      new RegExp(`^${RegExp.escape(file)}: Unknown option '--bogus'; it takes (no options|(--[a-z]+(, )?)+)\n$`),
    )
  }
  expect(begun.length).toBeGreaterThan(15)
})

test('numbers may stand there by their order where a benchmark says so, and must be numbers', async () => {
  expect(await run('fairness.ts', '100', 'many')).toEqual({
    code: 2,
    said: 'fairness.ts: --sellers needs a number above zero; it takes --rows, --sellers\n',
  })
  expect(await run('fairness.ts', '1', '2', '3')).toMatchObject({ code: 2, said: expect.stringContaining('2 numbers') })
  expect(await run('idle-sellers.ts', '--queues', 'kafka')).toMatchObject({
    code: 2,
    said: expect.stringContaining('--queues is postgres or redis'),
  })
})
