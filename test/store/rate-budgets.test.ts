import { createPostgresBudgetStore } from '../../src/store/rate-budgets.ts'
import { budgetStoreContract } from '../budget-store.contract.ts'
import { withDatabase } from '../support/database.ts'

const opened = withDatabase()
budgetStoreContract('Postgres', () => createPostgresBudgetStore(opened.database))
