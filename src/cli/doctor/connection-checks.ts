import { readFile } from 'node:fs/promises'
import { describeError } from '../../api-client/errors.ts'
import { taxonomiesEndpoint } from '../../clients/display/taxonomies.ts'
import type { ReadClient } from '../../clients/http/client.ts'
import { MarketplaceFailure } from '../../clients/http/errors.ts'
import { ordersEndpoint } from '../../clients/marketplace/orders/orders.ts'
import {
  type Config,
  type DisplaySettings,
  type SellerSettings,
  sandboxDisplay,
  sandboxDisplayKeyFile,
} from '../../config/config.ts'
import { describeRedisError, findRedisWarnings, knowsMaster } from '../../queues/backend/redis-connection.ts'
import { findConnectionSettingsError } from '../../store/db/errors.ts'
import { finishedMigrations, missingMigrations } from '../../store/db/migrate.ts'
import { detectTransactionPooler, isSameDatabase, transactionPoolerFound } from '../../store/db/pooler.ts'
import { parseSentinelAddress, type RedisTls, type SentinelAddress } from '../../util/net/redis-address.ts'
import { connectSeller, findProfile } from '../connect-seller.ts'
import { count, duration } from '../output/terminal.ts'
import { checkDelegatedKey } from './delegated-keys.ts'
import type { Finding } from './findings.ts'

/** Clock differences above this are reported: windows, signatures and evidence depend on time. */
const clockWarningMs = 30_000

/** Up to this number of sellers each one is listed. */
const maxListedSellers = 8

const concurrentSellers = 4

/** Advice for a Postgres that does not answer. */
const buildPostgresAdvice = (variable: string): string =>
  `check ${variable}, and that Postgres runs there and accepts connections from this machine`

/** Checks that DATABASE_URL answers and is migrated, and that there is an address without a pooler. */
export const checkDatabase = async ({
  databaseUrl,
  sessionUrl,
}: {
  readonly databaseUrl: string | null
  readonly sessionUrl: string | null
}): Promise<Finding[]> => {
  if (databaseUrl === null || sessionUrl === null) {
    return [
      {
        check: 'database',
        state: 'ok',
        detail: 'DATABASE_URL is unset: the daemon runs an embedded Postgres and checks it itself',
      },
    ]
  }
  let missing: readonly string[]
  try {
    missing = await missingMigrations(await finishedMigrations(databaseUrl))
  } catch (error) {
    return [
      {
        check: 'database',
        state: 'fail',
        detail: `does not answer: ${describeDatabaseError(error)}`,
        advice: buildPostgresAdvice('DATABASE_URL'),
      },
    ]
  }
  const sessions = await checkSessions(databaseUrl, sessionUrl)
  if (missing.length > 0) {
    const detail = `${count(missing.length, 'migration')} missing: ${missing.join(', ')}`
    return [
      { check: 'database', state: 'fail', detail, advice: 'run `tallyman migrate`, or start the daemon, which applies them' },
      ...sessions,
    ]
  }
  return [{ check: 'database', state: 'ok', detail: 'answers and is migrated' }, ...sessions]
}

/** The error with advice if a setting causes it; otherwise its message. */
const describeDatabaseError = (error: unknown): string => findConnectionSettingsError(error) ?? describeError(error)

const checkSessions = async (databaseUrl: string, sessionUrl: string): Promise<Finding[]> => {
  const isDirect = sessionUrl !== databaseUrl
  try {
    if (await detectTransactionPooler(sessionUrl)) {
      const advice = 'set DATABASE_DIRECT_URL to an address of the same database without the pooler'
      return [{ check: 'database', state: 'fail', detail: transactionPoolerFound, advice }]
    }
    if (!isDirect) return []
    if (await isSameDatabase(databaseUrl, sessionUrl))
      return [{ check: 'database', state: 'ok', detail: 'DATABASE_DIRECT_URL answers, without a pooler' }]
    const detail = 'DATABASE_DIRECT_URL leads to another database than DATABASE_URL'
    return [{ check: 'database', state: 'fail', detail, advice: 'set both to addresses of the same database' }]
  } catch (error) {
    const variable = isDirect ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL'
    return [
      {
        check: 'database',
        state: 'fail',
        detail: `${variable} does not answer: ${describeDatabaseError(error)}`,
        advice: buildPostgresAdvice(variable),
      },
    ]
  }
}

/** Checks that every address of REDIS_URL answers, with sentinels and their master, and that Redis is configured to keep the jobs. */
export const checkRedis = async (redisUrl: string | null, tls: RedisTls): Promise<Finding[]> => {
  if (redisUrl === null) return [{ check: 'redis', state: 'ok', detail: 'REDIS_URL is unset: the queues live in Postgres' }]
  const address = parseSentinelAddress(redisUrl)
  if (address !== null) {
    const sentinels = await Promise.all(address.sentinels.map((sentinel) => checkSentinel(address, sentinel, tls)))
    return [...sentinels, ...(await checkOneRedis(redisUrl, `the master ${address.master}`, tls))]
  }
  const addresses = redisUrl.split(',').map((part) => part.trim())
  const formatHost = (part: string): string => (URL.canParse(part) ? new URL(part).host : 'REDIS_URL')
  return (await Promise.all(addresses.map((part) => checkOneRedis(part, formatHost(part), tls)))).flat()
}

