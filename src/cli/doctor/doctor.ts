import { z } from 'zod'
import type { Daemon } from '../../api-client/daemon.ts'
import { describeError, Failed } from '../../api-client/errors.ts'
import { Refused, Unreachable } from '../../api-client/failures.ts'
import { type Config, InvalidConfig, readConfig } from '../../config/config.ts'
import { listSharedAccountWarnings } from '../../config/shared-accounts.ts'
import { describeInactive, type Seller, sellerSchema } from '../commands/sellers.ts'
import type { CliContext } from '../context.ts'
import { count, duration, oneLine, paint, print, printJson, type Tone } from '../output/terminal.ts'
import { parseHttpAddress } from '../settings.ts'
import { checkDatabase, checkMarketplace, checkRedis } from './connection-checks.ts'
import type { Finding } from './findings.ts'
import { doctorUnits } from './live-comparison.ts'
import { doctorOrders } from './missing-orders.ts'

const healthSchema = z.looseObject({
  checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean(), detail: z.string().nullish() })),
})

const syncSchema = z.looseObject({
  sellerId: z.string(),
  resource: z.string(),
  stream: z.string(),
  lastError: z.string().nullish(),
  failures: z.number().nullish(),
})

const alarmSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  sellerId: z.string(),
  kind: z.string(),
  subject: z.string(),
  message: z.string(),
})
/** Up to this number of alarms of a kind each one is listed. */
const maxListedAlarms = 10

/** What to do about an alarm. Its commands can be run unchanged. */
type AdviceFor = (alarm: z.infer<typeof alarmSchema>) => string

/** Alarms that no other check reports. */
const alarmFindings: Readonly<Record<string, Omit<Finding, 'detail' | 'advice'> & { readonly advice: AdviceFor }>> = {
  'command-held': {
    check: 'commands',
    state: 'warn',
    advice: ({ subject }) =>
      `\`tallyman commands show ${subject}\` shows its requests and read-backs; then confirm, reject, retry or decide it`,
  },
  'command-rejected': {
    check: 'commands',
    state: 'warn',
    advice: ({ id, subject }) =>
      `\`tallyman commands show ${subject}\` shows the reason; correct it in the ERP, then close the alarm with \`tallyman alarms resolve ${id}\``,
  },
  'command-waiting': {
    check: 'commands',
    state: 'warn',
    advice: ({ subject }) =>
      `it continues automatically; \`tallyman commands show ${subject}\` shows its attempts; retry, confirm or reject it if necessary`,
  },
  'event-rejected': {
    check: 'events',
    state: 'warn',
    advice: ({ id }) =>
      `\`tallyman events list --state rejected\` shows the reason; correct it and send it again with a new id, then close the alarm with \`tallyman alarms resolve ${id}\``,
  },
  'event-waiting': {
    check: 'events',
    state: 'warn',
    advice: () =>
      'each continues automatically once its order can be read and its seller is served; `tallyman events list --state received` shows them; `events reject` ends one',
  },
  'reading-skipped': {
    check: 'syncs',
    state: 'warn',
    advice: () =>
      'it is retried automatically; `tallyman quarantine list` shows it; `quarantine dismiss` settles a record that cannot be obtained',
  },
  'refresh-token-replaced': {
    check: 'credentials',
    state: 'warn',
    advice: () =>
      'set TOKEN_ENCRYPTION_KEY in every process, connect the seller again for a new refresh token (docs/connecting-a-marketplace.md), and restart',
  },
  'snapshot-held': {
    check: 'database',
    state: 'warn',
    advice: ({ subject }) =>
      subject.startsWith('session ')
        ? `have its owner end it, or end it in Postgres: \`SELECT pg_terminate_backend(${subject.slice('session '.length)})\``
        : 'end it, or drop it if it is not needed: docs/runbooks.md, An old snapshot is held',
  },
  'alarm-channel-failing': {
    check: 'alarms',
    state: 'warn',
    advice: ({ subject }) =>
      `\`tallyman alarms channels\` shows its last error; correct it, then \`tallyman alarms channels test ${subject}\`; docs/alarm-channels.md explains the errors`,
  },
  'webhook-failing': {
    check: 'webhooks',
    state: 'warn',
    advice: ({ subject }) =>
      `\`tallyman webhooks test ${subject}\` tries its receiver now; waiting messages are retried automatically, and \`tallyman webhooks resume ${subject}\` retries them immediately`,
  },
  'webhook-stopped': {
    check: 'webhooks',
    state: 'warn',
    advice: ({ subject }) =>
      `correct its receiver, try it with \`tallyman webhooks test ${subject}\`, then \`tallyman webhooks resume ${subject}\`; or remove it`,
  },
  'webhook-given-up': {
    check: 'webhooks',
    state: 'warn',
    advice: ({ subject }) =>
      `\`tallyman webhooks deliveries ${subject} --status failed\` lists them, \`webhooks redeliver\` sends them again`,
  },
  'webhook-behind': {
    check: 'webhooks',
    state: 'warn',
    advice: ({ subject }) =>
      `\`tallyman webhooks resume ${subject}\` once its receiver is corrected; \`tallyman webhooks remove ${subject}\` if it is no longer needed`,
  },
  'webhook-changes-gone': {
    check: 'webhooks',
    state: 'warn',
    advice: ({ id }) =>
      `read the current state from the tables or the API, then close the alarm with \`tallyman alarms resolve ${id}\``,
  },
  'campaign-missing': {
    check: 'campaigns',
    state: 'warn',
    advice: ({ subject, sellerId }) =>
      `correct the id in CAMPAIGN_IDS or SELLERS_FILE, or stop watching it with \`tallyman campaigns unwatch ${subject} --seller ${sellerId}\``,
  },
  'campaign-unreadable': {
    check: 'campaigns',
    state: 'warn',
    advice: ({ subject, sellerId }) =>
      `correct the id, or stop watching it with \`tallyman campaigns unwatch ${subject} --seller ${sellerId}\``,
  },
  'campaign-anomaly': {
    check: 'campaigns',
    state: 'warn',
    advice: ({ id }) =>
      `check the campaign in the advertising console, then close the alarm with \`tallyman alarms resolve ${id}\``,
  },
  'log-reason-unknown': {
    check: 'inventory',
    state: 'warn',
    advice: ({ id }) => `define its kind in LOG_REASONS, or close the alarm with \`tallyman alarms resolve ${id}\``,
  },
}

