import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Call, Operation } from '../calls/operation.ts'
import { dayMs, hourMs, minuteMs } from '../core/duration.ts'
import { contentNotFound, gatewayRefusal, Refusal } from '../core/errors.ts'
import { findMonth, pacificMonth } from '../core/pacific.ts'
import { zip } from '../core/zip.ts'
import { quietPlan } from '../faults/faults.ts'
import { type Blemish, blemishNames } from '../faults/schema.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import { buildCsv, firstMonth } from './report.ts'
import { buildFileName, findPeriod } from './report-period.ts'
import { readReportSettings, requestEndings } from './report-settings.ts'
import { liveOn } from './simulation.ts'

/** Requests and their files are kept this long (public facts, section 13). */
const keptMs = 30 * dayMs
/** How long the address of a file can be used; no number is published. */
const addressMs = 10 * minuteMs
const component = 'GMP_REPORT_API'

const common = {
  admission: 'marketplace',
  writes: false,
  errorShape: 'flat',
} as const satisfies Partial<Operation>

const request = z.object({
  sellerId: z.string(),
  month: z.string(),
  requestedAt: z.number(),
  readyAt: z.number(),
  ending: z.enum(requestEndings),
  /** The archive is decided when the report is requested. */
  archive: z.boolean(),
})
type ReportRequest = z.infer<typeof request>
const requests = z.record(z.string(), request)

const file = z.object({
  requestId: z.string(),
  until: z.number(),
  /** Faults on rows that struck its download. */
  blemishes: z.array(z.enum(blemishNames)),
})

const requestsKey = 'report-requests'
const fileKey = (id: string): string => `report-file:${id}`

const refuse = (field: string, description: string): Refusal =>
  new Refusal(
    400,
    [{ code: `INVALID_REQUEST_CONTENT.${component}`, field, description, severity: 'ERROR', category: 'DATA' }],
    'flat',
  )

/** `2026-10-31T23:59:59.999Z`: other dates of the marketplace have no milliseconds, these need them (public facts, section 7.2). */
const moment = /^(\d{4}-(?:0[1-9]|1[0-2]))-(?:0[1-9]|[12]\d|3[01])T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** Which ones there are is not published. */
const granularities: readonly unknown[] = ['DAILY', 'WEEKLY', 'MONTHLY']

const readMonth = ({ body }: Call, now: number): string => {
  const given =
    typeof body === 'object' && body !== null ? new Map<string, unknown>(Object.entries(body)) : new Map<string, unknown>()
  const read = (field: string): string => {
    const value = given.get(field)
    const [, month] = (typeof value === 'string' ? moment.exec(value) : null) ?? []
    if (month === undefined) throw refuse(field, `${field} must be a date-time with milliseconds`)
    return month
  }
  const granularity = given.get('dateGranularity')
  if (granularity !== undefined && !granularities.includes(granularity))
    throw refuse('dateGranularity', 'dateGranularity is not known')
  const month = read('dataStartTime')
  if (read('dataEndTime') !== month)
    throw refuse('dataEndTime', 'Reports are made per month: both dates must lie in the same one')
  if (month < firstMonth) throw refuse('dataStartTime', `There are no reports of months before ${firstMonth}`)
  if (month > findMonth(now).name) throw refuse('dataStartTime', 'There are no reports of months to come')
  return month
}

const requireRequests = ({ settings }: World): void => {
  if (!settings.dialect.fulfillment.reportRequests)
    throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
}

const submit = (world: World, call: Call, now: number): Record<string, unknown> => {
  requireRequests(world)
  const { sellerId, query } = call
  if (query.get('reportType') !== 'INVENTORY_RECON')
    throw refuse('reportType', 'The sandbox has reports of the type INVENTORY_RECON only')
  if (query.get('reportVersion') !== 'v1') throw refuse('reportVersion', 'reportVersion must be v1')
  requireEnrolment(world, sellerId, 'fulfillment')
  const month = readMonth(call, now)
  if (findPeriod(pacificMonth(month), now) === null)
    throw contentNotFound(`The report of ${month} has not been made yet`, component, 'flat')
  const { readyAfterMs, ending, archive } = readReportSettings(world).requests
  const requestId = randomUUID()
  const made: ReportRequest = { sellerId, month, requestedAt: now, readyAt: now + readyAfterMs, ending, archive }
  world.meta.keep(requestsKey, { ...world.meta.read(requestsKey, requests), [requestId]: made })
  world.dueEvents.schedule(made.readyAt, { kind: 'report-ready', sellerId, requestId })
  return view(requestId, made, now)
}

/** A third of the time the request waits, then the report is made. */
const computeStatus = ({ requestedAt, readyAt, ending }: ReportRequest, now: number): string => {
  if (now < requestedAt + (readyAt - requestedAt) / 3) return 'RECEIVED'
  if (now < readyAt || ending === 'stuck') return 'INPROGRESS'
  return ending === 'error' ? 'ERROR' : 'READY'
}

