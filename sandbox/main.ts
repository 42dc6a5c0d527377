import { DataDirectoryInUse } from './core/database.ts'
import { stdoutLog } from './core/log.ts'
import { AddressInUse, type Sandbox, startSandbox } from './server.ts'
import { InvalidSettings, readSettings } from './settings.ts'

/** EX_CONFIG of sysexits.h: the environment is wrong. */
const exitConfiguration = 78

/** Closing what is open takes no longer than this, or it is left to the end of the process; in milliseconds. */
const longestStopMs = 10_000

const main = async (): Promise<void> => {
  // The channel closes when the parent ends for any reason: a killed daemon must not leave an orphan. Listened for before anything else,
  // since the parent may die while we start; nothing must be removed before the start.
  const hasParent = process.channel !== undefined
  const endAtOnce = (): void => process.exit()
  process.once('disconnect', endAtOnce)
  const sandbox = await start()
  if (sandbox === null) return
  let stopping = false
  const stop = (reason: string): void => {
    if (stopping) return
    stopping = true
    stdoutLog('info', 'stopping', { reason })
    // A second signal changes nothing: one Ctrl-C arrives twice under `npm`. Nobody waits for one whose parent is gone.
    setTimeout(() => process.exit(1), longestStopMs).unref()
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => {
        stdoutLog('error', 'stopping failed', { err: error instanceof Error ? error.stack : String(error) })
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  // Ctrl-C reaches the whole process group. A parent that drains first still needs its marketplace, and ends it when it is done.
  process.on('SIGINT', (signal) => {
    if (!hasParent) stop(signal)
  })
  // A parent that is gone reads no more lines; that must not cut the orderly end short.
  process.stdout.on('error', () => stop('nobody reads the output'))
  process.off('disconnect', endAtOnce)
  process.on('disconnect', () => stop('the parent process is gone'))
  if (hasParent && !process.connected) stop('the parent process is gone')
  stdoutLog('info', 'listening', { url: sandbox.url })
  if (!process.connected) return
  process.send?.({ type: 'listening', port: sandbox.port, url: sandbox.url }, undefined, undefined, (error) => {
    if (error !== null) stop('the parent process is gone')
  })
}

const start = async (): Promise<Sandbox | null> => {
  try {
    return await startSandbox(readSettings(process.env))
  } catch (error) {
    if (error instanceof InvalidSettings) {
      for (const fault of error.faults) process.stderr.write(`${fault}\n`)
      process.exitCode = exitConfiguration
    } else {
      const expected = error instanceof DataDirectoryInUse || error instanceof AddressInUse
      const message = error instanceof Error ? error.message : String(error)
      stdoutLog('error', message, expected || !(error instanceof Error) ? {} : { err: error.stack })
      process.exitCode = 1
    }
    // Nothing must keep a program alive that never started; an open channel to the parent would.
    if (process.connected) process.disconnect()
    return null
  }
}

await main()