const accountFindings = ({ sellers }: Config): readonly Finding[] =>
  listSharedAccountWarnings(sellers).map((detail) => ({
    check: 'configuration',
    state: 'warn',
    detail,
    advice: 'remove the others from `SELLERS_FILE`, then run `tallyman sellers reload`',
  }))

const checkConfiguration = (environment: CliContext['environment']): { finding: Finding; config: Config | null } => {
  try {
    const config = readConfig(environment, false)
    const marketplace = config.sandbox === null ? count(config.sellers.length, 'seller') : 'built-in sandbox'
    const database = config.databaseUrl === null ? 'embedded Postgres' : 'Postgres at DATABASE_URL'
    const queues = config.redisUrl === null ? 'queues in Postgres' : 'queues in Redis'
    const finding = { check: 'configuration', state: 'ok', detail: `${marketplace}, ${database}, ${queues}` } as const
    return { finding, config }
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    return {
      config: null,
      finding: {
        check: 'configuration',
        state: 'fail',
        detail: error.faults.join('; '),
        advice: 'correct these variables; the daemon does not start with them',
      },
    }
  }
}

const checkReadiness = async (daemon: Daemon): Promise<Finding[]> => {
  try {
    const live = await daemon.get('/livez', healthSchema, { acceptedStatuses: [503], timeoutMs: 10_000 })
    const ready = await daemon.get('/readyz', healthSchema, { acceptedStatuses: [503], timeoutMs: 15_000 })
    const named = [
      ...live.checks.map((each) => ({ ...each, of: 'alive' })),
      ...ready.checks.map((each) => ({ ...each, of: 'ready' })),
    ]
    const failed = named.filter((each) => !each.ok)
    if (failed.length === 0) {
      const names = ready.checks.map((each) => each.name).join(', ')
      return [{ check: 'daemon', state: 'ok', detail: `alive and ready at ${daemon.url}${names === '' ? '' : ` (${names})`}` }]
    }
    return failed.map(({ of, name, detail }) => ({
      check: 'daemon',
      state: 'fail',
      detail: `not ${of}: ${name}${detail === null || detail === undefined ? '' : `, ${detail}`}`,
      advice: 'correct the named cause; the daemon continues automatically. Its log has details',
    }))
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    return [{ check: 'daemon', state: 'fail', detail: error.message, advice: error.notes.join('; ') }]
  }
}

