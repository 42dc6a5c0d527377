import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import { renewLease } from '../../../src/store/commands/command-attempts.ts'
import { decideCommand } from '../../../src/store/commands/command-decisions.ts'
import { storeOrder } from '../../../src/store/orders/orders.ts'
import { lineWith, orderWith, wireStatus } from '../../store/support/records.ts'
import { acknowledgement, buildParcel, shipment, storeCommandIn } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { runCommand } from '../../support/run-command.ts'

const sellerId = 'sandbox-seller'
const purchaseOrderId = '4800'
const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }

const stage = withDatabase({ each: 'test' })
let sellers: SellerRegistry
/** Holds the row of the attempt, so that whoever writes it waits. */
let holder: pg.Client

beforeEach(async () => {
  holder = new pg.Client({ connectionString: stage.url })
  await holder.connect()
  sellers = createSellerRegistry({
    sellers: readConfig({}, false).sellers,
    // Nothing here asks the marketplace.
    sandboxUrl: 'http://127.0.0.1:1',
    display: null,
    requestTimeoutMs: 400,
    profiles,
    budget: createInProcessBudget({}),
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })
})
afterEach(async () => {
  await holder.end()
  await sellers.close()
})

/** A command whose sender is gone. */
const interrupted = async (): Promise<string> => {
  const record = orderWith(purchaseOrderId, [lineWith('1', 1, [wireStatus('Created', 1)])])
  const id = await stage.database.transaction(async (tx) => {
    await storeOrder(tx, sellerId, new Date(), record)
    return storeCommandIn(tx, { sellerId, purchaseOrderId }, acknowledgement)
  })
  await stage.database.execute(
    `UPDATE tallyman.commands SET state = 'sending', attempts = 1, leased_until = now() - interval '1 second' WHERE id = $1`,
    id,
  )
  await stage.database.execute(
    `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline) VALUES ($1, 1, $2, '{}', '{}')`,
    id,
    randomUUID(),
  )
  return id
}

const runStep = (id: string) =>
  runCommand(
    {
      database: stage.database,
      sellers,
      owner: 'test',
      requestTimeoutMs: 400,
      settleTimeMs: 1_000,
      onSettled: async () => undefined,
    },
    id,
    { signal: AbortSignal.timeout(30_000), log },
  )

const decide = (commandId: string) =>
  decideCommand(stage.database, { commandId, decision: 'retry', actor: 'kim', reason: 'nothing was applied' })

