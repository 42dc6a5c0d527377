import { runtimeContract } from './runtime.contract.ts'
import { postgresStore } from './store.ts'

runtimeContract('Postgres', postgresStore)
