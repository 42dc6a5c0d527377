import { listenForStop } from './stop-signals.ts'

// Before anything else is loaded: a signal that comes meanwhile must find somebody who listens.
const stopping = listenForStop()

const { configExitCode, InvalidConfig, readConfig } = await import('./config.ts')
const { startDaemon } = await import('./daemon.ts')
const { harmless } = await import('./observability/harmless.ts')
const { createLogger, describeError } = await import('./observability/log.ts')

const read = () => {
  try {
    return readConfig(process.env, process.stdout.isTTY === true)
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    for (const fault of error.faults) console.error(`tallyman: ${harmless(fault)}`)
    return process.exit(configExitCode)
  }
}

const config = read()
const log = createLogger(config.log)
for (const name of config.unknownSettings) log.warn({ setting: name }, `${name} is no setting, and does nothing`)

stopping.begun({
  first: (signal) => log.info({ signal }, 'stopping: finishing what is under way'),
  second: (signal) => log.warn({ signal }, 'second signal: ending at once'),
})

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