/** Stopped and paused sellers of the daemon, by their ids; empty if the daemon does not answer, which other checks report. */
const readInactiveSellers = async (daemon: Daemon): Promise<ReadonlyMap<string, Seller>> => {
  const inactive = new Map<string, Seller>()
  try {
    for await (const seller of daemon.list('/v1/sellers', sellerSchema)) {
      if (seller.served && seller.state !== 'active') inactive.set(seller.sellerId, seller)
    }
  } catch (error) {
    if (!(error instanceof Failed)) throw error
  }
  return inactive
}

/** Sellers of the daemon that are in shadow mode, as a finding; none if there are none, or the daemon does not answer. */
const checkModes = async (daemon: Daemon): Promise<Finding[]> => {
  try {
    const shadowed: string[] = []
    for await (const { sellerId, served } of daemon.list('/v1/sellers', sellerSchema, { query: { mode: 'shadow' } }))
      if (served) shadowed.push(sellerId)
    if (shadowed.length === 0) return []
    const detail = `in shadow mode: ${shadowed.join(', ')}; nothing is written to the marketplace, commands are predicted`
    return [{ check: 'mode', state: 'warn', detail, advice: '`tallyman sellers go-live ID` ends it' }]
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    return []
  }
}

/** The finding on a stopped or paused seller; its other findings would only be consequences. */
const buildInactiveFinding = (seller: Seller, hasRefreshToken: boolean): Finding => {
  const resume = `\`tallyman sellers resume ${seller.sellerId}\``
  if (seller.state === 'paused') {
    return { check: 'sellers', state: 'warn', detail: describeInactive(seller), advice: `${resume} resumes it` }
  }
  if (hasRefreshToken) {
    return {
      check: 'credentials',
      state: 'fail',
      detail: `seller ${seller.sellerId}: its refresh token is not accepted; stopped since ${seller.since ?? 'an unknown time'}: ${seller.reason ?? 'no reason was recorded'}`,
      advice: `connect the seller again (docs/connecting-a-marketplace.md, Sellers of a solution provider), then \`tallyman sellers reload\`; if the token is correct, ${resume} retries it immediately`,
    }
  }
  return {
    check: 'credentials',
    state: 'fail',
    detail: `seller ${seller.sellerId}: the marketplace refuses the credentials; stopped since ${seller.since ?? 'an unknown time'}`,
    advice: `correct its client id and secret, then restart the daemon or send it SIGHUP; if they are correct, ${resume} retries them immediately`,
  }
}

/** Conditions that need an operator: failing syncs, held commands, quarantined records, alarms. */
const checkWork = async (daemon: Daemon, inactive: ReadonlyMap<string, Seller>): Promise<Finding[]> => {
  try {
    const findings: Finding[] = []
    let syncs = 0
    for await (const sync of daemon.list('/v1/syncs', syncSchema)) {
      if (inactive.has(sync.sellerId)) continue
      syncs += 1
      if ((sync.failures ?? 0) === 0 || sync.lastError === null || sync.lastError === undefined) continue
      findings.push({
        check: 'syncs',
        state: 'warn',
        detail: `${sync.resource} (${sync.stream}) of seller ${sync.sellerId} failed ${count(sync.failures ?? 0, 'time')}: ${sync.lastError}`,
        advice: `it is retried automatically; \`tallyman sync ${sync.resource} --seller ${sync.sellerId}\` retries it now`,
      })
    }
    if (findings.length === 0) findings.push({ check: 'syncs', state: 'ok', detail: `${count(syncs, 'stream')}, none failing` })
    const some = z.looseObject({ id: z.union([z.string(), z.number()]) })
    const held = await daemon.page('/v1/commands', some, { query: { state: 'held', limit: 100 } })
    findings.push(
      held.items.length === 0
        ? { check: 'commands', state: 'ok', detail: 'none is held' }
        : {
            check: 'commands',
            state: 'warn',
            detail: `${count(held.items.length, 'command')}${held.nextCursor === null ? '' : ' or more'} wait for an operator`,
            advice: '`tallyman commands list --state held`, then show, and retry, confirm, reject or decide',
          },
    )
    const records = await daemon.page('/v1/quarantine', some, { query: { state: 'open', limit: 100 } })
    findings.push(
      records.items.length === 0
        ? { check: 'quarantine', state: 'ok', detail: 'no open record' }
        : {
            check: 'quarantine',
            state: 'warn',
            detail: `${count(records.items.length, 'record')}${records.nextCursor === null ? '' : ' or more'} could not be parsed`,
            advice: '`tallyman quarantine list` shows why; run `tallyman quarantine replay --all` after a fix',
          },
    )
    const alarmCounts = new Map<string, number>()
    for await (const alarm of daemon.list('/v1/alarms', alarmSchema, { max: 1_000 })) {
      const finding = alarmFindings[alarm.kind]
      const previous = alarmCounts.get(alarm.kind) ?? 0
      alarmCounts.set(alarm.kind, previous + 1)
      if (finding !== undefined && previous < maxListedAlarms)
        findings.push({
          ...finding,
          advice: finding.advice(alarm),
          detail: `${alarm.sellerId === '' ? '' : `seller ${alarm.sellerId}: `}${alarm.message} (alarm ${alarm.id})`,
        })
    }
    for (const [kind, times] of alarmCounts) {
      const finding = alarmFindings[kind]
      if (finding === undefined || times <= maxListedAlarms) continue
      const detail = `${count(times - maxListedAlarms, 'more alarm')} of the kind ${kind}`
      findings.push({ ...finding, detail, advice: '`tallyman alarms list` shows all of them' })
    }
    return findings
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      return [{ check: 'daemon', state: 'fail', detail: error.message, advice: 'set API_KEY to the key of the daemon' }]
    }
    // The readiness check has already reported that it cannot be reached.
    if (error instanceof Unreachable) return []
    if (error instanceof Failed)
      return [{ check: 'daemon', state: 'fail', detail: describeError(error), advice: error.notes.join('; ') }]
    throw error
  }
}

