import { z } from 'zod'
import { type Config, InvalidConfig, readConfig } from '../config.ts'
import type { CliContext } from './context.ts'
import { type Daemon, Refused, Unreachable } from './daemon.ts'
import { checkDatabase, checkMarketplace, checkRedis } from './doctor-parts.ts'
import { doctorUnits } from './doctor-units.ts'
import { Failed, wordsOf } from './faults.ts'
import type { Finding } from './findings.ts'
import { httpAddress } from './settings.ts'
import { count, duration, paint, print, printJson, type Tone } from './terminal.ts'

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

const alarmSchema = z.looseObject({ sellerId: z.string(), kind: z.string(), message: z.string() })

/** Alarms that no other check tells of. */
const alarmFindings: Readonly<Record<string, Omit<Finding, 'detail'>>> = {
  'credentials-refused': {
    check: 'credentials',
    state: 'fail',
    advice: 'put right the client id and secret of this seller, then restart the daemon or send it SIGHUP',
  },
  'event-rejected': { check: 'events', state: 'warn', advice: 'correct the event and send it again with a new id' },
  'campaign-missing': {
    check: 'campaigns',
    state: 'warn',
    advice: 'correct the id in CAMPAIGN_IDS or SELLERS_FILE, or stop watching it with `tallyman campaigns unwatch`',
  },
  'campaign-unreadable': {
    check: 'campaigns',
    state: 'warn',
    advice: 'correct the id, or stop watching it with `tallyman campaigns unwatch`',
  },
  'campaign-anomaly': {
    check: 'campaigns',
    state: 'warn',
    advice: 'look at the campaign in the advertising console, then close the alarm with POST /v1/alarms/{id}/resolve',
  },
}

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
        advice: 'mend these variables; the daemon does not start with them',
      },
    }
  }
}

const checkReadiness = async (daemon: Daemon): Promise<Finding[]> => {
  try {
    const live = await daemon.get('/livez', healthSchema, { alsoFine: [503], timeoutMs: 10_000 })
    const ready = await daemon.get('/readyz', healthSchema, { alsoFine: [503], timeoutMs: 15_000 })
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
      advice: 'mend what is named; the daemon goes on by itself. Its log tells more',
    }))
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    return [{ check: 'daemon', state: 'fail', detail: error.message, advice: error.notes.join('; ') }]
  }
}

/** What the daemon knows that a person should look at: failing syncs, held commands, quarantined records. */
const checkWork = async (daemon: Daemon): Promise<Finding[]> => {
  try {
    const findings: Finding[] = []
    let syncs = 0
    for await (const sync of daemon.list('/v1/syncs', syncSchema)) {
      syncs += 1
      if ((sync.failures ?? 0) === 0 || sync.lastError === null || sync.lastError === undefined) continue
      findings.push({
        check: 'syncs',
        state: 'warn',
        detail: `${sync.resource} (${sync.stream}) of seller ${sync.sellerId} failed ${count(sync.failures ?? 0, 'time')}: ${sync.lastError}`,
        advice: 'it is tried again by itself; `tallyman sync` tries at once',
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
            detail: `${count(held.items.length, 'command')}${held.nextCursor === null ? '' : ' or more'} wait for a person`,
            advice: '`tallyman commands list --state held`, then show, and retry, confirm or reject',
          },
    )
    const records = await daemon.page('/v1/quarantine', some, { query: { state: 'open', limit: 100 } })
    findings.push(
      records.items.length === 0
        ? { check: 'quarantine', state: 'ok', detail: 'no open record' }
        : {
            check: 'quarantine',
            state: 'warn',
            detail: `${count(records.items.length, 'record')}${records.nextCursor === null ? '' : ' or more'} did not parse`,
            advice: '`tallyman quarantine list` shows why; `tallyman quarantine replay` after it is mended',
          },
    )
    for await (const alarm of daemon.list('/v1/alarms', alarmSchema, { atMost: 1_000 })) {
      const finding = alarmFindings[alarm.kind]
      if (finding !== undefined) findings.push({ ...finding, detail: `seller ${alarm.sellerId}: ${alarm.message}` })
    }
    return findings
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      return [{ check: 'daemon', state: 'fail', detail: error.message, advice: 'set API_KEY to the key of the daemon' }]
    }
    // That it cannot be reached has been said by the check of its readiness.
    if (error instanceof Unreachable) return []
    if (error instanceof Failed)
      return [{ check: 'daemon', state: 'fail', detail: wordsOf(error), advice: error.notes.join('; ') }]
    throw error
  }
}

const tones = { ok: 'good', warn: 'warning', fail: 'bad' } as const satisfies Record<Finding['state'], Tone>

/** `tallyman doctor`. @throws Failed when a check failed */
export const runDoctor = async (
  context: CliContext,
  options: { readonly units: boolean; readonly sandbox: string | null; readonly waitMs: number },
): Promise<void> => {
  const { terminal, environment, daemon } = context
  const sandboxUrl = options.sandbox === null ? context.settings.sandboxUrl : httpAddress('--sandbox', options.sandbox)
  if (options.units) return doctorUnits(context, sandboxUrl, options.waitMs)

  const findings: Finding[] = []
  const tell = (found: readonly Finding[]): void => {
    for (const finding of found) {
      findings.push(finding)
      if (terminal.json) continue
      print(
        terminal,
        `${paint(terminal.out, tones[finding.state], finding.state.padEnd(4))}  ${finding.check}: ${finding.detail}`,
      )
      if (finding.advice !== undefined && finding.advice !== '') print(terminal, `      ${finding.advice}`)
    }
  }
  const startedAt = Date.now()
  const { finding, config } = checkConfiguration(environment)
  tell([finding])
  const readiness = await checkReadiness(daemon)
  tell(readiness)
  if (!readiness.some((each) => each.detail.includes('cannot be reached'))) tell(await checkWork(daemon))
  tell(await checkDatabase(context.settings.databaseUrl))
  tell(await checkRedis(context.settings.redisUrl))
  if (config !== null) tell(await checkMarketplace(config, sandboxUrl, context.signal))

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
