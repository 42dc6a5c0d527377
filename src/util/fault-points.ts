/** Points at which tests kill the process: the most critical ones of commands, events and syncs. */
export type FaultPoint =
  | 'command.before-intent'
  | 'command.after-intent'
  | 'command.after-send'
  | 'command.before-settle'
  | 'command.after-settle'
  | 'event.before-commit'
  | 'event.after-commit'
  | 'sync.before-save'
  | 'sync.after-save'

const [armed, passes = '0'] = process.env['NODE_ENV'] === 'test' ? (process.env['TALLYMAN_DIE_AT'] ?? '').split('#') : []
let passesLeft = Number(passes)

/**
 * Ends the process as SIGKILL would, if the tests have armed this point (`TALLYMAN_DIE_AT=command.after-intent#3`: at the
 * fourth pass). Does nothing outside of tests.
 */
export const faultPoint = (point: FaultPoint): void => {
  if (armed !== point) return
  if (passesLeft > 0) passesLeft -= 1
  else process.kill(process.pid, 'SIGKILL')
}
