import { Failed } from '../api-client/errors.ts'
import { duration } from './output/terminal.ts'

/** Exit codes of the command line. */
export const exitCodes = { done: 0, failed: 1, misused: 2 } as const

/** The error of requested work that no process has done for `idleMs`. `progressHint` says where its progress is shown. */
export const buildNoWorkerError = (work: string, idleMs: number, progressHint: string): Failed =>
  new Failed(`no process has worked on ${work} for ${duration(idleMs)}`, [
    'check that a daemon with the role `worker` runs and is ready',
    `the request is stored and is done as soon as one runs; ${progressHint}`,
  ])