/** Resolves when so many sessions wait for a lock with a statement like this. */
const waits = (statement: string, sessions = 1) =>
  eventually(async () => {
    const rows = await stage.database.query(
      `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
      statement,
    )
    expect(rows).toHaveLength(sessions)
  })

const writingTheAttempt = 'UPDATE%command_attempts%'
const lockingTheCommand = '%FROM tallyman.commands c%FOR UPDATE%'
const lockingTheOrder = '%warehouse.orders%FOR UPDATE%'

// Had one of both the attempt and waited for the command, the other the command and waited for the attempt, neither could go on.
describe('the command is locked before its attempt', () => {
  test('by a step, while a person decides', async () => {
    const id = await interrupted()
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM tallyman.command_attempts WHERE command_id = $1 FOR UPDATE', [id])
    const step = runStep(id)
    await waits(writingTheAttempt)
    const decision = decide(id)
    // A step takes both rows before it begins, as a decision does.
    await waits(lockingTheOrder)
    await holder.query('COMMIT')
    expect(await step).toMatchObject({ reason: expect.stringContaining('reading the order back') })
    // It goes by what the step has made of the command, not by what it was before.
    expect(await decision).toEqual({ ok: true, state: 'pending' })
  })

  test('by a decision, while a step is done', async () => {
    const id = await interrupted()
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM tallyman.command_attempts WHERE command_id = $1 FOR UPDATE', [id])
    const decision = decide(id)
    await waits(writingTheAttempt)
    const step = runStep(id)
    await waits(lockingTheCommand)
    await holder.query('COMMIT')
    expect(await decision).toEqual({ ok: true, state: 'pending' })
    expect(await step).toEqual({ done: true })
    const rows = await stage.database.query('SELECT state FROM tallyman.commands WHERE id = $1', id)
    expect(rows).toEqual([{ state: 'pending' }])
  })
})

describe('what a person decides while a step is about to send', () => {
  test('holds: units that are not to be sent do not leave with a request that was made before', async () => {
    const record = orderWith(purchaseOrderId, [lineWith('1', 2, [wireStatus('Acknowledged', 2)])])
    const id = await stage.database.transaction(async (tx) => {
      await storeOrder(tx, sellerId, new Date(), record)
      return storeCommandIn(tx, { sellerId, purchaseOrderId }, shipment(buildParcel('T1', { '1': 2 })))
    })
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM warehouse.orders WHERE purchase_order_id = $1 FOR UPDATE', [purchaseOrderId])
    const decision = decideCommand(stage.database, {
      commandId: id,
      actor: 'kim',
      reason: 'one was lost',
      lines: [
        { lineNumber: '1', quantity: 1, verdict: 'not-applied' },
        { lineNumber: '1', quantity: 1, verdict: 'send-again' },
      ],
    })
    await waits(lockingTheOrder)
    const step = runStep(id)
    await waits(lockingTheOrder, 2)
    await holder.query('COMMIT')
    expect(await decision).toEqual({ ok: true, state: 'pending' })
    expect(await step).toEqual({ done: true })
    const attempts = 'SELECT request FROM tallyman.command_attempts WHERE command_id = $1'
    expect(await stage.database.query(attempts, id)).toEqual([])
    // The next step goes by the decision.
    await runStep(id)
    const [attempt] = await stage.database.query<{ request: object }>(attempts, id)
    expect(JSON.stringify(attempt?.request)).toContain('"amount":"1"')
  })
})

describe('a lease that is renewed just as it was found to be over', () => {
  const renewed = `UPDATE tallyman.commands SET leased_until = now() + interval '15 seconds' WHERE id = $1`
  const readState = (id: string) =>
    stage.database.query(
      `SELECT c.state, a.outcome FROM tallyman.commands c JOIN tallyman.command_attempts a ON a.command_id = c.id WHERE c.id = $1`,
      id,
    )

  test('keeps another process from taking the command over', async () => {
    const id = await interrupted()
    await holder.query('BEGIN')
    await holder.query(renewed, [id])
    const step = runStep(id)
    await waits(lockingTheCommand)
    await holder.query('COMMIT')
    expect(await step).toEqual({ done: true })
    expect(await readState(id)).toEqual([{ state: 'sending', outcome: null }])
  })

  test('keeps a person from deciding', async () => {
    const id = await interrupted()
    await holder.query('BEGIN')
    await holder.query(renewed, [id])
    const decision = decide(id)
    await waits(lockingTheCommand)
    await holder.query('COMMIT')
    expect(await decision).toEqual({ ok: false, fault: 'not-open', state: 'sending' })
    expect(await readState(id)).toEqual([{ state: 'sending', outcome: null }])
  })
})

describe('a lease', () => {
  const held = (id: string) => ({ id, state: 'sending' as const, attempts: 1, owner: 'sender', leaseMs: 15_000 })
  const leaseIn = (id: string, interval: string) =>
    stage.database.execute(
      `UPDATE tallyman.commands SET lease_owner = 'sender', leased_until = now() + $2::interval WHERE id = $1`,
      id,
      interval,
    )

  test('is renewed by its owner for its attempt, and not once it is over', async () => {
    const id = await interrupted()
    await leaseIn(id, '5 seconds')
    const others = [
      { ...held(id), owner: 'another' },
      { ...held(id), attempts: 2 },
      { ...held(id), state: 'pending' as const },
      { ...held(id), id: 'unknown' },
    ]
    for (const other of others) expect(await renewLease(stage.database, other)).toBe(false)
    expect(await Promise.all([renewLease(stage.database, held(id)), renewLease(stage.database, held('unknown'))])).toEqual([
      true,
      false,
    ])
    const left = `SELECT leased_until > now() + interval '10 seconds' AS renewed FROM tallyman.commands WHERE id = $1`
    expect(await stage.database.query(left, id)).toEqual([{ renewed: true }])
    await leaseIn(id, '-1 milliseconds')
    expect(await renewLease(stage.database, held(id))).toBe(false)
  })

  test('is not waited for while its command is locked', async () => {
    const id = await interrupted()
    await leaseIn(id, '5 seconds')
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM tallyman.commands WHERE id = $1 FOR UPDATE', [id])
    expect(await renewLease(stage.database, held(id))).toBe(false)
    await holder.query('COMMIT')
    expect(await renewLease(stage.database, held(id))).toBe(true)
  })
})
