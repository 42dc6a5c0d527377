import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { RefreshTokenUnreadable } from '../../src/clients/http/auth.ts'
import { createRefreshTokens, resolveReplacedAlarms } from '../../src/jobs/sellers/refresh-tokens.ts'
import { deleteUnusedRefreshTokens } from '../../src/store/sellers/refresh-tokens.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { decryptText, encryptText } from '../../src/util/encryption.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const stage = withDatabase({ each: 'test' })
const configured = { sellerId: 's-1', clientId: 'app', refreshToken: 'rt-configured' }
const key = randomBytes(32)

interface Line {
  readonly level: string
  readonly message: string
}

/** The refresh tokens of one process, with its log. */
const startProcess = (encryptionKeys: readonly Uint8Array[], requestTimeoutMs = 20_000) => {
  const lines: Line[] = []
  const write =
    (level: string) =>
    (_fields: unknown, message = ''): void =>
      void lines.push({ level, message: String(message) })
  const log = { info: write('info'), warn: write('warn'), error: write('error') }
  const stop = new AbortController()
  const tokens = createRefreshTokens({ database: stage.database, log, encryptionKeys, requestTimeoutMs, stop: stop.signal })
  return { lines, stop, tokens }
}

/** A marketplace that replaces the token of each request, and refuses a replaced one. */
const startRotation = () => {
  let valid = configured.refreshToken
  const used: string[] = []
  const request = async (token: string) => {
    used.push(token)
    if (token !== valid) throw new Error(`${token} was replaced`)
    valid = `rt-${used.length}`
    return { replacement: valid }
  }
  return { used, request }
}
const rows = () =>
  stage.database.query<{ text: string; version: number }>('SELECT t::text AS text, version FROM tallyman.refresh_tokens t')

test('the newest token is used by every process, one after another, and stored encrypted', async () => {
  const { used, request } = startRotation()
  const processes = [startProcess([key]), startProcess([key]), startProcess([key])]
  const everyone = () => Promise.all(processes.map(({ tokens }) => tokens.use(configured, request)))
  await everyone()
  await everyone()
  expect(used).toEqual(['rt-configured', 'rt-1', 'rt-2', 'rt-3', 'rt-4', 'rt-5'])
  const [row] = await rows()
  expect(row?.version).toBe(6)
  const encoded = Buffer.from('rt-').toString('hex')
  expect(row?.text).not.toMatch(new RegExp(`rt-|${encoded}`))
  // A process that starts later.
  await startProcess([key]).tokens.use(configured, request)
  expect(used.at(-1)).toBe('rt-6')
})

test('a token that is not replaced is not stored, and a new configured one has a row of its own', async () => {
  const { tokens } = startProcess([key])
  for (const replacement of [null, configured.refreshToken]) await tokens.use(configured, async () => ({ replacement }))
  expect(await rows()).toEqual([expect.objectContaining({ version: 0 })])
  await tokens.use(configured, async () => ({ replacement: 'rt-1' }))
  const seen: string[] = []
  await tokens.use({ ...configured, refreshToken: 'rt-reconnected' }, async (token) => {
    seen.push(token)
    return { replacement: null }
  })
  expect(seen).toEqual(['rt-reconnected'])
  await stage.database.execute(`UPDATE tallyman.refresh_tokens SET used_at = now() - interval '401 days' WHERE version = 1`)
  await deleteUnusedRefreshTokens(stage.database)
  expect(await rows()).toEqual([expect.objectContaining({ version: 0 })])
})

test('encryption keys are rotated: the first one encrypts, all of them decrypt; another key, seller or byte does not', async () => {
  const next = randomBytes(32)
  const { used, request } = startRotation()
  await startProcess([key]).tokens.use(configured, request)
  await startProcess([next, key]).tokens.use(configured, request)
  await startProcess([next]).tokens.use(configured, request)
  expect(used).toEqual(['rt-configured', 'rt-1', 'rt-2'])
  await expect(startProcess([key]).tokens.use(configured, request)).rejects.toThrow(RefreshTokenUnreadable)
  expect(used).toHaveLength(3)
  // The refusal has released the lease.
  await startProcess([next]).tokens.use(configured, request)

  const encrypted = encryptText('rt-1', key, 'one')
  expect(decryptText(encrypted, [next, key], 'one')).toBe('rt-1')
  expect(decryptText(encrypted, [key], 'two')).toBeNull()
  expect(decryptText(encrypted.with(-1, (encrypted.at(-1) ?? 0) ^ 1), [key], 'one')).toBeNull()
  expect(decryptText(encrypted.subarray(0, 20), [key], 'one')).toBeNull()
})

test('a token that cannot be stored is kept, and stored before the next request', async () => {
  const { lines, tokens } = startProcess([key])
  const { used, request } = startRotation()
  await stage.database.execute('ALTER TABLE tallyman.refresh_tokens ADD CONSTRAINT no_tokens CHECK (encrypted_token IS NULL)')
  await tokens.use(configured, request)
  expect(lines).toEqual([{ level: 'error', message: expect.stringContaining('could not be stored') }])
  await stage.database.execute('ALTER TABLE tallyman.refresh_tokens DROP CONSTRAINT no_tokens')
  await tokens.use(configured, request)
  expect(used).toEqual(['rt-configured', 'rt-1'])
  expect(await rows()).toEqual([expect.objectContaining({ version: 2 })])
  await startProcess([key]).tokens.use(configured, request)
  expect(used.at(-1)).toBe('rt-2')
})

test('a lease is released after an error, and ends by itself when its process does not release it', async () => {
  const { tokens } = startProcess([key], 0)
  await expect(tokens.use(configured, () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer')
  await tokens.use(configured, async () => ({ replacement: null }))

  await stage.database.execute(`UPDATE tallyman.refresh_tokens SET lease_id = 'gone', lease_until = now() + interval '1 hour'`)
  const waiting = startProcess([key])
  const refused = expect(waiting.tokens.use(configured, async () => ({ replacement: null }))).rejects.toThrow('another process')
  waiting.stop.abort()
  await refused
  const waited = startProcess([key]).tokens.use(configured, async () => ({ replacement: null }))
  await stage.database.execute(`UPDATE tallyman.refresh_tokens SET lease_until = now()`)
  await waited
})

test('without a key the configured token stays in use, and an alarm reports its replacement until there is a key', async () => {
  await recordSellers(stage.database, [{ sellerId: 's-1', credentialsFingerprint: 'f' }])
  const { lines, tokens } = startProcess([])
  const seen: string[] = []
  const use = () =>
    tokens.use(configured, async (token) => {
      seen.push(token)
      return { replacement: 'rt-secret-replacement' }
    })
  await use()
  await use()
  expect(seen).toEqual(['rt-configured', 'rt-configured'])
  expect(await rows()).toEqual([])
  const alarms = () =>
    stage.database.query<{ kind: string; message: string }>('SELECT kind, message FROM tallyman.alarms WHERE resolved_at IS NULL')
  expect(await alarms()).toEqual([
    { kind: 'refresh-token-replaced', message: expect.stringMatching(/set TOKEN_ENCRYPTION_KEY.*connect the seller again/) },
  ])
  expect(JSON.stringify([lines, await alarms()])).not.toContain('rt-')
  await resolveReplacedAlarms(stage.database, ['s-1'])
  await eventually(async () => expect(await alarms()).toEqual([]))
})
