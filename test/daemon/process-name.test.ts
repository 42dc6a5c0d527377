import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { hasEnded, nameOfProcess } from '../../src/daemon/process-name.ts'

test('a process of this machine has ended when its id is free, or has become that of this one', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  await once(child, 'spawn')
  const name = `${hostname()}-${child.pid}-0123abcd`
  expect(hasEnded(name)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(hasEnded(name)).toBe(true)
  expect(hasEnded(nameOfProcess())).toBe(true)
  expect(hasEnded(`another-machine-${child.pid}-0123abcd`)).toBe(false)
  expect(hasEnded('of another kind')).toBe(false)
})