const tones = { ok: 'good', warn: 'warning', fail: 'bad' } as const satisfies Record<Finding['state'], Tone>

/** `tallyman doctor`. @throws Failed when a check failed */
export const runDoctor = async (
  context: CliContext,
  options: { readonly units: boolean; readonly orders: boolean; readonly sandbox: string | null; readonly waitMs: number },
): Promise<void> => {
  const { terminal, environment, daemon } = context
  const sandboxUrl = options.sandbox === null ? context.settings.sandboxUrl : parseHttpAddress('--sandbox', options.sandbox)
  if (options.orders) return doctorOrders(context)
  if (options.units) return doctorUnits(context, sandboxUrl, options.waitMs)

  const findings: Finding[] = []
  const report = (found: readonly Finding[]): void => {
    for (const finding of found) {
      findings.push(finding)
      if (terminal.json) continue
      print(
        terminal,
        `${paint(terminal.out, tones[finding.state], finding.state.padEnd(4))}  ${finding.check}: ${oneLine(finding.detail)}`,
      )
      if (finding.advice !== undefined && finding.advice !== '') print(terminal, `      ${oneLine(finding.advice)}`)
    }
  }
  const startedAt = Date.now()
  const { finding, config } = checkConfiguration(environment)
  report([finding, ...(config === null ? [] : accountFindings(config))])
  const readiness = await checkReadiness(daemon)
  report(readiness)
  const reachable = !readiness.some((each) => each.detail.includes('cannot be reached'))
  const inactive = reachable ? await readInactiveSellers(daemon) : new Map<string, Seller>()
  if (reachable) report([...(await checkModes(daemon)), ...(await checkWork(daemon, inactive))])
  report(await checkDatabase(context.settings))
  report(await checkRedis(context.settings.redisUrl, config?.redisTls ?? {}))
  const connected = new Set(config?.sellers.flatMap(({ sellerId, refreshToken }) => (refreshToken === null ? [] : [sellerId])))
  report([...inactive.values()].map((seller) => buildInactiveFinding(seller, connected.has(seller.sellerId))))
  if (config !== null) report(await checkMarketplace(config, new Set(inactive.keys()), sandboxUrl, context.signal))

  const failed = findings.filter((each) => each.state === 'fail').length
  const warned = findings.filter((each) => each.state === 'warn').length
  if (terminal.json) printJson(terminal, { ok: failed === 0, findings })
  else
    print(
      terminal,
      `${count(findings.length, 'check')} in ${duration(Date.now() - startedAt)}: ${failed} failed, ${count(warned, 'warning')}`,
    )
  if (failed > 0) throw new Failed(`${count(failed, 'check')} failed`)
}
