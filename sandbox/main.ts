import { DataDirectoryInUse } from './core/database.ts'
import { stdoutLog } from './core/log.ts'
import { type Sandbox, startSandbox } from './server.ts'
import { InvalidSettings, readSettings } from './settings.ts'

/** EX_CONFIG of sysexits.h: the environment is wrong. */
const EXIT_CONFIGURATION = 78

async function main(): Promise<void> {
  const sandbox = await start()
  if (sandbox === null) return
  let stopping = false
  const stop = (reason: string): void => {
    if (stopping) return
    stopping = true
    stdoutLog('info', 'stopping', { reason })
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => {
        stdoutLog('error', 'stopping failed', { err: error instanceof Error ? error.stack : String(error) })
        process.exit(1)
      },
    )
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1)
    stop(signal)
  }
  process.on('SIGTERM', onSignal)
  // Ctrl-C reaches the whole process group. A parent that drains first still needs its marketplace, and ends it when it is done.
  process.on('SIGINT', (signal) => {
    if (process.channel === undefined) onSignal(signal)
  })
  // A parent that is gone reads no more lines; that must not cut the orderly end short.
  process.stdout.on('error', () => stop('nobody reads the output'))
  // The channel closes when the parent dies in whatever way: a killed daemon must leave no orphan behind.
  if (process.channel !== undefined) process.on('disconnect', () => stop('the parent process is gone'))
  stdoutLog('info', 'listening', { url: sandbox.url })
  process.send?.({ type: 'listening', port: sandbox.port, url: sandbox.url })
}

async function start(): Promise<Sandbox | null> {
  try {
    return await startSandbox(readSettings(process.env))
  } catch (error) {
    if (error instanceof InvalidSettings) {
      for (const fault of error.faults) process.stderr.write(`${fault}\n`)
      process.exitCode = EXIT_CONFIGURATION
    } else {
      const expected = error instanceof DataDirectoryInUse
      const message = error instanceof Error ? error.message : String(error)
      stdoutLog('error', message, expected || !(error instanceof Error) ? {} : { err: error.stack })
      process.exitCode = 1
    }
    // Nothing must keep a program alive that never started; an open channel to the parent would.
    if (process.channel !== undefined) process.disconnect()
    return null
  }
}

await main()
