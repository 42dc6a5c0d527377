import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Rig, startRig } from './rig.ts'
import { type CliRun, cli } from './run.ts'

const sellerId = 'sandbox-seller'
let rig: Rig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(async () => {
  await rig.stop()
})

const tallyman = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CliRun> =>
  cli(args, { ...rig.environment, ...more })

test('a key is added, used by the command line itself, rotated and revoked, and all of it is in the audit', async () => {
  const added = await tallyman([
    'keys',
    'add',
    'warehouse',
    '--scope',
    'read',
    'operate',
    '--seller',
    sellerId,
    '--reason',
    'a new desk',
    '--by',
    'Ada',
  ])
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^tly_[a-z2-7]{12}_[\w-]{43}\n$/) })
  expect(added.messages).toMatch(/not shown again/)
  const key = added.out.trim()
  const [, id = ''] = key.split('_')
  const listed = await tallyman(['keys'])
  expect(listed.out).toMatch(new RegExp(`^${id} +warehouse +read operate +${sellerId} +never +Ada$`, 'm'))
  expect(listed.out).not.toContain(key)

  const paused = await tallyman(['sellers', 'pause', sellerId, '--reason', 'stock-taking', '--by', 'Ben'], { API_KEY: key })
  expect(paused.out).toMatch(/^seller sandbox-seller is paused since \S+ by warehouse: stock-taking\n$/)
  await tallyman(['sellers', 'resume', sellerId], { API_KEY: key })
  const refused = await tallyman(['sellers', 'reload'], { API_KEY: key })
  expect(refused).toMatchObject({ code: 1, messages: expect.stringContaining('The key warehouse is bound to sandbox-seller') })

  const rotated = await tallyman(['keys', 'rotate', id, '--overlap', '0', '--reason', 'leaked', '--json'])
  const fresh: unknown = JSON.parse(rotated.out)
  expect(fresh).toMatchObject({ id, key: expect.stringMatching(/^tly_/), previousUntil: null })
  expect((await tallyman(['alarms'], { API_KEY: key })).code).toBe(1)
  expect((await tallyman(['keys', 'revoke', id, '--reason', 'desk closed'])).out).toMatch(/^key \S+ \(warehouse\) is revoked/)
  expect((await tallyman(['keys', 'list', '--all'])).out).toMatch(new RegExp(`^${id} +warehouse .*Z$`, 'm'))
  expect((await tallyman(['keys'])).messages).toContain('none')

  const audit = await tallyman(['audit', '--who', 'warehouse'])
  expect(audit.out).toMatch(
    new RegExp(`^\\S+ +warehouse for Ben +${id} +seller.paused +${sellerId} +${sellerId} +stock-taking$`, 'm'),
  )
  const ofKey = JSON.parse((await tallyman(['audit', '--subject', id, '--json'])).out)
  expect(ofKey.items.map(({ action }: { action: string }) => action)).toEqual(['key.revoked', 'key.rotated', 'key.added'])
  expect(JSON.stringify(ofKey)).not.toContain('tly_')
})

test.each([
  ['a scope that there is not', ['keys', 'add', 'x', '--scope', 'admin', '--reason', 'x']],
  ['no scope', ['keys', 'add', 'x', '--reason', 'x']],
  ['no reason', ['keys', 'add', 'x', '--scope', 'read']],
  ['an overlap that is too long', ['keys', 'rotate', 'x', '--overlap', '2592001', '--reason', 'x']],
  ['a revocation without a reason', ['keys', 'revoke', 'x']],
])('%s is misuse', async (_, args) => {
  expect((await tallyman(args)).code).toBe(2)
})

test('a key that there is not is said', async () => {
  expect(await tallyman(['keys', 'revoke', 'nothing', '--reason', 'x'])).toMatchObject({
    code: 1,
    messages: expect.stringContaining('There is no active key nothing'),
  })
})
