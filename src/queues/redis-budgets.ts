import { z } from 'zod'
import type { BudgetStore } from '../budget-store.ts'
import type { QuietLog } from '../observability/log.ts'
import type { RedisTls } from '../redis-address.ts'
import { withDeadline } from './faults.ts'
import { connectRedis, untilReady } from './redis.ts'

/** What no process has used for so long is forgotten, in milliseconds. */
const keptMs = 40 * 86_400_000
const timeoutMs = 3_000

// One statement each, so that nothing comes between a look and a write. Times are those of Redis.
const clock = `local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)`

const readScript = `${clock}
local found = redis.call('HMGET', KEYS[1], 'version', 'text')
return {tostring(found[1] or '0'), found[2] or '', tostring(now)}`

const swapScript = `
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'text', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`

const putScript = `${clock}
local own = redis.call('HGET', KEYS[1], ARGV[1])
if not own or string.sub(own, 1, 1) ~= '1' or tonumber(string.sub(own, 3)) <= now then return 0 end
for i = 2, #KEYS do
  redis.call('HINCRBY', KEYS[i], 'version', 1)
  redis.call('HSET', KEYS[i], 'text', ARGV[i + 1])
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return 1`

const announceScript = `${clock}
local members = redis.call('HGETALL', KEYS[1])
local others, stays = {}, false
for i = 1, #members, 2 do
  local isSole, untilMs = string.sub(members[i + 1], 1, 1), tonumber(string.sub(members[i + 1], 3))
  -- The clock was set back since then: who lives says so again in time, who does not must not stand for as long as that.
  if untilMs > now + ARGV[3] then
    untilMs = now + ARGV[3]
    redis.call('HSET', KEYS[1], members[i], isSole .. ':' .. string.format('%d', untilMs))
  end
  if members[i] == ARGV[1] then
    stays = ARGV[2] == 'keep' and isSole == '1' and untilMs > now
  elseif untilMs > now then
    table.insert(others, members[i])
    table.insert(others, isSole)
  else
    redis.call('HDEL', KEYS[1], members[i])
  end
end
local isSole = (stays or (ARGV[2] ~= 'yield' and #others == 0)) and '1' or '0'
redis.call('HSET', KEYS[1], ARGV[1], isSole .. ':' .. string.format('%d', now + ARGV[3]))
return {isSole, tostring(now), others}`

const readAnswer = z.tuple([z.coerce.number(), z.string(), z.coerce.number()])
const announceAnswer = z.tuple([z.string(), z.coerce.number(), z.array(z.string())])

/** Rate budgets shared through Redis. All keys are in one hash slot, so that a cluster holds them too. */
export const createRedisBudgetStore = ({
  redisUrl,
  redisTls,
  quiet,
  prefix = 'tallyman',
}: {
  readonly redisUrl: string
  readonly redisTls?: RedisTls
  readonly quiet: QuietLog
  readonly prefix?: string
}): BudgetStore & { close(): void } => {
  const client = connectRedis(redisUrl, 'producer', redisTls)
  client.on('error', (error) => quiet.error('budget:Redis', { err: error }, 'the rate budget cannot use Redis'))
  client.on('ready', () => quiet.recovered('budget:Redis', 'the rate budget can use Redis again'))
  const members = `{${prefix}:budget}:members`
  const bucket = (name: string): string => `{${prefix}:budget}:bucket:${name}`
  const run = (script: string, keys: readonly string[], ...values: readonly (string | number)[]): Promise<unknown> =>
    withDeadline(client.eval(script, keys.length, ...keys, ...values), timeoutMs, 'asking Redis for the rate budget')
  return {
    read: async (name) => {
      const [version, text, storeMs] = readAnswer.parse(await run(readScript, [bucket(name)]))
      return { value: { version, text: version === 0 ? null : text }, storeMs }
    },
    swap: async (name, version, text) => (await run(swapScript, [bucket(name)], version, text, keptMs)) === 1,
    put: async (id, texts) => {
      const names = [...texts.keys()].map(bucket)
      return (await run(putScript, [members, ...names], id, keptMs, ...texts.values())) === 1
    },
    announce: async (id, { sole, forMs }) => {
      await untilReady(client)
      const [isSole, storeMs, flat] = announceAnswer.parse(await run(announceScript, [members], id, sole, forMs))
      const others = flat.flatMap((other, index) => (index % 2 === 0 ? [{ id: other, isSole: flat[index + 1] === '1' }] : []))
      return { value: { isSole: isSole === '1', others }, storeMs }
    },
    leave: async (id) => {
      await withDeadline(client.hdel(members, id), timeoutMs, 'leaving the rate budget in Redis')
    },
    close: () => client.disconnect(),
  }
}