const redisAdvice = 'check REDIS_URL, and that Redis runs there; until then the daemon waits and loses no data'

const checkSentinel = async (
  address: SentinelAddress,
  { host, port }: SentinelAddress['sentinels'][number],
  tls: RedisTls,
): Promise<Finding> => {
  const name = `the sentinel ${host.includes(':') ? `[${host}]` : host}:${port}`
  try {
    const known = await knowsMaster(address, { host, port }, tls)
    if (known) return { check: 'redis', state: 'ok', detail: `${name} answers` }
    const detail = `${name} knows no master of the name ${address.master}`
    return { check: 'redis', state: 'fail', detail, advice: 'use the name of the master that the sentinels have in REDIS_URL' }
  } catch (error) {
    const advice = `${redisAdvice}; the other sentinels are used until then`
    return { check: 'redis', state: 'fail', detail: `${name} does not answer: ${describeRedisError(error)}`, advice }
  }
}

const checkOneRedis = async (url: string, name: string, tls: RedisTls): Promise<Finding[]> => {
  try {
    const warnings = await findRedisWarnings(url, tls)
    if (warnings.length === 0) return [{ check: 'redis', state: 'ok', detail: `${name} answers` }]
    return warnings.map((detail) => ({ check: 'redis', state: 'warn', detail: `${name}: ${detail}` }))
  } catch (error) {
    return [
      { check: 'redis', state: 'fail', detail: `${name} does not answer: ${describeRedisError(error)}`, advice: redisAdvice },
    ]
  }
}

/**
 * Checks each seller's credentials with requests of a token and one order, and the difference between the marketplace's clock and ours. A refresh token is not
 * used: an answer could replace it, and the daemon would have the previous one.
 */
export const checkMarketplace = async (
  config: Config,
  except: ReadonlySet<string>,
  sandboxUrl: string,
  signal: AbortSignal,
): Promise<Finding[]> => {
  const findings: Finding[] = []
  const sellers = config.sellers.filter(({ sellerId }) => !except.has(sellerId))
  const waiting = [...sellers]
  const work = async (): Promise<void> => {
    for (let seller = waiting.shift(); seller !== undefined; seller = waiting.shift()) {
      findings.push(...(await checkSeller(seller, config, sandboxUrl, signal)))
    }
  }
  await Promise.all(Array.from({ length: concurrentSellers }, work))
  if (sellers.length <= maxListedSellers) return findings
  // One line per check, instead of one per seller, for sellers without a problem.
  const summaries = (['credentials', 'clock', 'display'] as const).flatMap((check): Finding[] => {
    const ofCheck = findings.filter((finding) => finding.check === check)
    const good = ofCheck.filter((finding) => finding.state === 'ok').length
    // Sellers without valid credentials have no clock finding; sellers without an advertiser have no display finding.
    if (ofCheck.length === 0) return []
    return [{ check, state: 'ok', detail: `ok for ${good} of ${count(sellers.length, 'seller')}` }]
  })
  return [...summaries, ...findings.filter((finding) => finding.state !== 'ok')]
}

const checkSeller = async (
  seller: SellerSettings,
  config: Config,
  sandboxUrl: string,
  signal: AbortSignal,
): Promise<Finding[]> => {
  const { sellerId } = seller
  if (seller.refreshToken !== null) {
    const detail = `seller ${sellerId}: not checked here, since each use may replace its refresh token; the daemon stops a seller whose token is refused`
    return [{ check: 'credentials', state: 'ok', detail }]
  }
  const profile = findProfile(seller)
  const marketplaceUrl = seller.marketplaceUrl ?? sandboxUrl
  const { advertiserId } = seller
  const { display, unknownKey } = await readDisplaySettings(config, sandboxUrl)
  const client = connectSeller(seller, {
    sandboxUrl,
    requestTimeoutMs: config.requestTimeoutMs,
    display: display === null || advertiserId === null ? null : { ...display, advertiserId },
  })
  try {
    const answer = await client.credentials.check(signal)
    if (!answer.accepted) {
      if (!answer.refused) return [failureFinding(sellerId, answer.failure, marketplaceUrl, seller.marketplaceUrl === null)]
      const detail = `seller ${sellerId}: the marketplace refuses the credentials: ${answer.failure.message}`
      const advice =
        'correct the client id and secret of this seller; a single refusal may be temporary, the daemon stops a seller that is refused for a minute'
      return [{ check: 'credentials', state: 'fail', detail, advice }]
    }
    const createdFrom = new Date(Date.now() - 86_400_000)
    await client.of(ordersEndpoint).list({ shipNodeType: client.vocabulary.shipNodes.seller, createdFrom, limit: 1 }, { signal })
    return [
      { check: 'credentials', state: 'ok', detail: `seller ${sellerId}: accepted by ${marketplaceUrl}` },
      ...(await checkDelegatedKey(client, profile.delegatedKeysEndOn, config.sellers, signal)),
      clockFinding(sellerId, client.clock().now().getTime() - Date.now(), seller.marketplaceUrl === null),
      ...(await checkDisplay(client, config, signal)),
      ...(unknownKey && advertiserId !== null ? [unknownKeyFinding(sellerId, config)] : []),
    ]
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    return [failureFinding(sellerId, error, marketplaceUrl, seller.marketplaceUrl === null)]
  } finally {
    await client.close()
  }
}

