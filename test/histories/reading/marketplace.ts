import { wireLine, wireOrderSample } from '../../clients/samples.ts'
import type { Incoming, Reply } from '../marketplace.ts'
import type { LieRule, ReadingHistory, TrueReadingOrder } from './history.ts'

/** The lists of one history: what is true, and what is shown of it. */
export interface ReadingWorld {
  /** Requests so far. */
  readonly requests: () => number
  /** What an order is called. */
  findId(place: number): string
  /** How many changes of an order have happened by now. */
  readVersion(order: TrueReadingOrder): number
  answer(request: Incoming): Promise<Reply>
}

/** What a world is made of. */
export interface ReadingWorldParts {
  readonly history: ReadingHistory
  readonly name: number
  readonly beginningMs: number
  readonly nowMs: () => number
  /** A request travels. */
  readonly tick: (ms: number) => void
  readonly tell: (line: string) => void
}

/** Who fulfils an order, by its number in a history. */
export const nodeTypes = ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'] as const
const travelMs = 20
const states = ['Created', 'Acknowledged', 'Shipped'] as const

/** A number from 0 to below 1 that belongs to these words (FNV-1a, mixed). */
const countDraws = (...words: readonly (string | number)[]): number => {
  let hash = 0x811c9dc5
  for (const letter of words.join('|')) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

/** Opens the world of a history. */
export const createReadingWorld = (parts: ReadingWorldParts): ReadingWorld => {
  const { history, name, beginningMs, nowMs, tick, tell } = parts
  let requests = 0
  let cursors = 0
  const deadCursors = new Set<string>()
  const findId = (place: number): string => String(4_000_000_000 + name * 1_000 + place)
  const sinceMs = (): number => nowMs() - beginningMs

  const versionAt = ({ createdMs, changedMs }: TrueReadingOrder, atMs: number): number =>
    createdMs > atMs ? -1 : changedMs.filter((changed) => changed <= atMs).length
  const modifiedAt = ({ createdMs, changedMs }: TrueReadingOrder, atMs: number): number =>
    Math.max(createdMs, ...changedMs.filter((changed) => changed <= atMs))

  const buildWire = (order: TrueReadingOrder, place: number, atMs: number): object => {
    const version = versionAt(order, atMs)
    const status = states[Math.min(version, states.length - 1)] ?? 'Created'
    const statuses = { orderLineStatus: [{ status, statusQuantity: { unitOfMeasurement: 'EACH', amount: '2' } }] }
    return wireOrderSample(findId(place), {
      orderDate: beginningMs + order.createdMs,
      orderLines: {
        orderLine: [wireLine('1', 2, { orderLineStatuses: statuses, statusDate: beginningMs + modifiedAt(order, atMs) })],
      },
      shipNode: { type: nodeTypes[order.node] },
      version,
    })
  }

  const said = (status: number, body: string, cut = false): Reply => ({
    is: 'answer',
    cut,
    status,
    headers: { 'content-type': 'application/json', date: new Date(nowMs()).toUTCString() },
    body,
  })
  const none = (): Reply =>
    said(404, JSON.stringify({ errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] } }))
  const failed = (status: number): Reply =>
    said(status, JSON.stringify({ errors: { error: [{ code: `SYSTEM_ERROR_${status}.GMP_ORDER_API`, severity: 'ERROR' }] } }))

  const findRule = (lie: LieRule['lie'], further: boolean): LieRule | null =>
    history.rules.find(
      (rule) =>
        rule.lie === lie &&
        sinceMs() >= rule.fromMs &&
        sinceMs() < rule.fromMs + rule.forMs &&
        (rule.pages === 'all' || (rule.pages === 'further') === further) &&
        (lie === 'omit' || countDraws(history.dice, lie, requests) < rule.share),
    ) ?? null

  const listed = (path: string, query: URLSearchParams): Reply => {
    const offset = Number(query.get('poIndex') ?? 0)
    const further = query.has('poIndex')
    const cursor = query.get('cursor')
    if (cursor !== null && deadCursors.has(cursor) && history.temper.is === 'dead') return failed(history.temper.status)
    const failing = findRule('fail', further)
    if (failing !== null) return failed(failing.status)
    if (findRule('drop', further) !== null) return { is: 'drop' }
    if (findRule('none', further) !== null) return none()
    const asOfMs = sinceMs() - (findRule('delay', further)?.lagMs ?? 0)
    const omitting = findRule('omit', further)
    const bound = (parameter: string, fallback: number): number => {
      const text = query.get(parameter)
      return text === null ? fallback : Date.parse(text) - beginningMs
    }
    const created = [bound('createdStartDate', -7 * 86_400_000), bound('createdEndDate', sinceMs())] as const
    const modified = [bound('lastModifiedStartDate', -1e15), bound('lastModifiedEndDate', 1e15)] as const
    const rows = history.orders
      .map((order, place) => ({ order, place }))
      .filter(({ order, place }) => {
        if (versionAt(order, asOfMs) < 0 || nodeTypes[order.node] !== query.get('shipNodeType')) return false
        if (order.hiddenForMs === null || sinceMs() < order.createdMs + order.hiddenForMs) return false
        if (omitting !== null && countDraws(history.dice, 'omit', place) < omitting.share) return false
        if (path.endsWith('/released') && versionAt(order, asOfMs) > 0) return false
        const changedMs = modifiedAt(order, asOfMs)
        return (
          order.createdMs >= created[0] && order.createdMs <= created[1] && changedMs >= modified[0] && changedMs <= modified[1]
        )
      })
    const mixed = findRule('reorder', further)
    const order = (place: number): number => (mixed === null ? place : countDraws(history.dice, requests, place))
    rows.sort((a, b) =>
      mixed === null ? a.order.createdMs - b.order.createdMs || a.place - b.place : order(a.place) - order(b.place),
    )
    if (rows.length === 0) return none()
    const limit = Number(query.get('limit') ?? 100)
    const page = rows.slice(offset, offset + limit)
    const rendering = findRule('render', further)
    if (rendering !== null) return failed(rendering.status)
    const corrupt = page.find(
      ({ order: { poison } }) => poison !== null && (poison.untilMs === null || sinceMs() < poison.untilMs),
    )
    if (corrupt?.order.poison) return failed(corrupt.order.poison.status)
    const [before] = findRule('repeat', further) === null ? [] : rows.slice(Math.max(0, offset - 1), offset)
    const shown = before === undefined ? page : [before, ...page]
    const meta: Record<string, unknown> = { totalCount: rows.length, limit }
    if (offset + limit < rows.length) {
      cursors += 1
      const id = findRule('circle', further) !== null && cursor !== null ? cursor : String(cursors)
      const { temper } = history
      const bad = temper.is === 'dead' && (temper.untilMs === null || sinceMs() < temper.untilMs)
      if (bad && cursors % temper.every === 0) deadCursors.add(id)
      const next = new URLSearchParams(query)
      next.set('poIndex', String(offset + (findRule('circle', further) === null ? limit : 0)))
      next.set('cursor', id)
      meta['nextCursor'] = `?${next}`
    }
    const body = JSON.stringify({
      list: { meta, elements: { order: shown.map((row) => buildWire(row.order, row.place, asOfMs)) } },
    })
    return said(200, body, findRule('truncate', further) !== null)
  }

  const reply = (method: string, address: URL): Reply => {
    const path = address.pathname
    if (method === 'POST')
      return said(200, JSON.stringify({ access_token: `token-${requests}`, token_type: 'Bearer', expires_in: 900 }))
    if (path === '/v3/orders' || path === '/v3/orders/released') return listed(path, address.searchParams)
    const place = history.orders.findIndex((_, index) => path === `/v3/orders/${findId(index)}`)
    const order = history.orders[place]
    if (order === undefined || versionAt(order, sinceMs()) < 0) return none()
    return said(200, JSON.stringify({ order: buildWire(order, place, sinceMs()) }))
  }

  return {
    requests: () => requests,
    findId,
    readVersion: (order) => versionAt(order, sinceMs()),
    answer: async (request) => {
      requests += 1
      tick(travelMs)
      const answered = reply(request.method, new URL(request.path, 'http://marketplace'))
      tell(`${request.method} ${decodeURIComponent(request.path)}: ${answered.is === 'drop' ? 'dropped' : answered.status}`)
      return answered
    },
  }
}
