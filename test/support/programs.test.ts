import { expect, test } from 'vitest'
import { startTestDaemon } from './daemon.ts'
import { Hopeless } from './eventually.ts'
import { startTestSandbox } from './sandbox.ts'

test('a daemon or a sandbox that ends before it is ready fails its test at once, with what it printed', async () => {
  const daemon = startTestDaemon({ PORT: 'none' })
  await expect(daemon).rejects.toThrow(Hopeless)
  await expect(daemon).rejects.toThrow(/ended with [1-9].*PORT/s)
  const sandbox = startTestSandbox({ SANDBOX_PORT: 'none' })
  await expect(sandbox).rejects.toThrow(Hopeless)
  await expect(sandbox).rejects.toThrow(/ended with [1-9].*SANDBOX_PORT/s)
})
