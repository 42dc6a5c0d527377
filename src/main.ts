import { configExitCode, InvalidConfig, readConfig } from './config.ts'
import { startDaemon } from './daemon.ts'
import { createLogger, describeError } from './observability/log.ts'

const read = () => {
  try {
    return readConfig(process.env, process.stdout.isTTY === true)
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    for (const fault of error.faults) console.error(`tallyman: ${fault}`)
    return process.exit(configExitCode)
  }
}

const config = read()
const log = createLogger(config.log)
const stopping = new AbortController()
for (const name of config.unknownSettings) log.warn({ setting: name }, `${name} is no setting, and does nothing`)

// The first signal drains, the second one ends at once. Postgres and the sandbox are process groups of their own and are stopped last.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) {
      log.warn({ signal }, 'second signal: ending at once')
      process.exit(1)
    }
    log.info({ signal }, 'stopping: finishing what is under way')
    stopping.abort()
  })
}

// What nobody handled has left the program in a state that nobody knows: start afresh.
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal({ err: error }, `${event}: ${describeError(error).message}; ending`)
    process.exit(1)
  })
}

try {
  await startDaemon(config, log, stopping.signal)
  process.exit(0)
} catch (error) {
  log.fatal({ err: error }, describeError(error).message)
  process.exit(1)
}
