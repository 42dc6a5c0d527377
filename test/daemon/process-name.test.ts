import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { buildProcessName, hasEnded, readPlace } from '../../src/util/process-name.ts'

const place = readPlace()
const readers = { host: () => 'host', bootId: () => 'boot', pidNamespace: () => 'pid:[1]' }
const absent = (): never => {
  throw new Error('there is no /proc')
}

/** The id of a process that has ended. */
const endedPid = async (): Promise<number | undefined> => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid
}

test.skipIf(process.platform !== 'linux')(
  'a process of this machine has ended when its id is free, or has become that of this one',
  async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
    await once(child, 'spawn')
    const name = `${place}-${child.pid}-0123abcd`
    expect(hasEnded(name)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(hasEnded(name)).toBe(true)
    expect(hasEnded(buildProcessName())).toBe(true)
    expect(hasEnded(`another-machine-${child.pid}-0123abcd`)).toBe(false)
    expect(hasEnded('of another kind')).toBe(false)
  },
)

test('the host name alone tells nothing of a process', async () => {
  const ended = await endedPid()
  expect(hasEnded(`${hostname()}-${ended}-0123abcd`)).toBe(false)
  expect(hasEnded(`${hostname()}-${process.pid}-0123abcd`)).toBe(false)
})

test('a process of another boot, or of another namespace of process ids, is not known to have ended', async () => {
  const ended = await endedPid()
  const own = readPlace(readers)
  expect(hasEnded(`${own}-${ended}-0123abcd`, own)).toBe(true)
  const others = [
    { ...readers, host: () => 'another' },
    { ...readers, bootId: () => 'another' },
    { ...readers, pidNamespace: () => 'pid:[2]' },
  ]
  for (const other of others.map(readPlace)) {
    expect(hasEnded(`${other}-${ended}-0123abcd`, own)).toBe(false)
    expect(hasEnded(`${other}-${process.pid}-0123abcd`, own)).toBe(false)
  }
})

test('where neither is known every start is a place of its own', async () => {
  const unknown = { ...readers, pidNamespace: absent }
  const own = readPlace(unknown)
  expect(own).toMatch(/^host@[0-9a-f]{8}$/)
  expect(hasEnded(`${readPlace(unknown)}-${await endedPid()}-0123abcd`, own)).toBe(false)
})

const asFirstOfNamespace = ['--pid', '--fork', '--mount-proc']
const hasNamespaces = spawnSync('unshare', [...asFirstOfNamespace, 'true']).status === 0

test.skipIf(!hasNamespaces)('containers with one host name do not take each other for dead', async () => {
  const module = JSON.stringify(path.resolve('src/util/process-name.ts'))
  const script = `import(${module}).then(({ hasEnded, buildProcessName }) => {
    console.log(JSON.stringify({ name: buildProcessName(), ended: process.argv.slice(1).map((name) => hasEnded(name)) }))
    process.stdin.resume()
  })`
  const children: ChildProcess[] = []
  /** A process that lives in a container of its own, and what it says of others. */
  const inContainer = async (...names: readonly string[]): Promise<{ name: string; ended: boolean[] }> => {
    const child = spawn('unshare', [...asFirstOfNamespace, process.execPath, '-e', script, ...names])
    children.push(child)
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    return JSON.parse(line)
  }
  try {
    const first = await inContainer()
    expect(first.name.startsWith(`${hostname()}@`)).toBe(true)
    expect(first.name).toMatch(/-1-[0-9a-f]{8}$/)
    expect(hasEnded(first.name)).toBe(false)
    // The other container has the same process id as the first, and none like that of this process.
    expect((await inContainer(first.name, buildProcessName())).ended).toEqual([false, false])
  } finally {
    // The end of its input ends the process, and with it the container.
    for (const child of children) {
      child.stdin?.end()
      await once(child, 'exit')
    }
  }
})
