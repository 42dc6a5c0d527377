/**
 * How much of what a marketplace allows a fleet uses, in virtual time, by the budget's own code: where the marketplace says in each answer what is left,
 * where it says nothing, and where it halves its limit without a word.
 * `node bench/budget.ts [--minutes 60]`; prints the used share, and refusals for 1, 2 and 4 processes.
 */
import type { RateLimit } from '../src/clients/http/operation.ts'
import { runFleet } from '../test/clients/rate-limit/support/fleet.ts'
import { benchOptions } from './measure.ts'

const { minutes } = benchOptions({ minutes: 60 }).numbers
const durationMs = minutes * 60_000
const halvedAtMs = durationMs / 6
const recoveryMs = 60_000
const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
const allowed = 60

/** A share, and refusals of all requests. */
interface Use {
  readonly used: number
  readonly refused: number
}

const reported = async (processes: number): Promise<Use> => {
  const {
    sent,
    allowed: allows,
    refused,
  } = await runFleet({ processes, durationMs, allows: () => perMinute(allowed), tells: true })
  return { used: sent / allows, refused: refused / (sent + refused) }
}

/** Beyond the first burst, which a bucket that nobody talks about cannot be known to hold. */
const blind = async (processes: number): Promise<Use> => {
  const fleet = await runFleet({ processes, durationMs, allows: () => perMinute(allowed), tells: false })
  return { used: fleet.sent / (fleet.allowed - allowed), refused: fleet.refused / (fleet.sent + fleet.refused) }
}

/** From a minute after the limit was halved on. */
const halved = async (processes: number): Promise<Use> => {
  const { requests } = await runFleet({
    processes,
    durationMs,
    allows: (atMs) => perMinute(atMs < halvedAtMs ? allowed : allowed / 2),
    believed: perMinute(allowed),
    tells: false,
  })
  const from = halvedAtMs + recoveryMs
  const after = requests.filter(({ atMs }) => atMs >= from)
  const refused = after.filter((request) => request.refused).length
  return { used: (after.length - refused) / (((durationMs - from) / 60_000) * (allowed / 2)), refused: refused / after.length }
}

const figures: { readonly processes: number; readonly reported: Use; readonly blind: Use; readonly halved: Use }[] = []
for (const processes of [1, 2, 4]) {
  figures.push({ processes, reported: await reported(processes), blind: await blind(processes), halved: await halved(processes) })
}
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
console.log(
  `${allowed} calls a minute, ${durationMs / 60_000} minutes of virtual time: share of what is allowed, and refusals of all requests`,
)
console.table(
  figures.map(({ processes, ...of }) => ({
    processes,
    'reported: used': percent(of.reported.used),
    'reported: refused': percent(of.reported.refused),
    'blind: used': percent(of.blind.used),
    'blind: refused': percent(of.blind.refused),
    'a minute after halving: used': percent(of.halved.used),
    'refused then': percent(of.halved.refused),
  })),
)
process.send?.({
  reportedUsed: Math.min(...figures.map(({ reported: { used } }) => used)),
  reportedRefused: Math.max(...figures.map(({ reported: { refused } }) => refused)),
  blindUsed: Math.min(...figures.map(({ blind: { used } }) => used)),
  blindRefused: Math.max(...figures.map(({ blind: { refused } }) => refused)),
  halvedUsed: Math.min(...figures.map(({ halved: { used } }) => used)),
  halvedRefused: Math.max(...figures.map(({ halved: { refused } }) => refused)),
})
