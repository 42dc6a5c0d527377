import type { Config } from '../../../config/config.ts'
import type { Metrics } from '../../../observability/metrics.ts'
import type { QueueRuntime } from '../../../queues/runtime.ts'
import { createSlots, postponeForSlot } from '../../../queues/slots.ts'
import { findHeadCommand } from '../../../store/commands/commands.ts'
import { systemClock } from '../../../util/clock.ts'
import { commandsAtOnce, dueJobBackoff } from '../../dispatch/capacity.ts'
import type { CommandJobs } from './command-jobs.ts'
import type { CommandParts } from './engine.ts'
import { readOpenCommand, runAsRead } from './run.ts'

/** Dependencies of running commands. */
export interface CommandWorkerParts extends Pick<CommandParts, 'database' | 'sellers' | 'owner'> {
  readonly config: Pick<Config, 'requestTimeoutMs' | 'settleTimeMs' | 'afterRestore'>
  readonly metrics: Pick<Metrics, 'commands'>
  readonly runtime: Pick<QueueRuntime, 'register'>
  readonly commandJobs: CommandJobs
  /** Called when this process works for fewer sellers than before. */
  sellersChanged(): void
  /** Called when a run of a command has ended for good. */
  ended(name: 'command.run'): void
}

const buildCommandParts = ({
  database,
  sellers,
  owner,
  config,
  metrics,
  commandJobs,
  sellersChanged,
}: CommandWorkerParts): CommandParts => ({
  database,
  sellers,
  owner,
  requestTimeoutMs: config.requestTimeoutMs,
  settleTimeMs: config.settleTimeMs,
  ...(config.afterRestore ? { afterRestore: { readsFromMs: systemClock.monotonicMs() + config.settleTimeMs } } : {}),
  onSettled: async (sellerId, subject) => {
    const next = await findHeadCommand(database, sellerId, subject)
    if (next !== null) commandJobs.add([next])
  },
  onSuspended: sellersChanged,
  onEarlierDue: (commandId) => commandJobs.addNow([commandId]),
  onOutcome: (kind, outcome) => metrics.commands.inc({ kind, outcome }),
})

/** Registers the handler of the jobs `command.run`; before the queues start. */
export const registerCommandWorker = (worker: CommandWorkerParts): void => {
  const parts = buildCommandParts(worker)
  const slots = createSlots({ total: commandsAtOnce })
  const inProgress = new Set<string>()
  worker.runtime.register(
    'command.run',
    async ({ data, signal, starts, log, setSeller }) => {
      // Nothing depends on this reading: everything is compared again under the command's lock.
      const command = await readOpenCommand(parts, data.commandId)
      // A command of a seller that is stopped or paused becomes due again with its seller.
      if (command === null || !command.isSellerActive) return { done: true }
      const { sellerId } = command
      setSeller(sellerId)
      const release = await slots.take(sellerId, signal)
      if (release === null) return postponeForSlot(`seller ${sellerId}`, starts)
      inProgress.add(command.id)
      try {
        const outcome = await runAsRead(parts, command, { signal, starts, log, inProgress })
        if ('done' in outcome) worker.ended('command.run')
        return outcome
      } finally {
        inProgress.delete(command.id)
        release()
      }
    },
    { concurrency: commandsAtOnce, backoff: dueJobBackoff },
  )
}