const iso = (at: number): string => new Date(at).toISOString()

const view = (requestId: string, made: ReportRequest, now: number): Record<string, unknown> => {
  const requestStatus = computeStatus(made, now)
  return {
    requestId,
    requestStatus,
    requestSubmissionDate: iso(made.requestedAt),
    reportType: 'INVENTORY_RECON',
    reportVersion: 'v1',
    ...(requestStatus === 'READY' ? { reportGenerationDate: iso(made.readyAt) } : {}),
  }
}

/** Announces that a requested report is ready, or failed (public facts, section 9.1). */
export const announceReport = (world: World, sellerId: string, requestId: string, at: number): void => {
  const made = world.meta.read(requestsKey, requests)[requestId]
  if (made === undefined || made.ending === 'stuck') return
  world.notifications.announce(sellerId, 'REPORT_STATUS', at, () => ({ partnerId: sellerId, ...view(requestId, made, at) }))
}

const find = (world: World, sellerId: string, requestId: string, now: number): ReportRequest => {
  requireRequests(world)
  const made = world.meta.read(requestsKey, requests)[requestId]
  if (made === undefined || made.sellerId !== sellerId || now >= made.requestedAt + keptMs)
    throw contentNotFound('There is no such report request', component, 'flat')
  return made
}

const locate = (world: World, call: Call, blemishes: readonly Blemish[], now: number): Record<string, unknown> => {
  const requestId = call.query.get('requestId') ?? ''
  const made = find(world, call.sellerId, requestId, now)
  if (made.ending === 'expired') throw contentNotFound('The report is no longer available', component, 'flat')
  if (computeStatus(made, now) !== 'READY') throw refuse('requestId', 'The report is not ready')
  const period = findPeriod(pacificMonth(made.month), made.requestedAt)
  if (period === null) throw new Error(`the report of ${made.month} was requested before there was one`)
  const id = randomUUID()
  world.meta.keep(fileKey(id), { requestId, until: now + addressMs, blemishes })
  const name = buildFileName(period).replace(/\.csv$/, made.archive ? '.zip' : '.csv')
  return {
    ...view(requestId, made, now),
    downloadURL: `http://${call.headers.host ?? ''}${reportFilesPath}/${id}/${name}?signature=${randomUUID()}`,
    downloadURLExpirationTime: iso(now + addressMs),
  }
}

/** Where the files of requested reports are, outside of the marketplace's operations: their addresses need no token. */
export const reportFilesPath = '/_files/reports'

/** The file at an address; null when it is unknown or no longer valid. */
export const openReportFile = (world: World, id: string, now: number): Buffer | Iterable<string> | null => {
  const kept = file
    .nullable()
    .catch(null)
    .parse(world.meta.read(fileKey(id), z.unknown()))
  const made = kept === null ? undefined : world.meta.read(requestsKey, requests)[kept.requestId]
  if (kept === null || made === undefined || now >= kept.until) return null
  const period = findPeriod(pacificMonth(made.month), made.requestedAt)
  if (period === null) return null
  liveOn(world, made.sellerId, now)
  world.inventory.seen(made.sellerId, now)
  const plan = { ...quietPlan(), blemishes: new Map(kept.blemishes.map((name) => [name, {}])) }
  const pieces = buildCsv(world, made.sellerId, period, null, readReportSettings(world), plan)
  return made.archive ? zip({ [buildFileName(period)]: [...pieces].join('') }) : pieces
}

/** Requests for reports (public facts, sections 7.2, 13 and 15). */
export const reportRequests: readonly Operation[] = [
  {
    ...common,
    name: 'reconciliation.request',
    limit: { tokens: 1, perMs: hourMs, foreignPerMinute: 0, clock: 'virtual' },
    method: 'POST',
    urls: ['/v3/reports/reportRequests'],
    body: 'json',
    faults: [],
    perform: (world, call, _plan, now) => ({ json: submit(world, call, now) }),
  },
  {
    ...common,
    name: 'reconciliation.status',
    limit: { tokens: 20, perMs: hourMs, foreignPerMinute: 0, clock: 'virtual' },
    method: 'GET',
    urls: ['/v3/reports/reportRequests/:requestId'],
    body: 'none',
    faults: [],
    perform: (world, { sellerId, params }, _plan, now) => {
      const requestId = params['requestId'] ?? ''
      return { json: view(requestId, find(world, sellerId, requestId, now), now) }
    },
  },
  {
    ...common,
    name: 'reconciliation.download',
    limit: { tokens: 20, perMs: hourMs, foreignPerMinute: 0, clock: 'virtual' },
    method: 'GET',
    urls: ['/v3/reports/downloadReport'],
    body: 'none',
    faults: ['malformedRecord', 'unknownValue', 'duplicateRows'],
    perform: (world, call, plan, now) => ({ json: locate(world, call, [...plan.blemishes.keys()], now) }),
  },
]
