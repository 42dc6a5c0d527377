import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { NextFault } from '../../sandbox/faults/schema.ts'
import { type Program, startProgram } from './process.ts'

/** What the sandbox counts for one order line. */
export interface LineEffects {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly ordered: number
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
  readonly refundedAmount: string
}

/** A line of an order to be placed. */
export interface LineToPlace {
  readonly lineNumber?: string
  readonly sku: string
  readonly quantity: number
  readonly unitPrice?: string
  readonly amount?: string
  readonly tax?: string
  readonly shipping?: string
  readonly intentToCancel?: boolean
}

/** One effect, as `GET /_sandbox/effects` lists it. */
export interface Effect {
  readonly id: number
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly kind: string
  readonly quantity: number
  readonly by: string
  readonly trackingNumber?: string | null
  readonly correlationId?: string | null
}

/** The sandbox as a child process, with its control routes. */
export interface TestSandbox {
  readonly url: string
  readonly program: Program
  readonly folder: string
  place(order: {
    readonly sellerId?: string
    readonly purchaseOrderId?: string
    readonly lines: readonly LineToPlace[]
  }): Promise<string>
  placeRandom(count: number, more?: object): Promise<readonly string[]>
  /** The next requests that fit end like this. */
  next(...faults: readonly (Partial<NextFault> & Pick<NextFault, 'fault'>)[]): Promise<void>
  control(method: 'GET' | 'POST' | 'PUT' | 'DELETE', route: string, body?: object): Promise<unknown>
  effects(purchaseOrderId?: string): Promise<readonly Effect[]>
  summary(): Promise<readonly LineEffects[]>
  stop(): Promise<void>
}

/** Starts one on a free port, in a temporary folder, without rate limits. */
export const startTestSandbox = async (env: Readonly<Record<string, string>> = {}): Promise<TestSandbox> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-sandbox-'))
  const program = startProgram('sandbox/main.ts', { SANDBOX_PORT: '0', DATA_DIR: folder, ...env })
  const [, url = ''] = await program.says(/"url":"(http:[^"]+)"/)
  const control: TestSandbox['control'] = async (method, route, body) => {
    const answer = await fetch(`${url}/_sandbox${route}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  await control('PUT', '/limits', { enabled: false })
  const placed = async (body: object): Promise<readonly string[]> =>
    ((await control('POST', '/orders', body)) as { purchaseOrderIds: string[] }).purchaseOrderIds
  return {
    url,
    program,
    folder,
    control,
    place: async (order) => {
      const [purchaseOrderId] = await placed(order)
      if (purchaseOrderId === undefined) throw new Error('no order was placed')
      return purchaseOrderId
    },
    placeRandom: (count, more = {}) => placed({ count, ...more }),
    next: async (...faults) => void (await control('POST', '/faults/next', faults)),
    effects: async (purchaseOrderId) => {
      const found: Effect[] = []
      for (let after: number | null = 0; after !== null; ) {
        const filter: string = purchaseOrderId === undefined ? '' : `&purchaseOrderId=${purchaseOrderId}`
        const page = (await control('GET', `/effects?limit=5000&after=${after}${filter}`)) as {
          items: Effect[]
          next: number | null
        }
        found.push(...page.items)
        after = page.next
      }
      return found
    },
    summary: async () => {
      const found: LineEffects[] = []
      for (let after: number | null = 0; after !== null; ) {
        const page = (await control('GET', `/effects/summary?limit=2000&after=${after}`)) as {
          items: LineEffects[]
          next: number | null
        }
        found.push(...page.items)
        after = page.next
      }
      return found
    },
    stop: async () => {
      await program.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