/** Settings of display advertising. The built-in sandbox keeps its key in the daemon's DATA_DIR, which may be on another machine or not readable. */
const readDisplaySettings = async (
  { display, dataDir }: Config,
  sandboxUrl: string,
): Promise<{ readonly display: DisplaySettings | null; readonly unknownKey: boolean }> => {
  if (display !== 'sandbox') return { display, unknownKey: false }
  try {
    const privateKey = await readFile(sandboxDisplayKeyFile(dataDir), 'utf8')
    return { display: { ...sandboxDisplay, url: sandboxUrl, privateKey }, unknownKey: false }
  } catch (error) {
    const isUnreadable =
      error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(String(error.code))
    if (isUnreadable) return { display: null, unknownKey: true }
    throw error
  }
}

const unknownKeyFinding = (sellerId: string, { dataDir }: Config): Finding => ({
  check: 'display',
  state: 'ok',
  detail: `seller ${sellerId}: not checked, since the key of the built-in sandbox cannot be read in ${dataDir}; it is in the DATA_DIR of the daemon`,
})

/** Checks the signature and the advertiser with a request of one department. */
const checkDisplay = async (
  client: ReadClient,
  { display: settings, dataDir }: Config,
  signal: AbortSignal,
): Promise<Finding[]> => {
  const { sellerId } = client
  const taxonomies = client.of(taxonomiesEndpoint)
  if (taxonomies === null) return []
  try {
    await taxonomies.list({ level: 1, startIndex: 0, count: 1 }, { signal })
    return [{ check: 'display', state: 'ok', detail: `seller ${sellerId}: display advertising accepts the signature` }]
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    const detail = `seller ${sellerId}: display advertising: ${error.message}`
    if (settings === 'sandbox' && error.kind === 'refused') {
      // No key is configured: the sandbox of another directory created the one that was read.
      const advice = `the key in ${dataDir} belongs to another sandbox than the answering one; set DATA_DIR to the daemon's value`
      return [{ check: 'display', state: 'warn', detail, advice }]
    }
    const advice =
      error.kind === 'refused'
        ? 'check DISPLAY_CONSUMER_ID, DISPLAY_AUTH_TOKEN, DISPLAY_PRIVATE_KEY, DISPLAY_KEY_VERSION and the advertiser id of this seller'
        : settings === 'sandbox'
          ? 'it is retried automatically; the sandbox may be overloaded'
          : 'check DISPLAY_URL, and that this machine can reach it'
    const state = error.kind === 'refused' ? 'fail' : 'warn'
    return [{ check: 'display', state, detail, advice }]
  }
}

const clockFinding = (sellerId: string, offsetMs: number, virtual: boolean): Finding => {
  const detail = `seller ${sellerId}: the marketplace's clock is ${duration(offsetMs)} ${offsetMs < 0 ? 'behind' : 'ahead of'} ours`
  if (Math.abs(offsetMs) <= clockWarningMs) return { check: 'clock', state: 'ok', detail }
  if (virtual) return { check: 'clock', state: 'ok', detail: `${detail} (the sandbox has its own clock)` }
  return {
    check: 'clock',
    state: 'warn',
    detail,
    advice: 'synchronise the clock of this machine by NTP; signatures and windows depend on it',
  }
}

const failureFinding = (sellerId: string, error: MarketplaceFailure, marketplaceUrl: string, sandbox: boolean): Finding => {
  const detail = `seller ${sellerId}: ${error.message}`
  if (error.httpStatus === null) {
    // The sandbox of the daemon may be on another machine or another port.
    const advice = sandbox
      ? 'there is no answer at the address of the built-in sandbox; set it with --sandbox or SANDBOX_URL'
      : `check MARKETPLACE_URL (${marketplaceUrl}), and that this machine can reach it`
    return { check: 'credentials', state: sandbox ? 'warn' : 'fail', detail, advice }
  }
  const advice =
    'the marketplace, or a proxy in front of it, answered with an error: retry later, and check MARKETPLACE_URL and TOKEN_PATH if it persists'
  return { check: 'credentials', state: 'warn', detail, advice }
}
