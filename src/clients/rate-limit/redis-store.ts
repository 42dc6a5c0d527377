import { z } from 'zod'
import type { RateLimitStore } from './store.ts'

/** States that are not written for this time are removed, in ms. */
const keptMs = 40 * 86_400_000

// Epoch microseconds.
const clockScript = `local time = redis.call('TIME') return time[1] .. string.format('%06d', time[2])`

const swapScript = `
local time = redis.call('TIME')
local now = time[1] .. string.format('%06d', time[2])
local stored = redis.call('HMGET', KEYS[1], 'version', 'text')
if stored[1] and stored[1] ~= ARGV[1] then return {stored[1], stored[2], now} end
local version = string.format('%d', ARGV[1] + 1)
redis.call('HSET', KEYS[1], 'version', version, 'text', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {version, ARGV[2], now}`

const swapAnswer = z.tuple([z.coerce.number(), z.string(), z.coerce.number()])

/** The commands of a Redis client that the store needs; those of one tick are pipelined by the client. */
export interface RedisCommands {
  eval(script: string, keys: number, ...parameters: readonly (string | number)[]): Promise<unknown>
}

/** States in Redis, Valkey or a cluster: a hash for each. Times are those of Redis. */
export const createRedisStore = (redis: RedisCommands, prefix = 'tallyman'): RateLimitStore => ({
  nowMs: async () => {
    return z.coerce.number().parse(await redis.eval(clockScript, 1, `{${prefix}:rate-limit}`)) / 1_000
  },
  swap: (writes) =>
    Promise.all(
      writes.map(async ({ name, version, text }) => {
        const answer = await redis.eval(swapScript, 1, `{${prefix}:rate-limit}:${name}`, version, text, keptMs)
        const [storedVersion, storedText, micros] = swapAnswer.parse(answer)
        return { version: storedVersion, text: storedText, storeMs: micros / 1_000 }
      }),
    ),
})
