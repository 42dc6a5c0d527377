import { setTimeout as delay } from 'node:timers/promises'
import { propagation } from '@opentelemetry/api'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { LockLost, QueuesUnavailable, StoppedHard } from '../../src/queues/errors.ts'
import type { JobContext } from '../../src/queues/job-runner.ts'
import type { JobToEnqueue } from '../../src/queues/jobs.ts'
import { createRelay } from '../../src/queues/relay.ts'
import { createQueueRuntime, type QueueRuntime, type RuntimeTimes } from '../../src/queues/runtime.ts'
import type { Scheduler } from '../../src/queues/schedulers.ts'
import { eventually } from '../support/eventually.ts'
import { type Program, startProgram } from '../support/process.ts'
import type { StoreAddress, TestStore } from './store.ts'

const quick: Partial<RuntimeTimes> = { lockMs: 1_500, stalledIntervalMs: 500, operationTimeoutMs: 3_000, abortGraceMs: 400 }
const backoff = { firstMs: 20, longestMs: 40 }

interface Part {
  readonly runtime: QueueRuntime
  readonly metrics: Metrics
  readonly lines: Record<string, unknown>[]
}

/** What every store must do for the queues; the rest of the program cannot tell which one it has. */
export const runtimeContract = (name: string, makeStore: () => Promise<TestStore>): void => {
  describe(`the queues on ${name}`, () => {
    let store: TestStore
    let parts: Part[] = []
    let programs: Program[] = []

    beforeAll(async () => {
      store = await makeStore()
    })
    afterEach(async () => {
      await Promise.all(programs.map((program) => program.kill()))
      await Promise.all(parts.map(({ runtime }) => runtime.close()))
      parts = []
      programs = []
    })
    afterAll(() => store.stop())

    const make = (
      address: StoreAddress,
      times: Partial<RuntimeTimes> = {},
      more: Pick<Parameters<typeof createQueueRuntime>[0], 'findLane' | 'findSeller' | 'isOutage'> = {},
    ): Part => {
      const lines: Record<string, unknown>[] = []
      const log = createLogger({
        level: 'info',
        format: 'json',
        destination: { write: (line) => void lines.push(JSON.parse(line)) },
      })
      const metrics = createMetrics({ version: 'test', processMetrics: false })
      const backend = createQueueBackend({ ...address, quiet: createQuietLog(log) })
      const runtime = createQueueRuntime({ backend, log, metrics, times: { ...quick, ...times }, ...more })
      const part = { runtime, metrics, lines }
      parts.push(part)
      return part
    }
    const one = async (times: Partial<RuntimeTimes> = {}): Promise<Part & { address: StoreAddress }> => {
      const address = await store.empty()
      return { ...make(address, times), address }
    }
    const readRuns = async (metrics: Metrics, outcome: string): Promise<number> => {
      const { values } = await metrics.jobRuns.get()
      return values.filter(({ labels }) => labels.outcome === outcome).reduce((sum, { value }) => sum + value, 0)
    }
    const until = (check: () => void | Promise<void>) => eventually(check, 15_000)
    const listSchedulers = async (runtime: QueueRuntime) => {
      const found = await Promise.all(runtime.queues().map((queue) => queue.getJobSchedulers(0, 1_000)))
      return found.flat().map(({ key, name, every, next }) => ({
        id: key,
        name,
        everyMs: every,
        nextAt: next === undefined ? null : new Date(next),
      }))
    }
    /** A promise to be kept from outside. */
    const gate = () => Promise.withResolvers<void>()

    test('runs a job with its data, and forgets it when it is done', async () => {
      const { runtime, metrics } = await one()
      const seen: JobContext<'command.run'>[] = []
      runtime.register('command.run', async (job) => {
        seen.push(job)
        return { done: true }
      })
      await runtime.start()
      expect(await runtime.enqueue('command.run', { commandId: 'c:1' })).toEqual({ jobId: 'command.run~c%3A1', outcome: 'added' })
      await until(() => expect(seen).toHaveLength(1))
      expect(seen[0]).toMatchObject({ name: 'command.run', data: { commandId: 'c:1' }, starts: 1, failedAttempts: 0 })
      await until(async () => expect((await runtime.counts()).commands).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 }))
      expect((await runtime.enqueue('command.run', { commandId: 'c:1' })).outcome).toBe('added')
      await until(() => expect(seen).toHaveLength(2))
      expect(await readRuns(metrics, 'done')).toBe(2)
      expect(runtime.queues().map((queue) => queue.name)).toEqual([
        'polls',
        'backfills',
        'commands',
        'events',
        'webhooks',
        'maintenance',
        'erp-events',
      ])
      expect(await runtime.check(2_000)).toMatchObject({ ok: true, warnings: [] })
      await runtime.refreshMetrics()
      expect((await metrics.read()).body).toContain('tallyman_queue_jobs{queue="commands",state="failed"} 0')
      expect((await metrics.read()).body).toContain('tallyman_queue_jobs{queue="erp-events",state="waiting"} 0')
    })

    test('a second enqueue is no second job, one by one or many at once', async () => {
      const { runtime } = await one()
      await runtime.start()
      const data = { sellerId: 's', resource: 'orders', stream: 'changed' }
      expect((await runtime.enqueue('sync.run', data)).outcome).toBe('added')
      expect((await runtime.enqueue('sync.run', data)).outcome).toBe('exists')
      const due: JobToEnqueue[] = [
        { name: 'sync.run', data },
        { name: 'sync.run', data: { ...data, stream: 'released' } },
        { name: 'command.run', data: { commandId: '7' } },
        { name: 'command.run', data: { commandId: '7' } },
      ]
      expect(await runtime.enqueueMany(due)).toBe(4)
      expect(await runtime.enqueueMany(due)).toBe(4)
      const counts = await runtime.counts()
      expect(counts.polls['waiting']).toBe(2)
      expect(counts.commands['waiting']).toBe(1)
    })

    test('a job of a later lane starts when none of an earlier one is ready, also after it was postponed', async () => {
      const address = await store.empty()
      const findLane = ({ data }: { readonly data: Readonly<Record<string, string>> }): number =>
        Number(data['stream']?.slice(0, 1))
      const producer = make(address, {}, { findLane }).runtime
      await producer.start()
      const job = (stream: string) => ({ name: 'sync.run' as const, data: { sellerId: 's', resource: 'orders', stream } })
      await producer.enqueueMany([job('2-a'), job('1-a'), job('0-a'), job('1-b'), job('2-b')])
      await producer.enqueue('sync.run', job('0-b').data)
      expect((await producer.counts()).polls['waiting']).toBe(6)
      expect((await producer.enqueue('sync.run', job('2-a').data)).outcome).toBe('exists')

      const { runtime } = make(address, {}, { findLane })
      const ran: string[] = []
      let dueMs = 0
      runtime.register(
        'sync.run',
        async ({ data: { stream }, starts }) => {
          ran.push(stream)
          if (stream === '1-a' && starts === 1) {
            dueMs = Date.now() + 100
            return { runAgainAt: new Date(dueMs), reason: 'takes turns' }
          }
          // What was postponed is ready again by the time this one ends, if it was not before.
          if (stream === '2-a') await until(() => expect(Date.now()).toBeGreaterThan(dueMs))
          return { done: true }
        },
        { concurrency: 1 },
      )
      await runtime.start()
      await until(() => expect(ran).toHaveLength(7))
      expect(ran.slice(0, 4)).toEqual(['0-a', '0-b', '1-a', '1-b'])
      expect(ran.slice(4, 6).sort()).toEqual(['1-a', '2-a'])
      expect(ran.at(-1)).toBe('2-b')
    })

    test('being run again later costs no attempt and holds no worker', async () => {
      const { runtime, metrics } = await one()
      const starts: { id: string; starts: number; failedAttempts: number; at: number }[] = []
      let due = 0
      runtime.register(
        'command.run',
        async ({ data, starts: started, failedAttempts }) => {
          starts.push({ id: data.commandId, starts: started, failedAttempts, at: Date.now() })
          if (data.commandId === 'other' || started === 3) return { done: true }
          // It waits in line before the pause begins, so that no slow enqueue can outlast the pause.
          if (started === 1) await runtime.enqueue('command.run', { commandId: 'other' })
          due = Date.now() + 300
          return { runAgainAt: new Date(due), reason: 'waits for the budget' }
        },
        { concurrency: 1, attempts: 1 },
      )
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'waiting' })
      await until(() => expect(starts.filter(({ id }) => id === 'waiting')).toHaveLength(3))
      expect(starts.map(({ id }) => id)).toEqual(['waiting', 'other', 'waiting', 'waiting'])
      expect(starts.at(-1)).toMatchObject({ starts: 3, failedAttempts: 0 })
      // Not before its time, and sooner after it than anything but a timer of its own would come.
      expect(starts.at(-1)?.at).toBeGreaterThanOrEqual(due - 5)
      expect(starts.at(-1)?.at).toBeLessThan(due + 10_000)
      await until(async () => expect(await readRuns(metrics, 'again')).toBe(2))
    })

    test('runs without an end are capped: the job fails and is brought back by an enqueue', async () => {
      const { runtime, metrics, lines } = await one({ failedRestMs: 0 })
      let runs = 0
      runtime.register(
        'event.process',
        async () => {
          runs += 1
          return { runAgainAt: new Date(), reason: 'never ready' }
        },
        { maxStarts: 4, backoff },
      )
      await runtime.start()
      await runtime.enqueue('event.process', { source: 'erp', id: '1' })
      await until(async () => expect((await runtime.counts()).events['failed']).toBe(1))
      expect(runs).toBe(4)
      // The store shows the end a moment before the worker has told it.
      await until(async () => {
        expect(await readRuns(metrics, 'capped')).toBe(1)
        expect(lines.filter(({ msg }) => msg === 'job failed finally')).toMatchObject([
          { level: 'error', job: 'event.process', err: { message: expect.stringContaining('run 4 times without an end') } },
        ])
      })
      await runtime.enqueueMany([{ name: 'event.process', data: { source: 'erp', id: '1' } }])
      await until(() => expect(runs).toBe(8))
    })

    test('lines about a job that fails name its seller, whether its data do or its work has found out', async () => {
      const { runtime, lines } = await one()
      const fails = { attempts: 2, backoff }
      const broken = async ({ setSeller, jobId }: JobContext<'command.run'>): Promise<never> => {
        setSeller('found-out')
        throw new Error(`broken: ${jobId}`)
      }
      runtime.register('command.run', broken, fails)
      runtime.register('sync.run', () => Promise.reject(new Error('broken')), fails)
      runtime.register('maintenance.run', () => Promise.reject(new Error('broken')), fails)
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'c' })
      await runtime.enqueue('sync.run', { sellerId: 'in-data', resource: 'orders', stream: 'changed' })
      await runtime.enqueue('maintenance.run', { task: 'trim' })
      const told = (message: string) =>
        new Map(lines.filter(({ msg }) => msg === message).map((line) => [line['job'], line['seller_id']]))
      const sellers = new Map([
        ['command.run', 'found-out'],
        ['sync.run', 'in-data'],
        ['maintenance.run', undefined],
      ])
      await until(() => expect(told('job failed finally')).toEqual(sellers))
      expect(told('job failed, will be retried')).toEqual(sellers)
    })

    test('runs that fail by an outage count as no attempt: the job ends when it is over', async () => {
      const { runtime, metrics, lines } = make(await store.empty(), {}, { isOutage: ({ message }) => message === 'away' })
      const attempts: number[] = []
      runtime.register(
        'command.run',
        async ({ failedAttempts }) => {
          attempts.push(failedAttempts)
          if (attempts.length <= 5) throw new Error('away')
          if (attempts.length === 6) throw new Error('broken')
          return { done: true }
        },
        { attempts: 2, backoff },
      )
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'c' })
      await until(async () => expect(await readRuns(metrics, 'done')).toBe(1))
      expect(attempts).toEqual([0, 0, 0, 0, 0, 0, 1])
      expect(lines.filter(({ msg }) => msg === 'job failed finally')).toEqual([])
      expect(await readRuns(metrics, 'retried')).toBe(6)
    })

    test('a failing job is tried again with backoff, then fails; it rests before an ordinary enqueue brings it back', async () => {
      const { runtime, metrics } = await one()
      const attempts: number[] = []
      runtime.register(
        'maintenance.run',
        async ({ failedAttempts }) => {
          attempts.push(failedAttempts)
          throw new Error('broken')
        },
        { attempts: 3, backoff },
      )
      await runtime.start()
      await runtime.enqueue('maintenance.run', { task: 'trim' })
      await until(async () => expect((await runtime.counts()).maintenance['failed']).toBe(1))
      expect(attempts).toEqual([0, 1, 2])
      await until(async () => expect([await readRuns(metrics, 'retried'), await readRuns(metrics, 'failed')]).toEqual([2, 1]))
      expect((await runtime.enqueue('maintenance.run', { task: 'trim' })).outcome).toBe('exists')
      await runtime.enqueueMany([{ name: 'maintenance.run', data: { task: 'trim' } }])
      expect((await runtime.counts()).maintenance).toMatchObject({ failed: 1, waiting: 0 })
      expect((await runtime.enqueue('maintenance.run', { task: 'trim' }, { runNow: true })).outcome).toBe('replaced')
      await until(() => expect(attempts).toHaveLength(6))
    })

    test('a payload that does not fit its name, or a name without a handler, fails at once', async () => {
      const { runtime, metrics } = await one()
      runtime.register('command.run', async () => ({ done: true }), { attempts: 5 })
      await runtime.start()
      const commands = runtime.queues().find((queue) => queue.name === 'commands')
      await commands?.add('command.run', { commandId: 'x', refund: 12 }, { attempts: 5, backoff: { type: 'tallyman' } })
      await commands?.add('of.tomorrow', {}, { attempts: 5, backoff: { type: 'tallyman' } })
      await until(async () => expect((await runtime.counts()).commands['failed']).toBe(2))
      expect(await readRuns(metrics, 'invalid')).toBe(2)
    })

    test('run now promotes a waiting job; without it the job keeps its time', async () => {
      const { runtime } = await one()
      const ran: string[] = []
      runtime.register('command.run', async ({ data }) => {
        ran.push(data.commandId)
        return { done: true }
      })
      await runtime.start()
      const later = { delayMs: 600_000 }
      expect((await runtime.enqueue('command.run', { commandId: 'a' }, later)).outcome).toBe('added')
      expect((await runtime.enqueue('command.run', { commandId: 'b' }, later)).outcome).toBe('added')
      expect((await runtime.enqueue('command.run', { commandId: 'a' })).outcome).toBe('exists')
      expect((await runtime.enqueue('command.run', { commandId: 'a' }, { runNow: true })).outcome).toBe('promoted')
      await until(() => expect(ran).toEqual(['a']))
      await runtime.enqueueMany([{ name: 'command.run', data: { commandId: 'b' }, runNow: true }])
      await until(() => expect(ran).toEqual(['a', 'b']))
    })

    test('schedulers are spread, kept as they stand, replaced when they change and removed when obsolete', async () => {
      const { runtime } = await one()
      await runtime.start()
      const every = (sellerId: string, everyMs: number): Scheduler => ({
        job: { name: 'sync.run', data: { sellerId, resource: 'orders', stream: 'changed' } },
        everyMs,
      })
      const sellers = Array.from({ length: 12 }, (_, index) => `seller-${index}`)
      const before = Date.now()
      expect(await runtime.applySchedulers(sellers.map((seller) => every(seller, 60_000)))).toMatchObject({
        made: 12,
        removed: 0,
      })
      const first = await listSchedulers(runtime)
      expect(first).toHaveLength(12)
      const times = first.map(({ nextAt }) => nextAt?.getTime() ?? 0)
      expect(new Set(times).size).toBe(12)
      expect(Math.min(...times)).toBeGreaterThan(before)
      expect(Math.max(...times)).toBeLessThanOrEqual(Date.now() + 60_000)
      expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(10_000)

      expect(await runtime.applySchedulers(sellers.map((seller) => every(seller, 60_000)))).toMatchObject({ made: 0, removed: 0 })
      expect(await listSchedulers(runtime)).toEqual(first)

      const changed = sellers.map((seller) => every(seller, seller === 'seller-3' ? 5_000 : 60_000))
      expect(await runtime.applySchedulers(changed)).toMatchObject({ made: 1, removed: 0 })
      const third = (await listSchedulers(runtime)).find(({ id }) => id.includes('seller-3~'))
      expect(third).toMatchObject({ name: 'sync.run', everyMs: 5_000 })
      expect(third?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now() + 5_000)

      expect(await runtime.applySchedulers([every('seller-3', 5_000)])).toMatchObject({ made: 0, removed: 11 })
      expect((await runtime.counts()).polls).toMatchObject({ delayed: 1 })
      expect(await runtime.applySchedulers([])).toMatchObject({ made: 0, removed: 1 })
      expect(await listSchedulers(runtime)).toEqual([])
      expect((await runtime.counts()).polls).toMatchObject({ delayed: 0 })
    })

    test('a scheduler adds its job at each of its moments, also while an earlier one runs, and survives one that fails', async () => {
      const { runtime } = await one()
      const ids: string[] = []
      const release = gate()
      runtime.register(
        'poll.run',
        async ({ jobId, data }) => {
          ids.push(jobId)
          expect(data).toEqual({ sellerId: 's', resource: 'orders' })
          if (ids.length === 1) await release.promise
          if (ids.length === 2) throw new Error('broken')
          return { done: true }
        },
        { concurrency: 5, attempts: 1 },
      )
      await runtime.start()
      const data = { sellerId: 's', resource: 'orders' }
      expect(await runtime.applySchedulers([{ id: 's:orders', job: { name: 'poll.run', data }, everyMs: 100 }])).toEqual({
        made: 1,
        removed: 0,
        total: 1,
      })
      expect((await listSchedulers(runtime)).map(({ id }) => id)).toEqual(['s:orders'])
      expect(await runtime.countSchedulers()).toBe(1)
      await until(() => expect(ids.length).toBeGreaterThanOrEqual(4))
      release.resolve()
      expect(new Set(ids).size).toBe(ids.length)
    })

    test('schedulers of others are left alone', async () => {
      const { runtime } = await one()
      await runtime.start()
      const every = (sellerId: string): Scheduler => ({
        id: `${sellerId}:orders`,
        job: { name: 'poll.run', data: { sellerId, resource: 'orders' } },
        everyMs: 60_000,
      })
      await runtime.applySchedulers([every('a'), every('b'), every('c')])
      const isOfA = (data: unknown): boolean => typeof data === 'object' && data !== null && Reflect.get(data, 'sellerId') === 'a'
      expect(await runtime.applySchedulers([every('c')], isOfA)).toEqual({ made: 0, removed: 1, total: 2 })
      expect((await listSchedulers(runtime)).map(({ id }) => id).sort()).toEqual(['b:orders', 'c:orders'])
    })

    test('drains: what runs may end, what waits stays', async () => {
      const { runtime, address } = await one()
      const started = gate()
      const release = gate()
      const ended: string[] = []
      runtime.register(
        'command.run',
        async ({ data, signal }) => {
          started.resolve()
          await release.promise
          ended.push(`${data.commandId} ${signal.aborted}`)
          return { done: true }
        },
        { concurrency: 1 },
      )
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'first' })
      await started.promise
      await runtime.enqueue('command.run', { commandId: 'second' })
      const drained = runtime.drain(10_000)
      expect(runtime.liveness(Date.now() + 3_600_000)).toMatchObject({ alive: true })
      // Enqueueing still works while draining.
      expect((await runtime.enqueue('command.run', { commandId: 'third' })).outcome).toBe('added')
      release.resolve()
      expect(await drained).toEqual({ clean: true, aborted: 0, abandoned: [] })
      expect(ended).toEqual(['first false'])
      const other = make(address).runtime
      await other.start()
      expect((await other.counts()).commands).toEqual({ waiting: 2, active: 0, delayed: 0, failed: 0 })
    })

    test('what does not end in time is aborted, put back, and costs no attempt', async () => {
      const { runtime, address } = await one()
      const started = gate()
      let reason: unknown
      runtime.register('command.run', async ({ signal }) => {
        started.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        reason = signal.reason
        throw signal.reason
      })
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'long' })
      await started.promise
      expect(await runtime.drain(50)).toEqual({ clean: false, aborted: 1, abandoned: [] })
      expect(reason).toBeInstanceOf(StoppedHard)
      await runtime.close()
      const other = make(address).runtime
      const again = Promise.withResolvers<JobContext<'command.run'>>()
      other.register('command.run', async (job) => {
        again.resolve(job)
        return { done: true }
      })
      await other.start()
      expect(await again.promise).toMatchObject({ data: { commandId: 'long' }, failedAttempts: 0, starts: 2 })
    })

    test('what does not even end when aborted is left to another worker', async () => {
      const { runtime, address, lines } = await one()
      const started = gate()
      const never = gate()
      runtime.register('command.run', async () => {
        started.resolve()
        await never.promise
        return { done: true }
      })
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'deaf' })
      await started.promise
      expect(await runtime.drain(20)).toEqual({ clean: false, aborted: 1, abandoned: ['commands/command.run~deaf'] })
      const other = make(address).runtime
      const again = gate()
      other.register('command.run', async () => {
        again.resolve()
        return { done: true }
      })
      await other.start()
      await again.promise
      never.resolve()
      expect(lines.filter(({ level }) => level === 'error')).toEqual([])
    })

    test('drained before it could connect, it takes nothing', async () => {
      const { runtime, address } = await one()
      const taken: string[] = []
      runtime.register('command.run', async ({ data }) => {
        taken.push(data.commandId)
        return { done: true }
      })
      const started = runtime.start()
      expect(await runtime.drain(1_000)).toMatchObject({ clean: true })
      await started
      expect((await runtime.enqueue('command.run', { commandId: '1' })).outcome).toBe('added')
      await runtime.close()
      const other = make(address).runtime
      await other.start()
      expect((await other.counts()).commands).toMatchObject({ waiting: 1 })
      expect(taken).toEqual([])
    })

    test('a job whose worker was killed is taken over', async () => {
      const { runtime, metrics, address } = await one()
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'orphan' })
      const program = startProgram('test/queues/hanging-worker.ts', { STORE: JSON.stringify(address) })
      programs.push(program)
      await program.says('running orphan')
      await program.kill()
      const {
        runtime: other,
        metrics: otherMetrics,
        lines,
      } = make(address, {}, { findSeller: async ({ data }) => `seller of ${data['commandId']}` })
      const taken = Promise.withResolvers<JobContext<'command.run'>>()
      other.register('command.run', async (job) => {
        taken.resolve(job)
        return { done: true }
      })
      await other.start()
      expect(await taken.promise).toMatchObject({ data: { commandId: 'orphan' }, starts: 2, failedAttempts: 0 })
      await until(() =>
        expect(lines).toContainEqual(
          expect.objectContaining({ msg: expect.stringContaining('job recovered'), seller_id: 'seller of orphan' }),
        ),
      )
      expect((await otherMetrics.jobsStalled.get()).values).toMatchObject([{ value: 1 }])
      expect((await metrics.jobsStalled.get()).values).toEqual([])
      await until(async () => expect((await runtime.counts()).commands).toMatchObject({ active: 0, waiting: 0 }))
    })

    test('a job that is no longer ours is told so, and its end counts for nothing', async () => {
      const { runtime, lines, metrics, address } = await one()
      const lost = Promise.withResolvers<unknown>()
      runtime.register('command.run', async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        lost.resolve(signal.reason)
        return { done: true }
      })
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: '1' })
      await until(async () => expect((await metrics.jobsActive.get()).values).toMatchObject([{ value: 1 }]))
      await store.flush(address)
      expect(await lost.promise).toBeInstanceOf(LockLost)
      await until(async () => expect(await readRuns(metrics, 'aborted')).toBe(1))
      expect(await readRuns(metrics, 'done')).toBe(0)
      // Said once, by the line that names the job and its seller.
      expect(lines.filter(({ msg }) => msg === 'job left to another worker')).toHaveLength(1)
      expect(JSON.stringify(lines)).not.toContain('could not renew lock')
    })

    test('a lock that cannot be renewed in time counts as lost', async () => {
      const { runtime } = await one()
      const started = gate()
      const lost = Promise.withResolvers<unknown>()
      runtime.register('command.run', async ({ signal }) => {
        started.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        lost.resolve(signal.reason)
        return { done: true }
      })
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: '1' })
      await started.promise
      await store.restart(async () => expect(await lost.promise).toBeInstanceOf(LockLost))
    })

    test('the trace goes along with the job', async () => {
      const { runtime } = await one()
      const extracted: unknown[] = []
      propagation.setGlobalPropagator({
        inject: (_context, carrier, setter) => setter.set(carrier, 'traceparent', '00-trace-span-01'),
        extract: (context, carrier) => {
          extracted.push(carrier)
          return context
        },
        fields: () => ['traceparent'],
      })
      try {
        runtime.register('command.run', async () => ({ done: true }))
        await runtime.start()
        await runtime.enqueue('command.run', { commandId: '1' })
        await until(() => expect(extracted).toEqual([{ traceparent: '00-trace-span-01' }]))
      } finally {
        propagation.disable()
      }
    })

    test('after a flush the relay brings back jobs and schedulers, and the workers go on', async () => {
      const { runtime, metrics, address, lines } = await one()
      const ran: string[] = []
      const due = new Set(['a', 'b'])
      const blocked = gate()
      runtime.register(
        'command.run',
        async ({ data }) => {
          ran.push(data.commandId)
          if (data.commandId === 'in-flight' && ran.filter((id) => id === 'in-flight').length === 1) await blocked.promise
          due.delete(data.commandId)
          return { done: true }
        },
        { concurrency: 4, backoff },
      )
      await runtime.start()
      const schedulers: Scheduler[] = [
        { job: { name: 'sync.run', data: { sellerId: 's', resource: 'orders', stream: 'changed' } }, everyMs: 60_000 },
      ]
      const log = createLogger({ level: 'silent', format: 'json' })
      const relay = createRelay({
        derive: async () => [...due].map((commandId) => ({ name: 'command.run' as const, data: { commandId } })),
        keepSchedulers: async () => void (await runtime.applySchedulers(schedulers)),
        intervalMs: 200,
        runtime,
        log,
        metrics,
      })
      relay.start()
      try {
        await until(() => expect(ran.toSorted()).toEqual(['a', 'b']))
        due.add('in-flight')
        relay.trigger()
        await until(() => expect(ran).toContain('in-flight'))
        await runtime.enqueue('command.run', { commandId: 'lost' }, { delayMs: 600_000 })
        await store.flush(address)
        due.add('c')
        await until(async () => expect(await listSchedulers(runtime)).toHaveLength(1))
        await until(() => expect(ran).toContain('c'))
        // The job that ran during the flush is derived again, beside its first run: its work decides by Postgres what is left to do.
        await until(() => expect(ran.filter((id) => id === 'in-flight')).toHaveLength(2))
        blocked.resolve()
        expect((await runtime.enqueue('command.run', { commandId: 'lost' })).outcome).toBe('added')
        await until(() => expect(ran).toContain('lost'))
        expect(runtime.liveness(Date.now())).toMatchObject({ alive: true })
        expect(lines.filter(({ level }) => level === 'error').length).toBeLessThan(5)
      } finally {
        blocked.resolve()
        await relay.stop()
      }
    })

    test('while the store is away the process stays up and quiet; work resumes by itself', async () => {
      const { runtime, metrics, lines } = await one({ operationTimeoutMs: 500 })
      const ran: string[] = []
      runtime.register(
        'command.run',
        async ({ data }) => {
          ran.push(data.commandId)
          return { done: true }
        },
        { backoff },
      )
      for (const other of ['sync.run', 'event.process', 'maintenance.run'] as const) {
        runtime.register(other, async () => ({ done: true }))
      }
      await runtime.start()
      await runtime.enqueue('command.run', { commandId: 'before' })
      await until(() => expect(ran).toEqual(['before']))
      const due = new Set<string>()
      let derivations = 0
      const relay = createRelay({
        derive: async () => {
          derivations += 1
          return [...due]
            .filter((id) => !ran.includes(id))
            .map((commandId) => ({ name: 'command.run' as const, data: { commandId } }))
        },
        intervalMs: 1_000,
        runtime,
        log: createLogger({ level: 'info', format: 'json', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
        metrics,
      })
      relay.start()
      try {
        await store.restart(async () => {
          due.add('during')
          for (let triggers = 0; triggers < 50; triggers += 1) relay.trigger()
          await expect(runtime.enqueue('command.run', { commandId: 'refused' })).rejects.toBeInstanceOf(QueuesUnavailable)
          expect(await runtime.check(500)).toMatchObject({ ok: false })
          await runtime.refreshMetrics()
          expect((await metrics.queueBackendUp.get()).values).toMatchObject([{ value: 0 }])
          // Long enough for a busy loop to show.
          const cpu = process.cpuUsage()
          await delay(1_500)
          const { user, system } = process.cpuUsage(cpu)
          expect((user + system) / 1_000).toBeLessThan(750)
          expect(runtime.liveness(Date.now() + 3_600_000)).toMatchObject({ alive: true })
        })
        await until(() => expect(ran).toContain('during'))
        expect(derivations).toBeLessThan(40)
        expect((await runtime.enqueue('command.run', { commandId: 'after' })).outcome).toBe('added')
        await until(() => expect(ran).toContain('after'))
        await until(async () => expect(await runtime.check(2_000)).toMatchObject({ ok: true }))
        // At once, not at the end of some long pause.
        const from = Date.now()
        await runtime.enqueue('command.run', { commandId: 'prompt' })
        await until(() => expect(ran).toContain('prompt'))
        expect(Date.now() - from).toBeLessThan(15_000)
        const told = lines.filter(({ level }) => level === 'error' || level === 'warn')
        expect(told.length, JSON.stringify(told, null, 1)).toBeLessThan(8)
        expect(lines.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/the queues can use (Redis|Postgres) again/))
      } finally {
        await relay.stop()
      }
    })

    test('a process that starts while the store is away connects when it comes', async () => {
      const address = await store.empty()
      const { runtime, lines } = make(address)
      const ran = gate()
      runtime.register('command.run', async () => {
        ran.resolve()
        return { done: true }
      })
      await store.restart(async () => {
        await runtime.start()
        await expect(runtime.enqueue('command.run', { commandId: '1' })).rejects.toBeInstanceOf(QueuesUnavailable)
        expect(runtime.queues()).toEqual([])
        expect(runtime.liveness(Date.now() + 3_600_000)).toMatchObject({ alive: true })
      })
      await runtime.opened
      await runtime.enqueue('command.run', { commandId: '1' })
      await ran.promise
      expect(lines.filter(({ level }) => level === 'error').length).toBeLessThan(4)
    })

    test('closing does not wait for a store that is away', async () => {
      const { runtime } = await one({ operationTimeoutMs: 500 })
      runtime.register('command.run', async () => ({ done: true }))
      await runtime.start()
      await store.restart(async () => {
        // The store comes back only when this has ended.
        await runtime.close()
      })
    })
  })
}
