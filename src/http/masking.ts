import type { Change } from '../domain/changes/change.ts'
import { masked } from '../domain/values/masking.ts'
import type { CommandDetail } from '../store/commands/command-queries.ts'
import type { Caller } from './auth/caller.ts'

/** A command as the caller may read it: sessions get it without the buyer's data. */
export const maskCommand = ({ session }: Pick<Caller, 'session'>, command: CommandDetail): CommandDetail =>
  session
    ? {
        ...command,
        payload: masked(command.payload),
        evidence: masked(command.evidence),
        attempts: command.attempts.map((attempt) => ({
          ...attempt,
          request: masked(attempt.request),
          failure: masked(attempt.failure),
          readBacks: masked(attempt.readBacks),
        })),
        decisions: command.decisions.map((decision) => ({ ...decision, evidence: masked(decision.evidence) })),
      }
    : command

/** A change as the caller may read it: sessions get it without the buyer's data. */
export const maskChange = <Shown extends Pick<Change, 'data'>>({ session }: Pick<Caller, 'session'>, change: Shown): Shown =>
  session ? { ...change, data: masked(change.data) } : change
