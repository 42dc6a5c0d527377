import type { CommandJob, CommandParts } from '../../src/jobs/commands/engine/engine.ts'
import { readOpenCommand, runAsRead } from '../../src/jobs/commands/engine/run.ts'
import type { JobOutcome } from '../../src/queues/jobs.ts'

/** Executes the next step of a command, as the daemon does for a job. */
export const runCommand = async (parts: CommandParts, commandId: string, job: CommandJob): Promise<JobOutcome> => {
  const command = await readOpenCommand(parts, commandId)
  return command === null ? { done: true } : runAsRead(parts, command, job)
}
